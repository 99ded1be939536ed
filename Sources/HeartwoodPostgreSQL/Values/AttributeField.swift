import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Converts attribute values to fields of columns, and back.
enum AttributeField {
  /// Returns the type of the column of an attribute; nil for a type that is not kept.
  static func columnType(_ type: AttributeType) -> PostgreSQLType? {
    switch type {
    case .integer16: .smallint
    case .integer32: .integer
    case .integer64: .bigint
    case .decimal: .numeric
    case .double: .double
    case .float: .real
    case .string, .uri: .text
    case .boolean: .boolean
    case .date: .timestamptz
    case .binary, .transformable: .bytea
    case .uuid: .uuid
    case .undefined: nil
    }
  }

  /// The reason why a value cannot be kept.
  struct Refusal: Error {
    let problem: String
    let recovery: PersistenceError.Recovery
  }

  /// The maximum length of a value: PostgreSQL keeps 1 GiB in a row, and sends less than that.
  private static let greatestLength = (1 << 30) - (1 << 20)

  /// Appends the field of a value, which must be valid for the attribute.
  static func append(_ value: PropertyValue, as type: AttributeType, to bytes: inout [UInt8])
    throws(Refusal)
  {
    switch value {
    case .null, .toOne, .toMany: bytes.appendNullField()
    case .integer(let number):
      switch type {
      case .integer16: bytes.appendField(Int16(truncatingIfNeeded: number))
      case .integer32: bytes.appendField(Int32(truncatingIfNeeded: number))
      default: bytes.appendField(number)
      }
    case .boolean(let flag): bytes.appendField(flag ? 1 as UInt8 : 0)
    case .double(let number): bytes.appendField(number.bitPattern)
    case .float(let number): bytes.appendField(number.bitPattern)
    case .date(let date): bytes.appendField(Timestamp(date).microseconds)
    case .decimal(let number):
      var field: [UInt8] = []
      NumericField.append(number, to: &field)
      bytes.appendField(field)
    case .uuid(let uuid): bytes.appendField(uuid)
    case .string(let text): try append(text, to: &bytes)
    case .uri(let uri): try append(uri.absoluteString, to: &bytes)
    case .binary(let data):
      try check(data.count)
      bytes.appendField(data)
    }
  }

  /// Appends the field of the column beside a date, which contains the exact seconds since 2001.
  static func appendExact(_ value: PropertyValue, to bytes: inout [UInt8]) {
    guard case .date(let date) = value else { return bytes.appendNullField() }
    bytes.appendField(date.timeIntervalSinceReferenceDate.bitPattern)
  }

  /// Returns the parameters for the columns that together contain the value of an attribute.
  static func parameters(_ value: PropertyValue, _ place: AttributePlacement) throws(Refusal) -> [PostgreSQLParameter] {
    var field: [UInt8] = []
    try append(value, as: place.type, to: &field)
    let parameter = PostgreSQLParameter(place.columnType, content(field))
    if place.exactColumn == nil { return [parameter] }
    field = []
    appendExact(value, to: &field)
    return [parameter, PostgreSQLParameter(.double, content(field))]
  }

  /// Returns the bytes of a field without their length; nil for NULL.
  private static func content(_ field: [UInt8]) -> [UInt8]? {
    // The length of NULL is below 0, and so begins with this bit.
    if let first = field.first, first & 0x80 != 0 { return nil }
    return Array(field.dropFirst(MemoryLayout<Int32>.size))
  }

  private static func append(_ text: String, to bytes: inout [UInt8]) throws(Refusal) {
    let utf8 = text.utf8
    try check(utf8.count)
    guard !utf8.contains(0) else {
      throw Refusal(
        problem: "PostgreSQL keeps no text with the character U+0000.",
        recovery: "Remove it, or keep the text in an attribute of type binary."
      )
    }
    bytes.appendField(utf8)
  }

  private static func check(_ length: Int) throws(Refusal) {
    guard length > greatestLength else { return }
    throw Refusal(
      problem: "The value has \(length) bytes; PostgreSQL keeps \(greatestLength) at most.",
      recovery: "Keep it in a file of its own."
    )
  }
}

// MARK: Reading

extension AttributeField {
  /// Returns the value of a field.
  static func value(_ bytes: UnsafeRawBufferPointer, as type: AttributeType) throws(FieldFault)
    -> PropertyValue
  {
    switch type {
    case .integer16, .integer32, .integer64:
      let number = try BinaryField.integer(bytes)
      if let range = type.integerRange, !range.contains(number) {
        throw FieldFault("holds a number out of the range of the type \(type.rawValue)")
      }
      return .integer(number)
    case .boolean: return .boolean(try BinaryField.boolean(bytes))
    case .double: return .double(try BinaryField.double(bytes))
    case .float: return .float(try BinaryField.float(bytes))
    case .decimal: return .decimal(try NumericField.decimal(bytes))
    case .date: return .date(Timestamp(microseconds: try BinaryField.integer(bytes)).date)
    case .uuid: return .uuid(try BinaryField.uuid(bytes))
    case .string: return .string(try text(bytes))
    case .uri:
      guard let uri = URL(string: try text(bytes)) else {
        throw FieldFault("holds text that is not a URI")
      }
      return .uri(uri)
    case .binary, .transformable: return .binary(Data(bytes))
    case .undefined: return .null
    }
  }

  /// Returns the date in a pair of columns: the one in the exact column, unless another client has changed only the
  /// other column.
  static func date(
    _ bytes: UnsafeRawBufferPointer,
    exact: UnsafeRawBufferPointer?
  ) throws(FieldFault) -> PropertyValue {
    let timestamp = Timestamp(microseconds: try BinaryField.integer(bytes))
    guard let exact else { return .date(timestamp.date) }
    let date = Date(timeIntervalSinceReferenceDate: try BinaryField.double(exact))
    return .date(Timestamp(date) == timestamp ? date : timestamp.date)
  }

  private static func text(_ bytes: UnsafeRawBufferPointer) throws(FieldFault) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw FieldFault("holds text that is not UTF-8")
    }
    return text
  }
}

// MARK: Timestamp

/// A timestamp as PostgreSQL stores it: microseconds since 2000-01-01 00:00 UTC.
struct Timestamp: Sendable, Hashable {
  let microseconds: Int64

  /// The seconds from the start of 2000 to the start of 2001; 2000 was a leap year.
  private static let secondsToReferenceDate = 366.0 * 86_400
  private static let microsecondsInSecond = 1e6
  /// The timestamps from the year 4714 BC to 294276.
  private static let range: ClosedRange<Int64> =
    -211_813_488_000_000_000...9_223_371_331_199_999_999
  private static let infinity = Int64.max
  private static let negativeInfinity = Int64.min

  init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// Creates the nearest timestamp, or infinity for a date that PostgreSQL cannot represent or that is NaN. A later
  /// date never has an earlier timestamp.
  init(_ date: Date) {
    let seconds = date.timeIntervalSinceReferenceDate
    let microseconds = ((seconds + Self.secondsToReferenceDate) * Self.microsecondsInSecond)
      .rounded()
    if let number = Int64(exactly: microseconds), Self.range.contains(number) {
      self.microseconds = number
    } else {
      self.microseconds = microseconds < 0 ? Self.negativeInfinity : Self.infinity
    }
  }

  var date: Date {
    switch microseconds {
    case Self.infinity: Date(timeIntervalSinceReferenceDate: .infinity)
    case Self.negativeInfinity: Date(timeIntervalSinceReferenceDate: -.infinity)
    default:
      Date(
        timeIntervalSinceReferenceDate: (Double(microseconds) / Self.microsecondsInSecond)
          - Self.secondsToReferenceDate
      )
    }
  }
}
