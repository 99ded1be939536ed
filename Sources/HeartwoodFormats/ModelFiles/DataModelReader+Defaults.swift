import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension DataModelReader {
  /// The default value that an attribute's element gives, or null where it gives none.
  mutating func defaultValue(
    of element: DataModelElement,
    _ type: AttributeType
  ) throws(ModelFileError) -> PropertyValue {
    switch type {
    case .date: return try defaultDate(of: element)
    case .string: return element.text("defaultValueString").map(PropertyValue.string) ?? .null
    case .binary, .transformable:
      if element.filledText("defaultValueString") != nil {
        note("The default value of “\(element.text("name") ?? "")”, which is no text, is not represented.", element)
      }
      return .null
    default: return try parsedDefault(of: element, type)
    }
  }

  private func parsedDefault(of element: DataModelElement, _ type: AttributeType) throws(ModelFileError)
    -> PropertyValue
  {
    guard let text = element.filledText("defaultValueString") else { return .null }
    guard let parsed = type == .boolean ? boolean(text) : number(text, type) else {
      throw element.error("The default value is no value of the type \(type.dataModelName). Correct it.")
    }
    return parsed
  }

  private func boolean(_ text: String) -> PropertyValue? {
    switch text {
    case "YES", "true", "1": .boolean(true)
    case "NO", "false", "0": .boolean(false)
    default: nil
    }
  }

  /// The value of `type`, an integer with or without a point where that is an integer type.
  func number(_ text: String, _ type: AttributeType) -> PropertyValue? {
    PropertyValue(text: text, type: type) ?? wholeNumber(text, type)
  }

  /// The value of an integer attribute that was written with a point, as it stays when an attribute's type is changed.
  private func wholeNumber(_ text: String, _ type: AttributeType) -> PropertyValue? {
    guard type.integerRange != nil, case .double(let number)? = PropertyValue(text: text, type: .double) else {
      return nil
    }
    return Int64(exactly: number).map(PropertyValue.integer).flatMap { $0.fits(type) ? $0 : nil }
  }

  /// Dates are kept as seconds since 2001; the text beside them is what the editor showed its user.
  private mutating func defaultDate(of element: DataModelElement) throws(ModelFileError) -> PropertyValue {
    guard let text = element.filledText("defaultDateTimeInterval") else {
      if element.filledText("defaultValueString") != nil {
        note("The default date of “\(element.text("name") ?? "")” is given only as a text for people.", element)
      }
      return .null
    }
    guard let value = PropertyValue(text: text, type: .date) else {
      throw element.error("“defaultDateTimeInterval” is no number of seconds. Correct it.")
    }
    return value
  }
}
