@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodFoundation
import HeartwoodModel

/// Reads the elements of a `contents` file. Compiled and older models are converted to such elements, so that the same
/// rules apply to all.
///
/// If something that does not affect records cannot be represented, the model is not refused; a note says what follows.
/// If something that affects how records are stored cannot be represented, that is a problem. All problems are reported
/// together.
struct DataModelReader {
  private let file: String
  private var source: DataModelSource
  private var problems: [ModelFileError.Problem] = []
  /// The composite types, by name.
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
      throw model.error("The outermost element is “\(root.name)”, not “model”. This is not a model file.")
    }
    noteUnknownAttributes(of: model, Self.modelAttributes)
    source.versionIdentifiers = model.filledText("userDefinedModelVersionIdentifier").map { [$0] } ?? []
    composites = Dictionary(
      model.children("composite").map { ($0.text("name") ?? "", $0) },
      uniquingKeysWith: { first, _ in first }
    )
    for child in model.children { gather { (reader) throws(ModelFileError) in try reader.readPart(child) } }
    if !problems.isEmpty {
      throw ModelFileError(file: file, problems: problems.sorted { ($0.line ?? 0) < ($1.line ?? 0) })
    }
    noteOneSidedInverses()
    noteUnenforcedConstraints()
    leaveOutUnknownMembers()
    source.notes.sort { ($0.line ?? 0) < ($1.line ?? 0) }
    return source
  }

  /// Calls `body`, and collects its problems to report them with the others.
  private mutating func gather(_ body: (inout DataModelReader) throws(ModelFileError) -> Void) {
    do throws(ModelFileError) {
      try body(&self)
    } catch {
      problems += error.problems
    }
  }

  private mutating func readPart(_ element: DataModelElement) throws(ModelFileError) {
    switch element.xml.name {
    case "entity": try readEntity(element)
    case "configuration": try readConfiguration(element)
    case "fetchRequest":
      if let template = try fetchRequest(element) {
        source.fetchRequestTemplates.append(template)
        source.fetchRequestLines.append(element.line)
      }
    case "composite": noteUnknown(in: element, attributes: ["name"], parts: ["attribute"])
    // It is where the editor draws the entities.
    case "elements": break
    default: noteUnread(element)
    }
  }

  /// Removes entities that do not exist from configurations. No record can be of them.
  private mutating func leaveOutUnknownMembers() {
    let names = Set(source.entities.map(\.name))
    for (configuration, members) in source.configurations {
      for name in members where !names.contains(name) {
        let message = "The configuration “\(configuration)” lists “\(name)”, which does not exist. It is left out."
        source.notes.append(DataModelFile.Note(line: source.configurationLines[configuration], message: message))
      }
      source.configurations[configuration] = members.filter(names.contains)
    }
  }

  /// Notes uniqueness constraints that no store of the framework can enforce. The version hash includes them.
  private mutating func noteUnenforcedConstraints() {
    for place in source.entities.markUnenforcedConstraints() {
      let entity = source.entities[place.entity]
      let names = entity.uniquenessConstraints[place.index].joined(separator: ", ")
      let message =
        "The uniqueness constraint “\(names)” of “\(entity.name)” names attributes that no store keeps unique, and is not enforced."
      source.notes.append(
        DataModelFile.Note(line: source.entityLines[place.entity].uniquenessConstraints[place.index], message: message)
      )
    }
  }

  /// Notes inverses that have another inverse. Such models are in use. The version hash includes the name of the
  /// inverse, and the graph ignores it.
  private mutating func noteOneSidedInverses() {
    for place in source.entities.markOneSidedInverses() {
      let name = source.entities[place.entity].name + "." + source.entities[place.entity].properties[place.index].name
      let line = source.entityLines[place.entity].properties[place.index]
      let message =
        "The inverse of “\(name)” has another inverse, so the relationship is treated as one without an inverse."
      source.notes.append(DataModelFile.Note(line: line, message: message))
    }
  }

  /// Notes that the model does not represent `element`.
  mutating func noteUnread(_ element: DataModelElement) {
    let name = element.text("name").map { " “\($0)”" } ?? ""
    note("The element “\(element.xml.name)”\(name) is not known: it is ignored and has no effect.", element)
  }

  mutating func note(_ message: String, _ element: DataModelElement) {
    source.notes.append(DataModelFile.Note(line: element.line, message: message))
  }

  /// Notes the attributes of an element that are not in `known`, and what follows from ignoring them.
  mutating func noteUnknownAttributes(of element: DataModelElement, _ known: Set<String>) {
    for name in element.xml.attributes.names.sorted() where !known.contains(name) {
      // Only YES has an effect.
      if ["NO", "false"].contains(element.text(name)), Self.consequences[name] != nil { continue }
      let owner = element.text("name") ?? element.xml.name
      let consequence = Self.consequences[name] ?? "is not known: it is ignored and has no effect."
      note("“\(name)” of “\(owner)” \(consequence)", element)
    }
  }

  /// Notes the parts of an element whose names are not in `known`.
  mutating func noteUnknownParts(of element: DataModelElement, _ known: Set<String> = []) {
    for part in element.children where !known.contains(part.xml.name) { noteUnread(part) }
  }

  /// Notes everything in an element that is not known.
  mutating func noteUnknown(in element: DataModelElement, attributes: Set<String>, parts: Set<String> = []) {
    noteUnknownAttributes(of: element, attributes)
    noteUnknownParts(of: element, parts)
  }

  /// The settings of Core Data that Heartwood has no use for, and what follows from that. None of them changes the
  /// records in a store or the version hash.
  private static let consequences = [
    "allowsCloudEncryption":
      "is ignored: nothing is mirrored to CloudKit, and the store keeps the value unencrypted, as in Core Data.",
    "coreSpotlightDisplayNameExpression":
      "is ignored: the records do not appear in Spotlight. Stores keep them like others.",
    "spotlightIndexingEnabled":
      "is ignored: Spotlight does not find records by the value. Stores keep it like others.",
    "storedInTruthFile":
      "is ignored: no external record files, in which Spotlight searches, are written. Stores keep the value like others.",
  ]

  /// The settings of a model that concern Xcode, and the version identifier.
  private static let modelAttributes: Set<String> = [
    "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion", "sourceLanguage",
    "userDefinedModelVersionIdentifier", "name", "iOSVersion", "macOSVersion", "tvOSVersion", "watchOSVersion",
    "usedWithCloudKit", "usedWithSwiftData",
  ]
}

extension DataModelReader {
  /// The XML attributes that are read, or that concern only generated code and the editor.
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
    for child in element.children {
      gather { (reader) throws(ModelFileError) in try reader.readPart(child, of: &entity, &lines) }
    }
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
      noteUnknown(in: element, attributes: [], parts: ["uniquenessConstraint"])
      for constraint in element.children("uniquenessConstraint") {
        entity.uniquenessConstraints.append(try attributeNames(in: constraint))
        lines.uniquenessConstraints.append(constraint.line)
      }
    case "userInfo":
      readUserInfo(element, into: &entity.userInfo)
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

  /// Reads an attribute, or the parts of a composite attribute.
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

  /// Adds an index, unless the file contains the same one in another form.
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

  private mutating func attributeNames(in constraint: DataModelElement) throws(ModelFileError) -> [String] {
    noteUnknown(in: constraint, attributes: [], parts: ["constraint"])
    var names: [String] = []
    for element in constraint.children("constraint") {
      noteUnknown(in: element, attributes: ["value"])
      names.append(try element.requiredText("value"))
    }
    return names
  }

  mutating func readUserInfo(_ element: DataModelElement, into userInfo: inout [String: String]) {
    noteUnknown(in: element, attributes: [], parts: ["entry"])
    for entry in element.children("entry") {
      noteUnknown(in: entry, attributes: ["key", "value"])
      guard let key = entry.text("key") else {
        note("An entry of the user info has no “key” and is left out.", entry)
        continue
      }
      guard userInfo.updateValue(entry.text("value") ?? "", forKey: key) == nil else {
        note("The user info has the key “\(key)” twice: the later entry is taken.", entry)
        continue
      }
    }
  }

  private mutating func readConfiguration(_ element: DataModelElement) throws(ModelFileError) {
    noteUnknown(in: element, attributes: ["name"], parts: ["memberEntity"])
    let name = try element.requiredText("name")
    guard source.configurations[name] == nil else {
      throw element.error("Another configuration is called “\(name)”. Rename one of them.")
    }
    var members: [String] = []
    for member in element.children("memberEntity") {
      noteUnknown(in: member, attributes: ["name"])
      let entity = try member.requiredText("name")
      if members.contains(entity) {
        note("The configuration “\(name)” lists “\(entity)” twice. It is in it once.", member)
      } else {
        members.append(entity)
      }
    }
    source.configurations[name] = members
    source.configurationLines[name] = element.line
  }
}

// MARK: DataModelElement

/// An element of a model file, with functions that read its attributes and make errors with its line.
struct DataModelElement {
  let xml: XMLElement
  let file: String

  var line: Int? { xml.line }

  var children: [DataModelElement] {
    xml.children.map { DataModelElement(xml: $0, file: file) }
  }

  func children(_ name: String) -> [DataModelElement] {
    children.filter { $0.xml.name == name }
  }

  /// Returns the text of an attribute; nil if there is none.
  func text(_ attribute: String) -> String? {
    xml.attributes[attribute]
  }

  /// Returns the text of an attribute; nil if there is none or it is empty, which means the same in most places.
  func filledText(_ attribute: String) -> String? {
    xml.attributes[attribute].flatMap { $0.isEmpty ? nil : $0 }
  }

  func requiredText(_ attribute: String) throws(ModelFileError) -> String {
    guard let text = filledText(attribute) else {
      throw error("The element “\(xml.name)” has no “\(attribute)”. Add it.")
    }
    return text
  }

  /// Returns a flag. Without the attribute, it has its usual value.
  func flag(_ attribute: String, usually usual: Bool = false) throws(ModelFileError) -> Bool {
    switch text(attribute) {
    case nil: return usual
    case "NO", "false": return false
    case "YES", "true": return true
    case .some: throw error("“\(attribute)” is neither YES nor NO. Write one of them.")
    }
  }

  func number(_ attribute: String) throws(ModelFileError) -> Int? {
    guard let text = text(attribute) else { return nil }
    guard let number = Int(text) else { throw error("“\(attribute)” is not a whole number. Write one.") }
    return number
  }

  func error(_ message: String) -> ModelFileError {
    ModelFileError(file: file, line: line, message)
  }
}

// MARK: AttributeType: data model

extension AttributeType {
  /// The name of the type in model files.
  var dataModelName: String {
    switch self {
    case .integer16: "Integer 16"
    case .integer32: "Integer 32"
    case .integer64: "Integer 64"
    case .decimal: "Decimal"
    case .double: "Double"
    case .float: "Float"
    case .string: "String"
    case .boolean: "Boolean"
    case .date: "Date"
    case .binary: "Binary"
    case .uuid: "UUID"
    case .uri: "URI"
    case .transformable: "Transformable"
    case .undefined: "Undefined"
    }
  }

  /// Creates the type with a name in model files.
  init?(dataModelName name: String) {
    guard let type = (Self.allCases + [.undefined]).first(where: { $0.dataModelName == name }) else { return nil }
    self = type
  }

  /// Returns the name of a type in model files, for its code in archives. It is nil for an attribute without a type,
  /// and a name that no type has if the code is not known.
  static func dataModelName(coreDataCode code: Int) -> String? {
    guard let type = AttributeType(coreDataCode: code) else { return "type \(code)" }
    return type == .undefined ? nil : type.dataModelName
  }

  /// Creates the type with a code in archived models.
  init?(coreDataCode code: Int) {
    guard let type = (Self.allCases + [.undefined]).first(where: { Int($0.coreDataCode) == code }) else { return nil }
    self = type
  }
}
