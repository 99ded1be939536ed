import HeartwoodFoundation
import HeartwoodModel

/// Values of deleted records that a history keeps. A leading byte gives the type of the value, because the type of the
/// attribute may have changed since.
enum PreservedValue {
  /// The types of values, without those that differ only in width, and the byte for each.
  private static let marks: [(type: AttributeType, byte: UInt8)] = [
    (.integer64, UInt8(ascii: "i")), (.decimal, UInt8(ascii: "n")), (.double, UInt8(ascii: "d")),
    (.float, UInt8(ascii: "f")), (.string, UInt8(ascii: "s")), (.boolean, UInt8(ascii: "b")),
    (.date, UInt8(ascii: "t")), (.binary, UInt8(ascii: "x")), (.uuid, UInt8(ascii: "u")), (.uri, UInt8(ascii: "l")),
  ]

  private static let lengthOfLength = MemoryLayout<Int32>.size

  static func append(_ value: PropertyValue, to bytes: inout [UInt8]) throws(AttributeField.Refusal) {
    guard let type = type(of: value), let mark = marks.first(where: { $0.type == type }) else {
      return bytes.appendNullField()
    }
    var field: [UInt8] = []
    if type == .date {
      AttributeField.appendExact(value, to: &field)
    } else {
      try AttributeField.append(value, as: type, to: &field)
    }
    bytes.appendField([mark.byte] + field.dropFirst(lengthOfLength))
  }

  static func value(_ bytes: UnsafeRawBufferPointer?) throws(FieldFault) -> PropertyValue {
    guard let bytes else { return .null }
    guard let mark = marks.first(where: { $0.byte == bytes.first }) else {
      throw FieldFault("holds a value of a kind that is not known")
    }
    let value = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    if mark.type == .date {
      return .date(Date(timeIntervalSinceReferenceDate: try BinaryField.double(value)))
    }
    return try AttributeField.value(value, as: mark.type)
  }

  private static func type(of value: PropertyValue) -> AttributeType? {
    switch value {
    case .integer: .integer64
    case .decimal: .decimal
    case .double: .double
    case .float: .float
    case .string: .string
    case .boolean: .boolean
    case .date: .date
    case .binary: .binary
    case .uuid: .uuid
    case .uri: .uri
    case .null, .toOne, .toMany: nil
    }
  }
}
