import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Reads and writes values of attributes as the text of an element.
enum XMLValueText {
  // MARK: Reading

  /// Appends the value of `text` to a column; returns the fault if the text is invalid. The text is changed by that.
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

  /// Appends the shortest text, without the point and the zero of an integer.
  private static func appendShortest<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    _ number: Number,
    to buffer: inout TextBuffer
  ) {
    let text = NumberText.text(of: number)
    buffer.append(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }

  /// The length of the first line of Base64; the second one has all the rest.
  private static let firstLine = 57

  /// Core Data breaks Base64 after the first 76 characters, and then only at the end.
  private static func appendData(_ bytes: UnsafeRawBufferPointer, to buffer: inout TextBuffer) {
    Base64Text.append(UnsafeRawBufferPointer(rebasing: bytes.prefix(firstLine)), to: &buffer)
    guard bytes.count > firstLine else { return }
    buffer.append(UInt8(ascii: "\n"))
    Base64Text.append(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(firstLine)), to: &buffer)
    buffer.append(UInt8(ascii: "\n"))
  }
}

// MARK: XMLTextEscapes

/// Strings in the form that Core Data writes into XML: characters that XML cannot hold there become `\u` and the four
/// digits of a UTF-16 unit, its low byte first; a backslash is doubled.
///
/// The form also encodes characters that an XML file cannot hold at all, and carriage returns, which a parser turns
/// into line feeds.
enum XMLTextEscapes {
  static let backslash = UInt8(ascii: "\\")

  /// For each value of a byte, 1 if it may have to be escaped.
  private static let suspects: [UInt8] = (0...255).map { (byte: UInt8) -> UInt8 in
    switch byte {
    case UInt8(ascii: "\t"), UInt8(ascii: "\n"): 0
    case 0..<0x20, UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "&"), backslash, 0xEF: 1
    default: 0
    }
  }

  // MARK: Writing

  static func append(_ text: UnsafeRawBufferPointer, to buffer: inout TextBuffer) {
    var start = 0
    suspects.withUnsafeBufferPointer { suspects in
      for index in 0..<text.count where suspects[Int(text[index])] != 0 {
        guard let (unit, length) = escape(at: index, of: text) else { continue }
        buffer.append(UnsafeRawBufferPointer(rebasing: text[start..<index]))
        appendEscape(unit, to: &buffer)
        start = index + length
      }
    }
    buffer.append(UnsafeRawBufferPointer(rebasing: text[min(start, text.count)...]))
  }

  /// Returns the UTF-16 unit that has to be escaped at a place, and the number of its bytes there; nil if the character
  /// needs no escape.
  private static func escape(at index: Int, of text: UnsafeRawBufferPointer) -> (unit: UInt16, length: Int)? {
    let byte = text[index]
    guard byte == 0xEF else { return (UInt16(byte), 1) }
    // U+FFFE and U+FFFF, which are no characters of XML.
    guard text.count - index >= 3, text[index + 1] == 0xBF, text[index + 2] >= 0xBE else { return nil }
    return (0xFF00 | UInt16(text[index + 2]) + 0x40, 3)
  }

  private static func appendEscape(_ unit: UInt16, to buffer: inout TextBuffer) {
    buffer.append(backslash)
    guard unit != UInt16(backslash) else { return buffer.append(backslash) }
    buffer.append(UInt8(ascii: "u"))
    for byte in [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)] {
      buffer.append(HexadecimalDigit.small(byte >> 4))
      buffer.append(HexadecimalDigit.small(byte & 0xF))
    }
  }

  // MARK: Reading

  /// Replaces all escapes in place, and returns how many bytes are left; nil if an escape is invalid.
  ///
  /// No escape is shorter than the character: six bytes for a unit of at most three, twelve for a pair of four.
  static func remove(_ text: UnsafeMutableRawBufferPointer) -> Int? {
    guard let base = text.baseAddress, let first = memchr(base, Int32(backslash), text.count) else { return text.count }
    var read = UnsafeRawPointer(first) - UnsafeRawPointer(base)
    var written = read
    while read < text.count {
      guard text[read] == backslash else {
        text[written] = text[read]
        read += 1
        written += 1
        continue
      }
      guard let (scalar, length) = scalar(at: read, of: UnsafeRawBufferPointer(text)) else { return nil }
      for byte in UTF8.encode(scalar).map(Array.init) ?? [] {
        text[written] = byte
        written += 1
      }
      read += length
    }
    return written
  }

  private static func scalar(at index: Int, of text: UnsafeRawBufferPointer) -> (Unicode.Scalar, length: Int)? {
    if index + 1 < text.count, text[index + 1] == backslash { return ("\\", 2) }
    guard let unit = unit(at: index, of: text) else { return nil }
    if let scalar = Unicode.Scalar(unit) { return (scalar, 6) }
    guard UTF16.isLeadSurrogate(unit), let trail = self.unit(at: index + 6, of: text), UTF16.isTrailSurrogate(trail)
    else { return nil }
    return (UTF16.decode(UTF16.EncodedScalar([unit, trail])), 12)
  }

  private static func unit(at index: Int, of text: UnsafeRawBufferPointer) -> UInt16? {
    guard text.count - index >= 6, text[index] == backslash, text[index + 1] == UInt8(ascii: "u") else { return nil }
    var digits: [UInt16] = []
    for offset in 2...5 {
      guard let digit = HexadecimalDigit.value(text[index + offset]) else { return nil }
      digits.append(UInt16(digit))
    }
    return digits[0] << 4 | digits[1] | digits[2] << 12 | digits[3] << 8
  }
}
