@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodFoundation
import HeartwoodModel

extension DataModelReader {
  /// The XML attributes that are read, or that concern only generated code and Sync Services.
  private static let attributeAttributes: Set<String> = [
    "name", "attributeType", "optional", "transient", "defaultValueString", "defaultDateTimeInterval",
    "allowsExternalBinaryDataStorage", "preserveAfterDeletion", "valueTransformerName", "customClassName", "elementID",
    "versionHashModifier", "syncable", "usesScalarValueType", "derived",
    "derivationExpression", "indexed",
  ]

  /// The XML attributes that are read, and the entity of the inverse, which follows from the destination.
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

  /// Returns the type of an attribute; `undefined` if none is given. A transient attribute may have any type, because
  /// no store keeps its values.
  private mutating func attributeType(of element: DataModelElement) throws(ModelFileError) -> AttributeType {
    guard let name = element.filledText("attributeType") else { return .undefined }
    if let type = AttributeType(dataModelName: name) { return type }
    if try element.flag("transient") {
      note(
        "The type “\(name)” of “\(element.text("name") ?? "")” is not known. It is transient, and treated as an attribute without a type.",
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
        "The expression of the derived attribute “\(name)” cannot be read, so its values stay as they are. \(error)",
        element
      )
      return nil
    }
  }

  mutating func readRelationship(_ element: DataModelElement) throws(ModelFileError) -> RelationshipDescription {
    noteUnknownAttributes(of: element, Self.relationshipAttributes)
    let (isMarked, maxCount) = (try element.flag("toMany"), try element.number("maxCount"))
    // As in Core Data, the count decides: a to-many relationship with at most one object is a to-one relationship.
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
      // Some tools, and older versions of Xcode, write -1 for any number.
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
    for child in element.children {
      if child.xml.name == "userInfo" { readUserInfo(child, into: &userInfo) } else { noteUnread(child) }
    }
    return userInfo
  }
}

// MARK: Composites

extension DataModelReader {
  private static let compositeAttributes: Set<String> = [
    "name", "attributeType", "composite", "optional", "transient", "syncable", "elementID", "versionHashModifier",
    "usesScalarValueType",
  ]
  /// The maximum number of parts of a composite attribute, including parts of parts, and the maximum depth of nesting.
  private static let mostParts = 1_000
  private static let deepestNesting = 8

  /// A composite attribute while it is read.
  private struct Composite {
    let attribute: DataModelElement
    let name: String
    /// The number of parts so far, including those that are composite themselves.
    var partCount = 0
    var elements: [CompositeAttributeDescription.Element] = []
    var attributes: [AttributeDescription] = []
  }

  /// Reads a composite attribute. Its parts become attributes of the entity.
  mutating func readComposite(
    _ element: DataModelElement
  ) throws(ModelFileError) -> (composite: CompositeAttributeDescription, attributes: [AttributeDescription]) {
    noteUnknown(in: element, attributes: Self.compositeAttributes, parts: ["userInfo"])
    var composite = Composite(attribute: element, name: try element.requiredText("name"))
    let typeName = try element.requiredText("composite")
    try readParts(of: typeName, path: [], into: &composite)
    var userInfo: [String: String] = [:]
    for info in element.children("userInfo") { readUserInfo(info, into: &userInfo) }
    let description = CompositeAttributeDescription(
      name: composite.name,
      compositeName: typeName,
      elements: composite.elements,
      userInfo: userInfo
    )
    return (description, composite.attributes)
  }

  private mutating func readParts(
    of typeName: String,
    path: [String],
    into composite: inout Composite
  ) throws(ModelFileError) {
    guard let type = composites[typeName] else {
      throw composite.attribute.error("The composite “\(typeName)” does not exist. Add it, or correct the name.")
    }
    guard path.count < Self.deepestNesting else {
      throw type.error("The composite “\(typeName)” has too many parts, or is a part of itself. Remove some.")
    }
    for part in type.children("attribute") {
      composite.partCount += 1
      guard composite.partCount <= Self.mostParts else {
        throw composite.attribute.error("The attribute has more than \(Self.mostParts) parts. Remove some.")
      }
      let partPath = path + [try part.requiredText("name")]
      if part.text("attributeType") == "Composite" {
        try readParts(of: try part.requiredText("composite"), path: partPath, into: &composite)
      } else {
        try readPart(part, path: partPath, into: &composite)
      }
    }
  }

  private mutating func readPart(
    _ part: DataModelElement,
    path: [String],
    into composite: inout Composite
  ) throws(ModelFileError) {
    var attribute = try readAttribute(part)
    attribute.name = ([composite.name] + path).joined(separator: "_")
    if try composite.attribute.flag("optional") { attribute.isOptional = true }
    if try composite.attribute.flag("transient") { attribute.isTransient = true }
    if let oldName = composite.attribute.filledText("elementID") {
      attribute.renamingIdentifier =
        ([oldName] + path.dropLast()).joined(separator: "_")
        + "_" + (attribute.renamingIdentifier ?? path.last ?? "")
    } else if let oldName = attribute.renamingIdentifier {
      attribute.renamingIdentifier = ([composite.name] + path.dropLast() + [oldName]).joined(separator: "_")
    }
    attribute.versionHashModifier =
      attribute.versionHashModifier ?? composite.attribute.filledText("versionHashModifier")
    composite.elements.append(.init(name: path.joined(separator: "."), attributeName: attribute.name))
    composite.attributes.append(attribute)
  }
}

// MARK: Defaults

extension DataModelReader {
  private static let yes: Set<String> = ["yes", "true", "y", "t"]
  private static let no: Set<String> = ["no", "false", "n", "f"]

  /// Returns the default value of an attribute; null if there is none. If the text is written for another type, which
  /// happens if the type of an attribute is changed, a note says how it is interpreted.
  mutating func defaultValue(of element: DataModelElement, _ type: AttributeType) -> PropertyValue {
    switch type {
    case .date: return defaultDate(of: element)
    case .string: return element.text("defaultValueString").map(PropertyValue.string) ?? .null
    case .binary, .transformable:
      if element.filledText("defaultValueString") != nil {
        note("The default value of “\(element.text("name") ?? "")”, which is not text, is not represented.", element)
      }
      return .null
    case .undefined:
      if element.filledText("defaultValueString") != nil {
        note("“\(element.text("name") ?? "")” has no type: its default value is left out.", element)
      }
      return .null
    default: return parsedDefault(of: element, type)
    }
  }

  private mutating func parsedDefault(of element: DataModelElement, _ type: AttributeType) -> PropertyValue {
    guard let text = element.filledText("defaultValueString") else { return .null }
    if let value = type == .boolean ? Self.boolean(text) : PropertyValue(text: text, type: type) { return value }
    let subject = "The default value of “\(element.text("name") ?? "")”, “\(text.prefix(100))”,"
    guard let value = Self.value(of: text, spelt: type) else {
      note("\(subject) is not a value of the type \(type.dataModelName): new objects begin without one.", element)
      return .null
    }
    let meaning = if case .boolean(let flag) = value { flag ? "YES" : "NO" } else { value.text(of: type) ?? "" }
    note("\(subject) is spelt for another type than \(type.dataModelName), and read as \(meaning).", element)
    return value
  }

  private static func boolean(_ text: String) -> PropertyValue? {
    switch text {
    case "YES", "true", "1": .boolean(true)
    case "NO", "false", "0": .boolean(false)
    default: nil
    }
  }

  /// Interprets a text that is written for another type. Numbers and booleans are converted to each other, and the
  /// fraction of an integer is dropped.
  private static func value(of text: String, spelt type: AttributeType) -> PropertyValue? {
    let word = text.filter { !$0.isWhitespace }
    let flag = yes.contains(word.lowercased()) ? true : no.contains(word.lowercased()) ? false : nil
    switch type {
    case .boolean:
      if let flag { return .boolean(flag) }
      guard case .double(let number)? = PropertyValue(text: word, type: .double), !number.isNaN else { return nil }
      return .boolean(number != 0)
    case .integer16, .integer32, .integer64, .decimal, .double, .float:
      if let flag { return PropertyValue(text: flag ? "1" : "0", type: type) }
      if let value = PropertyValue(text: word, type: type) { return value }
      guard type.integerRange != nil, case .double(let number)? = PropertyValue(text: word, type: .double) else {
        return nil
      }
      return Int64(exactly: number.rounded(.towardZero)).map(PropertyValue.integer).flatMap { $0.fits(type) ? $0 : nil }
    default: return PropertyValue(text: word, type: type)
    }
  }

  /// Returns the value of a rule. For an integer type, the text may have a decimal point if it is a whole number.
  static func number(_ text: String, _ type: AttributeType) -> PropertyValue? {
    PropertyValue(text: text, type: type) ?? wholeNumber(text, type)
  }

  /// Returns the value of an integer attribute that was written with a decimal point, which happens if the type of an
  /// attribute is changed.
  private static func wholeNumber(_ text: String, _ type: AttributeType) -> PropertyValue? {
    guard type.integerRange != nil, case .double(let number)? = PropertyValue(text: text, type: .double) else {
      return nil
    }
    return Int64(exactly: number).map(PropertyValue.integer).flatMap { $0.fits(type) ? $0 : nil }
  }

  /// Returns the default value of a date. Dates are stored as seconds since 2001, with a text for the user of the
  /// editor. If there is only the text, it is read if its format is the same in all countries, year first.
  private mutating func defaultDate(of element: DataModelElement) -> PropertyValue {
    let name = element.text("name") ?? ""
    if let text = element.filledText("defaultDateTimeInterval") {
      if let value = PropertyValue(text: text, type: .date) { return value }
      note("The default date of “\(name)” is not a number of seconds: new objects begin without one.", element)
      return .null
    }
    guard let text = element.filledText("defaultValueString") else { return .null }
    if let seconds = DateText.seconds(text) {
      note(
        "The default date of “\(name)” is given as a text for people, and read as \(DateText.iso8601(seconds) ?? text).",
        element
      )
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    }
    note(
      "The default date of “\(name)” is given only as a text for people, “\(text.prefix(100))”: new objects begin without one.",
      element
    )
    return .null
  }
}
