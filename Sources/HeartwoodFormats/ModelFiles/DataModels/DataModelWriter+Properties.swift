import HeartwoodModel

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
  /// Whether values of the type are numbers, so that Objective-C has a scalar type for them.
  var isScalar: Bool {
    switch self {
    case .integer16, .integer32, .integer64, .double, .float, .boolean: true
    default: false
    }
  }
}
