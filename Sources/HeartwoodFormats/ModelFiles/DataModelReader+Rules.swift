import HeartwoodModel

extension AttributeType {
  /// The attributes by which model files give defaults and rules, whatever the type.
  static let dataModelValues = allCases.reduce(into: ["defaultValueString", "defaultDateTimeInterval"] as Set) {
    $0.formUnion($1.dataModelRules)
  }

  /// The attributes by which model files give rules for values of the type. Of a date, the texts are for people.
  var dataModelRules: Set<String> {
    switch self {
    case .date: ["minDateTimeInterval", "maxDateTimeInterval", "minValueString", "maxValueString"]
    case .string: ["minValueString", "maxValueString", "regularExpressionString"]
    default: hasRange ? ["minValueString", "maxValueString"] : []
    }
  }
}

extension DataModelReader {
  /// The rules that an attribute's element gives. What does not suit the type is no rule: it is left over from another type.
  mutating func rules(of element: DataModelElement, _ type: AttributeType) throws(ModelFileError) -> AttributeRules {
    switch type {
    case .string:
      return AttributeRules(
        minLength: try length("minValueString", of: element),
        maxLength: try length("maxValueString", of: element),
        pattern: element.filledText("regularExpressionString")
      )
    case .date:
      return AttributeRules(
        minValue: try boundingDate("min", of: element),
        maxValue: try boundingDate("max", of: element)
      )
    case _ where type.hasRange:
      return AttributeRules(
        minValue: try bound("minValueString", of: element, type),
        maxValue: try bound("maxValueString", of: element, type)
      )
    default:
      return AttributeRules()
    }
  }

  /// Strings have their lengths where numbers have their values.
  private func length(_ name: String, of element: DataModelElement) throws(ModelFileError) -> Int? {
    guard let text = element.filledText(name) else { return nil }
    guard case .integer(let number)? = number(text, .integer64), let length = Int(exactly: number) else {
      throw element.error("“\(name)” of a string is no length. Write a whole number.")
    }
    return length
  }

  private func bound(
    _ name: String,
    of element: DataModelElement,
    _ type: AttributeType
  ) throws(ModelFileError) -> PropertyValue {
    guard let text = element.filledText(name) else { return .null }
    guard let value = number(text, type) else {
      throw element.error("“\(name)” is no value of the type \(type.dataModelName). Correct it.")
    }
    return value
  }

  private mutating func boundingDate(
    _ end: String,
    of element: DataModelElement
  ) throws(ModelFileError) -> PropertyValue {
    let name = end + "DateTimeInterval"
    guard let text = element.filledText(name) else {
      if element.filledText(end + "ValueString") != nil {
        let owner = element.text("name") ?? ""
        note("“\(end)ValueString” of “\(owner)” gives a date only as a text for people.", element)
      }
      return .null
    }
    guard let value = PropertyValue(text: text, type: .date) else {
      throw element.error("“\(name)” is no number of seconds. Correct it.")
    }
    return value
  }
}
