@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodModel

/// Makes the elements of a `contents` file for a model.
struct DataModelWriter {
  private let model: ManagedObjectModel
  /// The composite types, by name.
  private let composites: [String: XMLElement]
  /// The names of the composite types in the file, by the names of the entity and the attribute.
  private let compositeNames: [[String]: String]

  private init(model: ManagedObjectModel) {
    self.model = model
    var composites: [String: XMLElement] = [:]
    var names: [[String]: String] = [:]
    for entity in model.entities.map(\.definition) {
      for composite in entity.compositeAttributes {
        names[[entity.name, composite.name]] = CompositeWriter(composite, of: entity).add(to: &composites)
      }
    }
    self.composites = composites
    self.compositeNames = names
  }

  /// Returns the tree of a new file for `model`.
  static func root(of model: ManagedObjectModel) -> XMLElement {
    DataModelWriter(model: model).root
  }

  private var root: XMLElement {
    XMLElement(
      "model",
      [
        "type": "com.apple.IDECoreDataModeler.DataModel",
        "documentVersion": "1.0",
        "lastSavedToolsVersion": "1",
        "systemVersion": "1",
        "minimumToolsVersion": "Automatic",
        "sourceLanguage": "Swift",
        "userDefinedModelVersionIdentifier": model.versionIdentifiers.first ?? "",
      ],
      children: model.entities.map { entity($0.definition) } + fetchRequests + configurations + sortedComposites
    )
  }

  private var fetchRequests: [XMLElement] {
    model.fetchRequestTemplates.map(Self.fetchRequest)
  }

  private var sortedComposites: [XMLElement] {
    composites.sorted { $0.key < $1.key }.map(\.value)
  }

  private var configurations: [XMLElement] {
    model.configurations.sorted { $0.key < $1.key }.map { name, members in
      XMLElement(
        "configuration",
        ["name": name],
        children: members.map { XMLElement("memberEntity", ["name": $0]) }
      )
    }
  }
}

// MARK: Entities

extension DataModelWriter {
  private func entity(_ entity: EntityDefinition) -> XMLElement {
    XMLElement(
      "entity",
      [
        "name": entity.name,
        "representedClassName": entity.managedObjectClassName,
        "isAbstract": entity.isAbstract ? "YES" : nil,
        "parentEntity": entity.superentityName,
        "elementID": entity.renamingIdentifier,
        "versionHashModifier": entity.versionHashModifier,
        "syncable": "YES",
      ],
      children: properties(of: entity) + entity.fetchedProperties.map(Self.fetchedProperty)
        + entity.fetchIndexes.map(Self.fetchIndex)
        + Self.uniqueness(entity) + Self.userInfo(entity.userInfo)
    )
  }

  /// Returns the attributes and relationships. A composite attribute has the position of its first part.
  private func properties(of entity: EntityDefinition) -> [XMLElement] {
    var composites: [String: CompositeAttributeDescription] = [:]
    for composite in entity.compositeAttributes {
      for element in composite.elements { composites[element.attributeName] = composite }
    }
    var written: Set<String> = []
    return entity.properties.compactMap { property in
      guard let composite = composites[property.name] else { return Self.property(property) }
      guard written.insert(composite.name).inserted else { return nil }
      let name = compositeNames[[entity.name, composite.name]] ?? composite.compositeName
      return CompositeWriter(composite, of: entity).attribute(compositeName: name)
    }
  }

  private static func property(_ property: PropertyDescription) -> XMLElement {
    switch property {
    case .attribute(let attribute): Self.attribute(attribute)
    case .relationship(let relationship): Self.relationship(relationship)
    }
  }

  static func uniqueness(_ entity: EntityDefinition) -> [XMLElement] {
    guard !entity.uniquenessConstraints.isEmpty else { return [] }
    let constraints = entity.uniquenessConstraints.map { names in
      XMLElement("uniquenessConstraint", children: names.map { XMLElement("constraint", ["value": $0]) })
    }
    return [XMLElement("uniquenessConstraints", children: constraints)]
  }

  static func userInfo(_ userInfo: [String: String]) -> [XMLElement] {
    guard !userInfo.isEmpty else { return [] }
    let entries = userInfo.sorted { $0.key < $1.key }.map { XMLElement("entry", ["key": $0.key, "value": $0.value]) }
    return [XMLElement("userInfo", children: entries)]
  }

  static func fetchedProperty(_ property: FetchedPropertyDescription) -> XMLElement {
    XMLElement(
      "fetchedProperty",
      [
        "name": property.name,
        "optional": property.isOptional ? "YES" : nil,
        "elementID": property.renamingIdentifier,
        "versionHashModifier": property.versionHashModifier,
      ],
      children: [fetchRequest(property.fetchRequest)] + userInfo(property.userInfo)
    )
  }

  static func fetchRequest(_ request: FetchRequestTemplate) -> XMLElement {
    XMLElement(
      "fetchRequest",
      [
        "name": request.name,
        "entity": request.entityName,
        "predicateString": request.predicate?.description,
        "resultType": request.resultType == .objects ? nil : "\(request.resultType.dataModelNumber)",
        "fetchLimit": request.fetchLimit == 0 ? nil : "\(request.fetchLimit)",
        "fetchBatchSize": request.fetchBatchSize == 0 ? nil : "\(request.fetchBatchSize)",
        "includeSubentities": request.includesSubentities ? nil : "NO",
        "includePropertyValues": request.includesPropertyValues ? nil : "NO",
        "includesPendingChanges": request.includesPendingChanges ? nil : "NO",
        "returnObjectsAsFaults": request.returnsObjectsAsFaults ? nil : "NO",
        "returnDistinctResults": request.returnsDistinctResults ? "YES" : nil,
      ]
    )
  }

  static func fetchIndex(_ index: FetchIndexDescription) -> XMLElement {
    let elements = index.elements.map { element in
      let expression: String? =
        if case .expression(let expression) = element.subject { expression.description } else { nil }
      return XMLElement(
        "fetchIndexElement",
        [
          "property": element.propertyName,
          "expression": expression,
          "type": element.collationType == .rTree ? "RTree" : "Binary",
          "order": element.isAscending ? "ascending" : "descending",
        ]
      )
    }
    return XMLElement(
      "fetchIndex",
      ["name": index.name, "partialIndexPredicate": index.partialIndexPredicate?.description],
      children: elements
    )
  }
}

// MARK: Properties

extension DataModelWriter {
  static func attribute(_ attribute: AttributeDescription) -> XMLElement {
    var element = XMLElement(
      "attribute",
      [
        "name": attribute.name,
        "optional": attribute.isOptional ? "YES" : nil,
        "transient": attribute.isTransient ? "YES" : nil,
        "attributeType": attribute.type == .undefined ? nil : attribute.type.dataModelName,
      ],
      children: userInfo(attribute.userInfo)
    )
    for (name, text) in rules(of: attribute) + defaultValue(of: attribute) { element.attributes[name] = text }
    let others: [(String, String?)] = [
      ("usesScalarValueType", attribute.type.isScalar && !attribute.isOptional ? "YES" : nil),
      ("valueTransformerName", attribute.valueTransformerName),
      ("customClassName", attribute.attributeValueClassName),
      ("allowsExternalBinaryDataStorage", attribute.allowsExternalBinaryDataStorage ? "YES" : nil),
      ("preserveAfterDeletion", attribute.preservesValueInHistoryOnDeletion ? "YES" : nil),
      ("derived", attribute.derivationExpression == nil ? nil : "YES"),
      ("derivationExpression", attribute.derivationExpression?.description),
      ("elementID", attribute.renamingIdentifier),
      ("versionHashModifier", attribute.versionHashModifier),
    ]
    for (name, text) in others { element.attributes[name] = text }
    return element
  }

  private static func rules(of attribute: AttributeDescription) -> [(String, String?)] {
    let rules = attribute.rules
    let bounds = [("min", rules.minValue), ("max", rules.maxValue)]
    switch attribute.type {
    case .string:
      return [
        ("minValueString", rules.minLength.map(String.init)), ("maxValueString", rules.maxLength.map(String.init)),
        ("regularExpressionString", rules.pattern),
      ]
    case .date: return bounds.map { ($0.0 + "DateTimeInterval", $0.1.text(of: .date)) }
    default: return bounds.map { ($0.0 + "ValueString", $0.1.text(of: attribute.type)) }
    }
  }

  private static func defaultValue(of attribute: AttributeDescription) -> [(String, String?)] {
    switch (attribute.type, attribute.defaultValue) {
    case (.date, let value): [("defaultDateTimeInterval", value.text(of: .date))]
    case (.boolean, .boolean(let flag)): [("defaultValueString", flag ? "YES" : "NO")]
    case (.binary, _), (.transformable, _): []
    case (let type, let value): [("defaultValueString", value.text(of: type))]
    }
  }

  static func relationship(_ relationship: RelationshipDescription) -> XMLElement {
    let rules: [DeleteRule: String] = [.nullify: "Nullify", .cascade: "Cascade", .deny: "Deny", .noAction: "No Action"]
    return XMLElement(
      "relationship",
      [
        "name": relationship.name,
        "optional": relationship.isOptional ? "YES" : nil,
        "transient": relationship.isTransient ? "YES" : nil,
        "toMany": relationship.isToMany ? "YES" : nil,
        "minCount": relationship.minCount == 0 ? nil : "\(relationship.minCount)",
        "maxCount": relationship.maxCount == 0 ? nil : "\(relationship.maxCount)",
        "ordered": relationship.isOrdered ? "YES" : nil,
        "deletionRule": rules[relationship.deleteRule],
        "destinationEntity": relationship.destinationEntityName,
        "inverseName": relationship.inverseRelationshipName,
        "inverseEntity": relationship.inverseRelationshipName == nil ? nil : relationship.destinationEntityName,
        "elementID": relationship.renamingIdentifier,
        "versionHashModifier": relationship.versionHashModifier,
      ],
      children: userInfo(relationship.userInfo)
    )
  }
}

extension AttributeType {
  /// Whether the values are numbers, so that Objective-C has a scalar type for them.
  var isScalar: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .double, .float, .boolean: true
    default: false
    }
  }
}

// MARK: CompositeWriter

/// Makes the elements of a composite attribute and of its composite type.
struct CompositeWriter {
  private struct Part {
    /// The name, with one component per level.
    let path: [String]
    let attribute: AttributeDescription
  }

  private let description: CompositeAttributeDescription
  private let parts: [Part]

  init(_ description: CompositeAttributeDescription, of entity: EntityDefinition) {
    self.description = description
    parts = description.elements.compactMap { element in
      entity.properties.lazy.compactMap(\.attribute).first { $0.name == element.attributeName }.map {
        Part(path: element.name.split(separator: ".").map(String.init), attribute: $0)
      }
    }
  }

  /// Returns the entity's attribute of the composite type `compositeName`. Settings that all parts have in common are
  /// written here, and not in the parts, because these belong to all attributes of the composite type.
  func attribute(compositeName: String) -> XMLElement {
    XMLElement(
      "attribute",
      [
        "name": description.name,
        "optional": isOptional ? "YES" : nil,
        "transient": isTransient ? "YES" : nil,
        "attributeType": "Composite",
        "composite": compositeName,
        "elementID": oldName,
        "versionHashModifier": versionHashModifier,
      ],
      children: DataModelWriter.userInfo(description.userInfo)
    )
  }

  private var isOptional: Bool { !parts.isEmpty && parts.allSatisfy(\.attribute.isOptional) }

  private var isTransient: Bool { !parts.isEmpty && parts.allSatisfy(\.attribute.isTransient) }

  /// The modifier that all parts have in common; nil if they differ.
  private var versionHashModifier: String? {
    guard let modifier = parts.first?.attribute.versionHashModifier else { return nil }
    return parts.allSatisfy { $0.attribute.versionHashModifier == modifier } ? modifier : nil
  }

  /// The former name of the composite attribute; nil if the parts do not all have the same one.
  private var oldName: String? {
    guard let first = parts.first, let identifier = first.attribute.renamingIdentifier else { return nil }
    let suffix = "_" + first.path.joined(separator: "_")
    guard identifier.hasSuffix(suffix) else { return nil }
    let name = String(identifier.dropLast(suffix.count))
    let isShared = parts.allSatisfy { part in
      part.attribute.renamingIdentifier == name + "_" + part.path.joined(separator: "_")
    }
    return isShared && name != description.name ? name : nil
  }

  /// Adds the composite type, and those of composite parts, to `composites`, by name.
  ///
  /// - Returns: the name of the composite type. It differs from the description's if a type of that name has other
  ///   parts.
  func add(to composites: inout [String: XMLElement]) -> String {
    add(description.compositeName, parts, depth: 0, to: &composites)
  }

  private func add(_ name: String, _ parts: [Part], depth: Int, to composites: inout [String: XMLElement]) -> String {
    var children: [XMLElement] = []
    var seen: Set<String> = []
    for part in parts where depth < part.path.count && seen.insert(part.path[depth]).inserted {
      if part.path.count == depth + 1 {
        children.append(element(of: part))
      } else {
        // The name of a composite type within another is not stored in the model.
        let inner = parts.filter { $0.path.count > depth + 1 && $0.path[depth] == part.path[depth] }
        let nested = add(name + "_" + part.path[depth], inner, depth: depth + 1, to: &composites)
        children.append(
          XMLElement(
            "attribute",
            ["name": part.path[depth], "attributeType": "Composite", "composite": nested]
          )
        )
      }
    }
    return Self.add(name, children, to: &composites)
  }

  /// Adds a composite type, under a name that no other composite type has.
  private static func add(
    _ name: String,
    _ children: [XMLElement],
    to composites: inout [String: XMLElement]
  ) -> String {
    var (ownName, number) = (name, 1)
    while let other = composites[ownName], other.children != children {
      number += 1
      ownName = "\(name)_\(number)"
    }
    composites[ownName] = XMLElement("composite", ["name": ownName], children: children)
    return ownName
  }

  private func element(of part: Part) -> XMLElement {
    var attribute = part.attribute
    attribute.name = part.path.last ?? ""
    let prefix = ([description.name] + part.path.dropLast()).joined(separator: "_") + "_"
    attribute.renamingIdentifier = attribute.renamingIdentifier.flatMap {
      oldName == nil && $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil
    }
    if isOptional { attribute.isOptional = false }
    if isTransient { attribute.isTransient = false }
    if versionHashModifier != nil { attribute.versionHashModifier = nil }
    return DataModelWriter.attribute(attribute)
  }
}
