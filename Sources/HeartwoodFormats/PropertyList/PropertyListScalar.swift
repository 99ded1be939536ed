import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// A value of a property list that contains no others, in the memory that it was read from.
enum PropertyListScalar {
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  /// Seconds since 2001.
  case date(Double)
  case text(UnsafeRawBufferPointer)
  /// Text in UTF-16, big-endian.
  case wideText(UnsafeRawBufferPointer)
  case data(UnsafeRawBufferPointer)
}

extension PropertyListScalar {
  /// The approximate number of bytes of the value in a table.
  var byteCount: Int {
    switch self {
    case .text(let bytes), .data(let bytes): bytes.count
    case .wideText(let bytes): bytes.count / 2 * 3
    case .boolean, .integer, .real, .date: 8
    }
  }

  /// The text, or nil if it is none. Data is taken for text in UTF-8: XML cannot hold every character.
  var string: String? {
    switch self {
    case .text(let bytes), .data(let bytes): String(validating: bytes, as: UTF8.self)
    case .wideText(let bytes): String(validating: Self.units(bytes), as: UTF16.self)
    default: nil
    }
  }

  /// The value, copied, or nil if the text is invalid.
  var value: MetadataValue? {
    switch self {
    case .boolean(let flag): .boolean(flag)
    case .integer(let number): .integer(number)
    case .real(let number): .double(number)
    case .date(let seconds): .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .data(let bytes): .binary(Data(bytes))
    case .text, .wideText: string.map(MetadataValue.string)
    }
  }

  private static func units(_ bytes: UnsafeRawBufferPointer) -> [UInt16] {
    (0..<(bytes.count / 2)).map { UInt16(bytes[$0 * 2]) << 8 | UInt16(bytes[$0 * 2 + 1]) }
  }

  /// The reference for the value: a number, or the text form of any reference.
  var reference: ReferenceID? {
    switch self {
    case .integer(let number): return .integer(number)
    case .text(let bytes):
      if bytes.count == UUIDText.length, let base = bytes.baseAddress, let uuid = UUIDText.uuid(base),
        !bytes.contains(where: { $0 >= UInt8(ascii: "a") })
      {
        return .uuid(UUID(uuid: uuid))
      }
      return string.map { ReferenceID(text: $0) }
    case .wideText, .data: return string.map { ReferenceID(text: $0) }
    case .boolean, .real, .date: return nil
    }
  }

  /// Appends the value to the column of an attribute; returns the fault if it does not fit.
  func append(to column: ColumnBuilder, _ type: AttributeType) -> StaticString? {
    switch (type, self) {
    case (.string, .text(let bytes)): column.append(bytes: bytes)
    case (.string, _): return appendString(to: column)
    case (.date, .date(let seconds)), (.date, .real(let seconds)): column.append(double: seconds)
    case (.integer16, .integer(let number)): return append(number, Int16.self, to: column)
    case (.integer32, .integer(let number)): return append(number, Int32.self, to: column)
    case (.integer64, .integer(let number)): column.append(integer: number)
    case (.boolean, .boolean(let flag)): column.append(boolean: flag)
    case (.double, .real(let number)): column.append(double: number)
    case (.double, .integer(let number)): column.append(double: Double(number))
    case (.float, .real(let number)): return append(float: number, to: column)
    case (.float, .integer(let number)): column.append(float: Float(number))
    case (.binary, .data(let bytes)), (.transformable, .data(let bytes)): column.append(bytes: bytes)
    default: return appendRare(to: column, type)
    }
    return nil
  }

  private func append<Integer: FixedWidthInteger>(
    _ number: Int64,
    _ type: Integer.Type,
    to column: ColumnBuilder
  ) -> StaticString? {
    guard Integer(exactly: number) != nil else { return Self.outOfRange }
    column.append(integer: number)
    return nil
  }

  /// A number that would be rounded to infinity is out of range; infinity itself is not.
  private func append(float number: Double, to column: ColumnBuilder) -> StaticString? {
    let rounded = Float(number)
    guard rounded.isFinite || !number.isFinite else { return Self.outOfRange }
    column.append(float: rounded)
    return nil
  }

  private func appendString(to column: ColumnBuilder) -> StaticString? {
    guard var string else { return Self.wrongType }
    string.withUTF8 { column.append(bytes: UnsafeRawBufferPointer($0)) }
    return nil
  }

  private static let outOfRange: StaticString = "The number is out of the range of the attribute's type."
  private static let wrongType: StaticString = "The value is of another kind than the attribute."

  private func appendRare(to column: ColumnBuilder, _ type: AttributeType) -> StaticString? {
    if type == .decimal, case .integer(let number) = self {
      column.append(decimal: Decimal(number))
      return nil
    }
    guard var string else { return Self.wrongType }
    switch type {
    case .decimal:
      guard let number = NumberText.decimal(string) else {
        return "The text must be a decimal number of at most 38 digits."
      }
      column.append(decimal: number)
    case .uuid:
      guard string.utf8.count == UUIDText.length, let uuid = UUID(uuidString: string) else {
        return "The text must be a UUID."
      }
      column.append(uuid: uuid.uuid)
    case .uri:
      guard URL(string: string) != nil else { return "The text must be a URI." }
      string.withUTF8 { column.append(bytes: UnsafeRawBufferPointer($0)) }
    default: return Self.wrongType
    }
    return nil
  }
}

// MARK: PropertyListCell

/// A property of the records of a group that are written: its key in the file, and the place of its values.
///
/// The caller keeps the group, which the view does not hold.
struct PropertyListCell<Key> {
  let key: Key
  let content: PropertyListSchema.Property.Content
  let view: ColumnView
  let column: RecordColumn

  init(_ property: PropertyListSchema.Property, of group: RowGroup, key: Key) {
    self.key = key
    content = property.content
    view = group.unsafeViews[property.ordinal]
    column = group.columns[property.ordinal]
  }
}
