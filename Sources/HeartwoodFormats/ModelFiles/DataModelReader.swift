import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Reads the tree of a `contents` file.
struct DataModelReader {
  private let file: String
  private var source: DataModelSource
  /// The composites by name.
  private(set) var composites: [String: DataModelElement] = [:]

  init(_ url: URL, _ root: XMLElement) {
    self.file = url.path
    self.source = DataModelSource(url: url, root: root)
  }

  /// Reads the elements.
  static func read(_ url: URL, _ root: XMLElement) throws(ModelFileError) -> DataModelSource {
    var reader = DataModelReader(url, root)
    return try reader.read(root)
  }

  private mutating func read(_ root: XMLElement) throws(ModelFileError) -> DataModelSource {
    let model = DataModelElement(xml: root, file: file)
    guard root.name == "model" else {
      throw model.error("The outermost element is “\(root.name)”, not “model”. This is no model file.")
    }
    source.versionIdentifiers = model.filledText("userDefinedModelVersionIdentifier").map { [$0] } ?? []
    composites = Dictionary(
      model.children("composite").map { ($0.text("name") ?? "", $0) },
      uniquingKeysWith: { first, _ in first }
    )
    for child in model.children {
      switch child.xml.name {
      case "entity": try readEntity(child)
      case "configuration": try readConfiguration(child)
      case "fetchRequest":
        if let template = try fetchRequest(child) {
          source.fetchRequestTemplates.append(template)
          source.fetchRequestLines.append(child.line)
        }
      case "elements", "composite": break
      default: noteUnread(child)
      }
    }
    noteOneSidedInverses()
    source.notes.sort { ($0.line ?? 0) < ($1.line ?? 0) }
    return source
  }

  /// Such models are in use, and the version hash needs the name; the graph goes without the inverse.
  private mutating func noteOneSidedInverses() {
    for place in source.entities.markOneSidedInverses() {
      let name = source.entities[place.entity].name + "." + source.entities[place.entity].properties[place.index].name
      let line = source.entityLines[place.entity].properties[place.index]
      let message = "The inverse of “\(name)” has another inverse, so that the relationship is taken as one without."
      source.notes.append(DataModelFile.Note(line: line, message: message))
    }
  }

  /// Notes that the model has nothing of `element`.
  mutating func noteUnread(_ element: DataModelElement) {
    let name = element.text("name").map { " “\($0)”" } ?? ""
    note("The element “\(element.xml.name)”\(name) is not represented in the model.", element)
  }

  mutating func note(_ message: String, _ element: DataModelElement) {
    source.notes.append(DataModelFile.Note(line: element.line, message: message))
  }

  /// Notes the attributes that are not in `known`.
  mutating func noteUnknownAttributes(of element: DataModelElement, _ known: Set<String>) {
    for name in element.xml.attributes.names.sorted() where !known.contains(name) {
      let owner = element.text("name") ?? element.xml.name
      note("“\(name)” of “\(owner)” is not represented in the model.", element)
    }
  }
}

extension DataModelReader {
  /// What is read, and what speaks only of generated code and of the editor.
  private static let entityAttributes: Set<String> = [
    "name", "representedClassName", "isAbstract", "parentEntity", "elementID", "versionHashModifier",
    "syncable", "codeGenerationType",
  ]

  private mutating func readEntity(_ element: DataModelElement) throws(ModelFileError) {
    noteUnknownAttributes(of: element, Self.entityAttributes)
    var entity = EntityDefinition(
      name: try element.requiredText("name"),
      managedObjectClassName: element.filledText("representedClassName"),
      isAbstract: try element.flag("isAbstract"),
      superentityName: element.filledText("parentEntity"),
      renamingIdentifier: element.filledText("elementID"),
      versionHashModifier: element.filledText("versionHashModifier")
    )
    var lines = DataModelSource.EntityLines(entity: element.line)
    for child in element.children { try readPart(child, of: &entity, &lines) }
    source.entities.append(entity)
    source.entityLines.append(lines)
  }

  private mutating func readPart(
    _ element: DataModelElement,
    of entity: inout EntityDefinition,
    _ lines: inout DataModelSource.EntityLines
  ) throws(ModelFileError) {
    switch element.xml.name {
    case "attribute":
      try readAttributes(element, of: &entity, &lines)
    case "relationship":
      entity.properties.append(.relationship(try readRelationship(element)))
      lines.properties.append(element.line)
    case "uniquenessConstraints":
      for constraint in element.children("uniquenessConstraint") {
        entity.uniquenessConstraints.append(try attributeNames(in: constraint))
        lines.uniquenessConstraints.append(constraint.line)
      }
    case "userInfo":
      try readUserInfo(element, into: &entity.userInfo)
    case "fetchedProperty":
      guard let property = try fetchedProperty(element) else { break }
      entity.fetchedProperties.append(property)
      lines.fetchedProperties.append(element.line)
    case "fetchIndex":
      if let index = try fetchIndex(element) { add(index, at: element, to: &entity, &lines) }
    case "compoundIndexes":
      for index in compoundIndexes(element) { add(index, at: element, to: &entity, &lines) }
    default:
      noteUnread(element)
    }
  }

  /// Reads an attribute, or the parts of one that is made of others.
  private mutating func readAttributes(
    _ element: DataModelElement,
    of entity: inout EntityDefinition,
    _ lines: inout DataModelSource.EntityLines
  ) throws(ModelFileError) {
    guard element.text("attributeType") == "Composite" else {
      let attribute = try readAttribute(element)
      entity.properties.append(.attribute(attribute))
      lines.properties.append(element.line)
      if try element.flag("indexed") { add(Self.index(over: [attribute.name]), at: element, to: &entity, &lines) }
      return
    }
    let (composite, attributes) = try readComposite(element)
    entity.compositeAttributes.append(composite)
    entity.properties += attributes.map(PropertyDescription.attribute)
    lines.properties += attributes.map { _ in element.line }
  }

  /// Adds an index, unless the file has said the same in another way before.
  private func add(
    _ index: FetchIndexDescription,
    at element: DataModelElement,
    to entity: inout EntityDefinition,
    _ lines: inout DataModelSource.EntityLines
  ) {
    let isKnown = entity.fetchIndexes.contains {
      $0.elements == index.elements && $0.partialIndexPredicate == index.partialIndexPredicate
    }
    if isKnown && element.xml.name != "fetchIndex" { return }
    entity.fetchIndexes.append(index)
    lines.fetchIndexes.append(element.line)
  }

  private func attributeNames(in constraint: DataModelElement) throws(ModelFileError) -> [String] {
    var names: [String] = []
    for element in constraint.children("constraint") { names.append(try element.requiredText("value")) }
    return names
  }

  func readUserInfo(_ element: DataModelElement, into userInfo: inout [String: String]) throws(ModelFileError) {
    for entry in element.children("entry") {
      guard let key = entry.text("key") else { throw entry.error("The entry of the user info has no “key”. Add it.") }
      guard userInfo.updateValue(entry.text("value") ?? "", forKey: key) == nil else {
        throw entry.error("The user info has the key “\(key)” twice. Take one of the entries away.")
      }
    }
  }

  private mutating func readConfiguration(_ element: DataModelElement) throws(ModelFileError) {
    noteUnknownAttributes(of: element, ["name"])
    let name = try element.requiredText("name")
    guard source.configurations[name] == nil else {
      throw element.error("Another configuration is called “\(name)”. Rename one of them.")
    }
    var members: [String] = []
    for member in element.children("memberEntity") { members.append(try member.requiredText("name")) }
    source.configurations[name] = members
    source.configurationLines[name] = element.line
  }
}

extension DataModelElement {
  fileprivate var children: [DataModelElement] {
    xml.children.map { DataModelElement(xml: $0, file: file) }
  }
}
