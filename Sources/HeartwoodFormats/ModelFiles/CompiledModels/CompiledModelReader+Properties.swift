import HeartwoodModel

extension CompiledModelReader {
  /// A property; nil where it is one that models cannot represent, which is noted.
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

  /// The class of the values of an attribute that is transformable or has no type, unless it is the one that stands for none.
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
        // Any number has been written as -1 and as the greatest number, and the version hash tells both from 0.
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
