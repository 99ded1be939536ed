import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension DataModelReader {
  private static let yes: Set<String> = ["yes", "true", "y", "t"]
  private static let no: Set<String> = ["no", "false", "n", "f"]

  /// The default value that an attribute's element gives, or null where it gives none. Where the text is spelt for another type, as it
  /// stays when an attribute's type is changed, a note says how it is read.
  mutating func defaultValue(of element: DataModelElement, _ type: AttributeType) -> PropertyValue {
    switch type {
    case .date: return defaultDate(of: element)
    case .string: return element.text("defaultValueString").map(PropertyValue.string) ?? .null
    case .binary, .transformable:
      if element.filledText("defaultValueString") != nil {
        note("The default value of “\(element.text("name") ?? "")”, which is no text, is not represented.", element)
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
      note("\(subject) is no value of the type \(type.dataModelName): new objects begin without one.", element)
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

  /// The value of `type` that a text spelt for another type stands for: numbers and booleans stand for each other, and a fraction for the
  /// integer before it.
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

  /// The value of `type` of a rule, an integer with or without a point where that is an integer type.
  static func number(_ text: String, _ type: AttributeType) -> PropertyValue? {
    PropertyValue(text: text, type: type) ?? wholeNumber(text, type)
  }

  /// The value of an integer attribute that was written with a point, as it stays when an attribute's type is changed.
  private static func wholeNumber(_ text: String, _ type: AttributeType) -> PropertyValue? {
    guard type.integerRange != nil, case .double(let number)? = PropertyValue(text: text, type: .double) else {
      return nil
    }
    return Int64(exactly: number).map(PropertyValue.integer).flatMap { $0.fits(type) ? $0 : nil }
  }

  /// Dates are kept as seconds since 2001; the text beside them is what the editor showed its user. Where there is the text alone, it is
  /// read if it is a date of all countries alike, year first.
  private mutating func defaultDate(of element: DataModelElement) -> PropertyValue {
    let name = element.text("name") ?? ""
    if let text = element.filledText("defaultDateTimeInterval") {
      if let value = PropertyValue(text: text, type: .date) { return value }
      note("The default date of “\(name)” is no number of seconds: new objects begin without one.", element)
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
