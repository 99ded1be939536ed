import HeartwoodModel

extension DataModelReader {
  /// What is read, and what speaks only of generated code and of synchronising with devices of another age.
  private static let attributeAttributes: Set<String> = [
    "name", "attributeType", "optional", "transient", "defaultValueString", "defaultDateTimeInterval",
    "allowsExternalBinaryDataStorage", "preserveAfterDeletion", "valueTransformerName", "customClassName", "elementID",
    "versionHashModifier", "syncable", "usesScalarValueType", "derived",
    "derivationExpression", "indexed",
  ]

  /// What is read, and the entity of the inverse, which follows from the destination.
  private static let relationshipAttributes: Set<String> = [
    "name", "destinationEntity", "inverseName", "inverseEntity", "toMany", "ordered", "optional", "transient",
    "deletionRule", "minCount", "maxCount", "indexed", "elementID", "versionHashModifier", "syncable",
  ]

  mutating func readAttribute(_ element: DataModelElement) throws(ModelFileError) -> AttributeDescription {
    let name = try element.requiredText("name")
    let type = try attributeType(of: element)
    noteUnknownAttributes(of: element, Self.attributeAttributes.union(type.dataModelRules))
    return AttributeDescription(
      name: name,
      type: type,
      isOptional: try element.flag("optional"),
      isTransient: try element.flag("transient"),
      defaultValue: defaultValue(of: element, type),
      rules: rules(of: element, type),
      derivationExpression: try derivation(of: element),
      allowsExternalBinaryDataStorage: try element.flag("allowsExternalBinaryDataStorage"),
      preservesValueInHistoryOnDeletion: try element.flag("preserveAfterDeletion"),
      valueTransformerName: element.filledText("valueTransformerName"),
      attributeValueClassName: element.filledText("customClassName"),
      renamingIdentifier: element.filledText("elementID"),
      versionHashModifier: element.filledText("versionHashModifier"),
      userInfo: userInfo(of: element)
    )
  }

  /// The type that an element names; the undefined one where it names none. Of a transient attribute no store holds values, so that any
  /// name will do.
  private mutating func attributeType(of element: DataModelElement) throws(ModelFileError) -> AttributeType {
    guard let name = element.filledText("attributeType") else { return .undefined }
    if let type = AttributeType(dataModelName: name) { return type }
    if try element.flag("transient") {
      note(
        "The type “\(name)” of “\(element.text("name") ?? "")” is not known. It is transient, and taken as one without a type.",
        element
      )
      return .undefined
    }
    let names = AttributeType.allCases.map(\.dataModelName).joined(separator: ", ")
    throw element.error("The attribute type “\(name)” is not known. Write one of: \(names).")
  }

  private mutating func derivation(of element: DataModelElement) throws(ModelFileError) -> FetchExpression? {
    guard try element.flag("derived"), let format = element.filledText("derivationExpression") else { return nil }
    do throws(FetchPredicateError) {
      return try FetchExpression(format: format)
    } catch {
      let name = element.text("name") ?? ""
      note(
        "The expression of the derived attribute “\(name)” cannot be read, so that its values stay as they are. \(error)",
        element
      )
      return nil
    }
  }

  mutating func readRelationship(_ element: DataModelElement) throws(ModelFileError) -> RelationshipDescription {
    noteUnknownAttributes(of: element, Self.relationshipAttributes)
    let (isMarked, maxCount) = (try element.flag("toMany"), try element.number("maxCount"))
    // As in Core Data, the count decides: a relationship to many objects and to one at most is a to-one.
    let isToMany = maxCount.map { $0 != 1 } ?? isMarked
    return RelationshipDescription(
      name: try element.requiredText("name"),
      destinationEntityName: try element.requiredText("destinationEntity"),
      inverseRelationshipName: element.filledText("inverseName"),
      isToMany: isToMany,
      isOrdered: try element.flag("ordered"),
      isOptional: try element.flag("optional"),
      isTransient: try element.flag("transient"),
      deleteRule: try deleteRule(of: element),
      minCount: try element.number("minCount") ?? 0,
      // Some tools write -1 for “any number”, as older versions of Xcode did.
      maxCount: maxCount == -1 ? 0 : maxCount,
      renamingIdentifier: element.filledText("elementID"),
      versionHashModifier: element.filledText("versionHashModifier"),
      userInfo: userInfo(of: element)
    )
  }

  private func deleteRule(of element: DataModelElement) throws(ModelFileError) -> DeleteRule {
    switch element.text("deletionRule") {
    case nil, "Nullify": return .nullify
    case "Cascade": return .cascade
    case "Deny": return .deny
    case "No Action": return .noAction
    case .some(let name):
      throw element.error("The deletion rule “\(name)” is not known. Write Nullify, Cascade, Deny or No Action.")
    }
  }

  private mutating func userInfo(of element: DataModelElement) -> [String: String] {
    var userInfo: [String: String] = [:]
    for child in element.xml.children {
      let child = DataModelElement(xml: child, file: element.file)
      if child.xml.name == "userInfo" { readUserInfo(child, into: &userInfo) } else { noteUnread(child) }
    }
    return userInfo
  }
}
