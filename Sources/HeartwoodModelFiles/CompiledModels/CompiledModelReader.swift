@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodModel

/// Converts a compiled model to the elements of its source file, so that the same rules apply to both.
///
/// A compiled model is a keyed archive in which entities and properties have no order. They are sorted by name here.
struct CompiledModelReader {
  /// The contents of a compiled model.
  struct Contents {
    var root: XMLElement
    /// The version identifiers. A source has only one.
    var versionIdentifiers: [String]
    /// Notes about what a source cannot represent.
    var notes: [String]
  }

  private static let modelClass = "NSManagedObjectModel"
  private static let defaultConfiguration = "PF_DEFAULT_CONFIGURATION_NAME"

  private var notes: [String] = []

  static func read(_ bytes: [UInt8]) throws(ArchiveError) -> Contents {
    let archive = try KeyedArchive(bytes)
    guard let model = archive.root, model.className == modelClass, let entities = model["NSEntities"] else {
      throw ArchiveError(message: "The archive does not contain a model.")
    }
    var reader = CompiledModelReader()
    let identifiers = (model["NSVersionIdentifiers"]?.items ?? []).compactMap(\.string).filter { !$0.isEmpty }.sorted()
    let root = XMLElement(
      "model",
      ["type": "com.apple.IDECoreDataModeler.DataModel", "userDefinedModelVersionIdentifier": identifiers.first ?? ""],
      children: entities.members.sorted { $0.key < $1.key }.map { reader.entity($0.value, name: $0.key) }
        + reader.configurations(model) + reader.fetchRequests(model)
    )
    guard !archive.isExhausted else {
      throw ArchiveError(
        message: "The objects refer to one another too many times. This is not a model that a compiler made."
      )
    }
    return Contents(root: root, versionIdentifiers: identifiers, notes: reader.notes)
  }

  mutating func note(_ message: String) {
    notes.append(message)
  }
}

// MARK: Entities

extension CompiledModelReader {
  private mutating func entity(_ entity: ArchiveNode, name: String) -> XMLElement {
    let parent = entity["NSSuperentity"]
    let inherited = inheritedNames(parent)
    let properties = (entity["NSProperties"]?.members ?? []).filter { !inherited.contains($0.key) }
    return XMLElement(
      "entity",
      [
        "name": name,
        "representedClassName": entity["NSClassNameForEntity"]?.string.flatMap { $0 == "NSManagedObject" ? nil : $0 },
        "isAbstract": flag(entity["NSIsAbstract"]),
        "parentEntity": parent?["NSEntityName"]?.string,
        "elementID": renaming(entity, name),
        "versionHashModifier": entity["NSVersionHashModifier"]?.string,
      ],
      children: properties.sorted { $0.key < $1.key }.compactMap { property($0.value, name: $0.key) }
        + uniqueness(entity) + indexes(entity, properties) + userInfo(entity)
    )
  }

  /// Returns the names of the ancestors' properties. An archive may list them again in the entities that inherit them.
  private func inheritedNames(_ parent: ArchiveNode?) -> Set<String> {
    var names: Set<String> = []
    var seen: Set<Int> = []
    var ancestor = parent
    while let current = ancestor, let number = current.number, seen.insert(number).inserted {
      names.formUnion((current["NSProperties"]?.members ?? []).map(\.key))
      ancestor = current["NSSuperentity"]
    }
    return names
  }

  private func uniqueness(_ entity: ArchiveNode) -> [XMLElement] {
    let constraints = (entity["NSUniqueTuples"]?.items ?? []).map { tuple in
      XMLElement("uniquenessConstraint", children: names(in: tuple).map { XMLElement("constraint", ["value": $0]) })
    }
    return constraints.isEmpty ? [] : [XMLElement("uniquenessConstraints", children: constraints)]
  }

  /// Returns the names in a list of strings or properties.
  private func names(in list: ArchiveNode) -> [String] {
    list.items.compactMap { $0.string ?? $0["NSPropertyName"]?.string }
  }

  private mutating func indexes(
    _ entity: ArchiveNode,
    _ properties: [(key: String, value: ArchiveNode)]
  ) -> [XMLElement] {
    let descriptions = entity["NSFetchIndexDescriptions"]?.items ?? []
    return descriptions.isEmpty ? oldIndexes(entity, properties) : fetchIndexes(descriptions)
  }

  /// Returns the indexes of models that are older than fetch indexes: marks of attributes, and lists of names.
  private func oldIndexes(
    _ entity: ArchiveNode,
    _ properties: [(key: String, value: ArchiveNode)]
  ) -> [XMLElement] {
    let single = properties.filter { $0.value["NSIsIndexed"]?.isTrue == true }.map { [$0.key] }.sorted { $0[0] < $1[0] }
    let lists = single + (entity["NSCompoundIndexes"]?.items ?? []).map(names).filter { !$0.isEmpty }
    let indexes = lists.map { names in
      XMLElement("compoundIndex", children: [XMLElement("index", ["value": names.joined(separator: ",")])])
    }
    return indexes.isEmpty ? [] : [XMLElement("compoundIndexes", children: indexes)]
  }

  private mutating func fetchIndexes(_ descriptions: [ArchiveNode]) -> [XMLElement] {
    descriptions.map { index in
      let name = index["NSIndexName"]?.string ?? ""
      let condition = index["NSPartialIndexPredicate"].flatMap { predicateText($0, of: "the index “\(name)”") }
      return XMLElement(
        "fetchIndex",
        ["name": name, "partialIndexPredicate": condition],
        children: (index["NSIndexElements"]?.items ?? []).map { indexElement($0) }
      )
    }
  }

  private mutating func indexElement(_ element: ArchiveNode) -> XMLElement {
    let rTree = 1
    let expression = element["NSExpression"].flatMap { expressionText($0, of: "an index") }
    return XMLElement(
      "fetchIndexElement",
      [
        "property": expression == nil ? element["NSPropertyName"]?.string : nil,
        "expression": expression,
        "type": element["NSFetchIndexElementType"]?.integer == rTree ? "RTree" : "Binary",
        "order": element["NSAscending"]?.isTrue ?? true ? "ascending" : "descending",
      ]
    )
  }
}

// MARK: Beside the entities

extension CompiledModelReader {
  private func configurations(_ model: ArchiveNode) -> [XMLElement] {
    (model["NSConfigurations"]?.members ?? []).filter { $0.key != Self.defaultConfiguration }.sorted { $0.key < $1.key }
      .map { name, list in
        let members = (list.items + list.members.map(\.value)).compactMap { $0.string ?? $0["NSEntityName"]?.string }
        return XMLElement(
          "configuration",
          ["name": name],
          children: members.sorted().map { XMLElement("memberEntity", ["name": $0]) }
        )
      }
  }

  private mutating func fetchRequests(_ model: ArchiveNode) -> [XMLElement] {
    (model["NSFetchRequestTemplates"]?.members ?? []).sorted { $0.key < $1.key }
      .compactMap { fetchRequest($0.value, name: $0.key, entity: nil) }
  }

  /// Returns a fetch request; nil if its predicate is not known, since a request without it would find all objects.
  mutating func fetchRequest(_ request: ArchiveNode, name: String, entity: String?) -> XMLElement? {
    let predicate = request["NSPredicate"].map(ArchivedPredicate.predicate)
    if case .some(.none) = predicate {
      note("The fetch request “\(name)” is not represented in the model: its predicate is not known.")
      return nil
    }
    if let flags = request["NSFetchRequestFlags"]?.integer, flags != CompiledModelFlag.usualFetchRequest {
      note("What the flags \(flags) of the fetch request “\(name)” say is not represented in the model.")
    }
    if !(request["NSSortDescriptors"]?.items ?? []).isEmpty {
      note("The order of the fetch request “\(name)” is not represented in the model.")
    }
    return XMLElement(
      "fetchRequest",
      [
        "name": name,
        "entity": entity ?? request["NSEntity"]?["NSEntityName"]?.string ?? request["NSEntityName"]?.string,
        "predicateString": predicate??.description,
        "fetchLimit": count(request["NSFetchLimit"]),
        "fetchBatchSize": count(request["NSBatchSize"]),
        "resultType": count(request["NSResultType"]),
      ]
    )
  }

  private func count(_ node: ArchiveNode?) -> String? {
    node?.integer.flatMap { $0 == 0 ? nil : String($0) }
  }

  func flag(_ node: ArchiveNode?) -> String? {
    node?.isTrue == true ? "YES" : nil
  }

  /// Returns the name in the previous version, if it was another one.
  func renaming(_ node: ArchiveNode, _ name: String) -> String? {
    node["NSRenamingIdentifier"]?.string.flatMap { $0 == name ? nil : $0 }
  }

  func userInfo(_ node: ArchiveNode) -> [XMLElement] {
    let entries = (node["NSUserInfo"]?.members ?? []).sorted { $0.key < $1.key }
    guard !entries.isEmpty else { return [] }
    return [
      XMLElement(
        "userInfo",
        children: entries.map { XMLElement("entry", ["key": $0.key, "value": $0.value.string ?? ""]) }
      )
    ]
  }

  mutating func predicateText(_ node: ArchiveNode, of owner: String) -> String? {
    if let predicate = ArchivedPredicate.predicate(node) { return predicate.description }
    note("The predicate of \(owner) is not represented in the model.")
    return nil
  }

  mutating func expressionText(_ node: ArchiveNode, of owner: String) -> String? {
    if let expression = ArchivedPredicate.expression(node) { return expression.description }
    note("The expression of \(owner) is not represented in the model.")
    return nil
  }
}

// MARK: Properties

extension CompiledModelReader {
  /// Returns a property; nil if models cannot represent it, which is noted.
  mutating func property(_ property: ArchiveNode, name: String) -> XMLElement? {
    switch property.className {
    case "NSRelationshipDescription": relationship(property, name)
    case "NSFetchedPropertyDescription": fetchedProperty(property, name)
    default: attribute(property, name)
    }
  }

  private mutating func attribute(_ attribute: ArchiveNode, _ name: String) -> XMLElement {
    let code = attribute["NSAttributeType"]?.integer ?? 0
    let type = AttributeType(coreDataCode: code)
    let flags = attribute["NSFlagsKey"]?.integer ?? 0
    let derivation = attribute["NSDerivationExpression"].flatMap { expressionText($0, of: "“\(name)”") }
    var element = XMLElement(
      "attribute",
      [
        "name": name,
        "optional": flag(attribute["NSIsOptional"]),
        "transient": flag(attribute["NSIsTransient"]),
        "attributeType": AttributeType.dataModelName(coreDataCode: code),
        "valueTransformerName": attribute["NSValueTransformerName"]?.string,
        "customClassName": type == .transformable || type == .undefined ? valueClass(attribute) : nil,
        "allowsExternalBinaryDataStorage": flags & CompiledModelFlag.externalStorage == 0 ? nil : "YES",
        "preserveAfterDeletion": flags & CompiledModelFlag.preservedOnDeletion == 0 ? nil : "YES",
        "derived": derivation == nil ? nil : "YES",
        "derivationExpression": derivation,
        "elementID": renaming(attribute, name),
        "versionHashModifier": attribute["NSVersionHashModifier"]?.string,
      ],
      children: userInfo(attribute)
    )
    if let type, type != .undefined { addValues(of: attribute, type, to: &element) }
    return element
  }

  /// Returns the class of the values of an attribute that is transformable or has no type, unless it is the default
  /// class.
  private func valueClass(_ attribute: ArchiveNode) -> String? {
    attribute["NSAttributeValueClassName"]?.string.flatMap { ["NSObject", "NSData"].contains($0) ? nil : $0 }
  }

  private mutating func addValues(of attribute: ArchiveNode, _ type: AttributeType, to element: inout XMLElement) {
    let name = element.attributes["name"] ?? ""
    if let value = attribute["NSDefaultValue"] {
      if let text = ArchivedValue.text(value, type) {
        element.attributes[type == .date ? "defaultDateTimeInterval" : "defaultValueString"] = text
      } else {
        note("The default value of “\(name)” is not represented in the model.")
      }
    }
    for predicate in attribute["NSValidationPredicates"]?.items ?? [] {
      let rules = ArchivedRules.attributes(of: predicate, type)
      if rules == nil { note("A validation rule of “\(name)” is not represented in the model.") }
      for rule in rules ?? [] { element.attributes[rule.name] = rule.text }
    }
  }

  private func relationship(_ relationship: ArchiveNode, _ name: String) -> XMLElement {
    let maxCount = relationship["NSMaxCount"]?.integer ?? 0
    let minCount = relationship["NSMinCount"]?.integer ?? 0
    let rules = ["No Action", "Nullify", "Cascade", "Deny"]
    let rule = relationship["NSDeleteRule"]?.integer ?? 1
    let destination =
      relationship["_NSDestinationEntityName"]?.string ?? relationship["NSDestinationEntity"]?["NSEntityName"]?.string
    let inverse =
      relationship["_NSInverseRelationshipName"]?.string
      ?? relationship["NSInverseRelationship"]?["NSPropertyName"]?.string
    return XMLElement(
      "relationship",
      [
        "name": name,
        "optional": flag(relationship["NSIsOptional"]),
        "transient": flag(relationship["NSIsTransient"]),
        "toMany": maxCount == 1 ? nil : "YES",
        "minCount": minCount == 0 ? nil : String(minCount),
        // Core Data has written any number as -1 and as the greatest integer. The version hash distinguishes both from
        // 0.
        "maxCount": maxCount == 0 ? nil : String(maxCount < 0 ? Int.max : maxCount),
        "ordered": flag(relationship["NSIsOrdered"]),
        "deletionRule": rules.indices.contains(rule) ? rules[rule] : "rule \(rule)",
        "destinationEntity": destination,
        "inverseName": inverse,
        "inverseEntity": inverse == nil ? nil : destination,
        "elementID": renaming(relationship, name),
        "versionHashModifier": relationship["NSVersionHashModifier"]?.string,
      ],
      children: userInfo(relationship)
    )
  }

  private mutating func fetchedProperty(_ property: ArchiveNode, _ name: String) -> XMLElement? {
    let entity = property["_NSFetchRequestEntityName"]?.string
    var request: XMLElement?
    if let node = property["NSFetchRequest"] {
      request = fetchRequest(node, name: "fetchedPropertyFetchRequest", entity: entity)
      if request == nil {
        note("The fetched property “\(name)” is not represented in the model.")
        return nil
      }
    }
    return XMLElement(
      "fetchedProperty",
      [
        "name": name,
        "optional": flag(property["NSIsOptional"]),
        "elementID": renaming(property, name),
        "versionHashModifier": property["NSVersionHashModifier"]?.string,
      ],
      children: [request].compactMap(\.self) + userInfo(property)
    )
  }
}
