import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// References as names of XML elements: `z` and a number, as Core Data writes them; `u` and a UUID; `s` and a string in which all but
/// letters, digits, hyphens and points of ASCII are underscores and two hexadecimal digits for each byte.
enum XMLReferenceText {
  private static let number = UInt8(ascii: "z")
  private static let uuid = UInt8(ascii: "u")
  private static let string = UInt8(ascii: "s")
  private static let escape = UInt8(ascii: "_")

  /// The UUID that a text stands for, or nil where it stands for another reference or none: the fast form of ``reference(_:)``.
  @inline(__always)
  static func uuid(_ text: UnsafeRawBufferPointer) -> uuid_t? {
    guard let base = text.baseAddress, text.count == UUIDText.length + 1, text[0] == uuid else { return nil }
    return UUIDText.uuid(base + 1)
  }

  /// The reference, or nil where the text stands for none.
  @inline(__always)
  static func reference(_ text: UnsafeRawBufferPointer) -> ReferenceID? {
    guard let base = text.baseAddress, text.count > 0 else { return nil }
    switch text[0] {
    case number where text.count > 1:
      return IntegerText.integer(base + 1, count: text.count &- 1).map(ReferenceID.integer)
    case uuid:
      guard text.count == UUIDText.length + 1 else { return nil }
      return UUIDText.uuid(base + 1).map { .uuid(UUID(uuid: $0)) }
    case string: return unescaped(text.dropFirst()).map(ReferenceID.string)
    default: return nil
    }
  }

  private static func unescaped(_ text: Slice<UnsafeRawBufferPointer>) -> String? {
    HexadecimalDigit.unescaped(text, behind: escape).flatMap { String(validating: $0, as: UTF8.self) }
  }

  static func append(_ reference: ReferenceID, to buffer: inout TextBuffer) {
    switch reference {
    case .integer(let value): append(value, to: &buffer)
    case .uuid(let value): append(value.uuid, to: &buffer)
    case .string(let value):
      buffer.append(string)
      for byte in value.utf8 { appendEscaped(byte, to: &buffer) }
    }
  }

  @inline(__always)
  static func append(_ value: Int64, to buffer: inout TextBuffer) {
    buffer.append(number)
    buffer.append(digitsOf: value)
  }

  @inline(__always)
  static func append(_ value: uuid_t, to buffer: inout TextBuffer) {
    buffer.append(uuid)
    buffer.append(textOf: value)
  }

  private static func appendEscaped(_ byte: UInt8, to buffer: inout TextBuffer) {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."):
      buffer.append(byte)
    default:
      buffer.append(escape)
      buffer.append(HexadecimalDigit.capital(byte >> 4))
      buffer.append(HexadecimalDigit.capital(byte & 0xF))
    }
  }
}
