import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Values of attributes as the text of an element.
enum XMLValueText {
  // MARK: Reading

  /// Appends the value that `text` stands for to a column; returns what is wrong, where it stands for none. The text is not what it was
  /// afterwards.
  static func append(_ text: UnsafeMutableRawBufferPointer, _ type: AttributeType, to column: ColumnBuilder) -> String?
  {
    switch type {
    case .string:
      guard let count = XMLTextEscapes.remove(text) else {
        return "The text has an escape that stands for no character."
      }
      column.append(bytes: UnsafeRawBufferPointer(rebasing: text[..<count]))
    case .integer16: return appendInteger(Int16.self, text, to: column)
    case .integer32: return appendInteger(Int32.self, text, to: column)
    case .integer64: return appendInteger(Int64.self, text, to: column)
    case .boolean:
      guard text.count == 1, let digit = text.first.map({ $0 &- UInt8(ascii: "0") }), digit <= 1 else {
        return "The text must be 0 or 1."
      }
      column.append(boolean: digit == 1)
    case .double, .date:
      guard let number = double(UnsafeRawBufferPointer(text)) else { return Self.notANumber }
      column.append(double: number)
    case .float:
      guard let number = FloatingPointText.number(UnsafeRawBufferPointer(text), Float.self) else {
        return Self.notANumber
      }
      column.append(float: number)
    default: return appendRare(text, type, to: column)
    }
    return nil
  }

  private static let notANumber =
    "The text must be a number with a point for its decimals, inf, -inf or nan, and not too large."

  static func double(_ text: UnsafeRawBufferPointer) -> Double? {
    ExactDecimalText.number(text) ?? FloatingPointText.number(text, Double.self)
  }

  private static func appendInteger<Integer: FixedWidthInteger>(
    _ type: Integer.Type,
    _ text: UnsafeMutableRawBufferPointer,
    to column: ColumnBuilder
  ) -> String? {
    guard let number = IntegerText.integer(UnsafeRawBufferPointer(text)), Integer(exactly: number) != nil else {
      return "The text must be a number from \(Integer.min) to \(Integer.max)."
    }
    column.append(integer: number)
    return nil
  }

  private static func appendRare(
    _ text: UnsafeMutableRawBufferPointer,
    _ type: AttributeType,
    to column: ColumnBuilder
  ) -> String? {
    switch type {
    case .binary, .transformable, .undefined:
      guard let count = Base64Text.decode(text) else { return "The text must be base64." }
      column.append(bytes: UnsafeRawBufferPointer(rebasing: text[..<count]))
    case .uuid:
      guard text.count == UUIDText.length, let base = text.baseAddress, let uuid = UUIDText.uuid(base) else {
        return "The text must be a UUID."
      }
      column.append(uuid: uuid)
    case .uri:
      guard let count = XMLTextEscapes.remove(text), isURI(UnsafeRawBufferPointer(rebasing: text[..<count])) else {
        return "The text must be a URI."
      }
      column.append(bytes: UnsafeRawBufferPointer(rebasing: text[..<count]))
    default:
      guard let number = NumberText.decimal(String(decoding: text, as: UTF8.self)) else {
        return "The text must be a decimal number of at most 38 digits."
      }
      column.append(decimal: number)
    }
    return nil
  }

  private static func isURI(_ text: UnsafeRawBufferPointer) -> Bool {
    URL(string: String(decoding: text, as: UTF8.self)) != nil
  }

  // MARK: Writing

  /// Appends the text of the value in `row`, which has one.
  static func append(_ type: AttributeType, _ view: ColumnView, _ row: Int, to buffer: inout TextBuffer) {
    switch type {
    case .string, .uri: XMLTextEscapes.append(view.unsafeBytes(row), to: &buffer)
    case .integer16, .integer32, .integer64: buffer.append(digitsOf: view.unsafeInteger(row))
    case .boolean: buffer.append(view.unsafeBoolean(row) ? UInt8(ascii: "1") : UInt8(ascii: "0"))
    case .date:
      let seconds = view.unsafeDouble(row)
      if !ExactDecimalText.append(seconds, to: &buffer) { appendShortest(seconds, to: &buffer) }
    case .double: appendShortest(view.unsafeDouble(row), to: &buffer)
    case .float: appendShortest(view.unsafeFloat(row), to: &buffer)
    case .decimal: buffer.append(PropertyValue.decimal(view.unsafeDecimal(row)).text(of: .decimal) ?? "")
    case .uuid: buffer.append(textOf: view.unsafeUUID(row).uuid)
    case .binary, .transformable, .undefined: appendData(view.unsafeBytes(row), to: &buffer)
    }
  }

  /// The shortest text, without the point and the zero behind an integer.
  private static func appendShortest<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    _ number: Number,
    to buffer: inout TextBuffer
  ) {
    let text = NumberText.text(of: number)
    buffer.append(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }

  /// How long the first line of base64 is; the second has all the rest.
  private static let firstLine = 57

  /// Core Data breaks base64 behind the first 76 characters, and then only at the end.
  private static func appendData(_ bytes: UnsafeRawBufferPointer, to buffer: inout TextBuffer) {
    Base64Text.append(UnsafeRawBufferPointer(rebasing: bytes.prefix(firstLine)), to: &buffer)
    guard bytes.count > firstLine else { return }
    buffer.append(UInt8(ascii: "\n"))
    Base64Text.append(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(firstLine)), to: &buffer)
    buffer.append(UInt8(ascii: "\n"))
  }
}
