import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// References as text.
///
/// A UUID or a number stands for itself. A string has an apostrophe before it, unless the layout allows bare strings; then only
/// those have one that would read as something else.
struct CSVReferenceText: Sendable {
  private static let apostrophe = UInt8(ascii: "'")

  let allowsBareStrings: Bool

  /// The reference that `text` stands for, or nil where it stands for none.
  func reference(_ text: UnsafeRawBufferPointer) -> ReferenceID? {
    if allowsBareStrings { return ReferenceID(text: String(decoding: text, as: UTF8.self)) }
    if text.count == UUIDText.length, let base = text.baseAddress, let uuid = UUIDText.uuid(base) {
      return .uuid(UUID(uuid: uuid))
    }
    if text.first == Self.apostrophe { return .string(String(decoding: text.dropFirst(), as: UTF8.self)) }
    guard let number = IntegerText.integer(text), String(number).utf8.elementsEqual(text) else { return nil }
    return .integer(number)
  }

  /// Whether any text of 36 bytes that reads as a UUID is one.
  var takesEveryUUID: Bool { !allowsBareStrings }

  func text(_ reference: ReferenceID) -> String {
    guard case .string(let string) = reference, !allowsBareStrings else { return reference.text }
    return "'" + string
  }
}

/// The references of a to-many relationship in one field, with a space between them. What would be taken for more than one, and
/// the percent sign, is written as a percent sign and two hexadecimal digits.
struct CSVReferenceList: Sendable {
  private static let percent = UInt8(ascii: "%")
  private static let digits = Array("0123456789ABCDEF".utf8)
  /// The text of the string of no bytes, which otherwise has none where bare strings are allowed.
  private static let emptyString = "'"

  let references: CSVReferenceText

  /// The references, or nil where one of them cannot be read.
  func references(_ text: UnsafeRawBufferPointer) -> [ReferenceID]? {
    var result: [ReferenceID] = []
    for item in text.split(separator: CSVFormat.space) {
      guard let bytes = Self.decoded(item), UTF8Validation.firstInvalidOffset(in: bytes) == nil,
        let reference = bytes.withUnsafeBytes({ references.reference($0) })
      else { return nil }
      result.append(reference)
    }
    return result
  }

  func text(_ list: [ReferenceID]) -> String {
    list.map { reference in
      let text = references.text(reference)
      return text.isEmpty ? Self.emptyString : Self.encoded(text)
    }.joined(separator: " ")
  }

  private static func encoded(_ text: String) -> String {
    guard text.utf8.contains(where: needsEncoding) else { return text }
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if needsEncoding(byte) {
        bytes += [percent, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Control characters too, so that a list never begins or ends with white space or breaks a line.
  private static func needsEncoding(_ byte: UInt8) -> Bool {
    byte <= CSVFormat.space || byte == percent || byte == 0x7F
  }

  private static func decoded(_ item: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = item
    while let byte = rest.popFirst() {
      guard byte == percent else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
  }
}
