#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Values as text in one canonical form for each attribute type, from which the same value comes back.
///
/// Stores that embed their model write default values so; `Formats/Model/README.md` is the specification.
extension PropertyValue {
  /// The value as text in the canonical form of `type`, or nil where it is null or does not fit the type.
  ///
  /// The base of a relative URI is folded into it, and the bits that tell one NaN from another are not kept.
  public func text(of type: AttributeType) -> String? {
    guard type != .undefined, fits(type) else { return nil }
    switch self {
    case .null, .toOne, .toMany: return nil
    case .integer(let number): return String(number)
    case .decimal(let number): return number.isNaN ? NumberText.notANumber : number.description
    case .double(let number): return NumberText.text(of: number)
    case .float(let number): return NumberText.text(of: number)
    case .string(let string): return string
    case .boolean(let flag): return flag ? "true" : "false"
    case .date(let date): return NumberText.text(of: date.timeIntervalSinceReferenceDate)
    case .binary(let data): return data.base64EncodedString()
    case .uuid(let uuid): return uuid.uuidString
    case .uri(let url): return url.absoluteString
    }
  }

  /// The value of an attribute of `type` that `text` stands for, or nil where it stands for none.
  ///
  /// It reads what ``text(of:)`` writes, and other ways to write the same value: `+5`, `1E3`, a UUID in small letters.
  public init?(text: String, type: AttributeType) {
    guard let value = Self.value(of: text, type), value.fits(type) else { return nil }
    self = value
  }

  private static func value(of text: String, _ type: AttributeType) -> PropertyValue? {
    switch type {
    case .integer16, .integer32, .integer64: Int64(text).map(PropertyValue.integer)
    case .decimal: NumberText.decimal(text).map(PropertyValue.decimal)
    case .double: NumberText.number(text, Double.self).map(PropertyValue.double)
    case .float: NumberText.number(text, Float.self).map(PropertyValue.float)
    case .string: .string(text)
    case .boolean: text == "true" ? .boolean(true) : text == "false" ? .boolean(false) : nil
    case .date: NumberText.number(text, Double.self).map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
    case .binary, .transformable: data(text).map(PropertyValue.binary)
    case .uuid: UUID(uuidString: text).map(PropertyValue.uuid)
    case .uri: URL(string: text).map(PropertyValue.uri)
    case .undefined: nil
    }
  }

  /// The bytes that base64 text stands for. Foundation by itself lets superfluous padding pass.
  private static func data(_ text: String) -> Data? {
    text.utf8.count.isMultiple(of: 4) ? Data(base64Encoded: text) : nil
  }
}
