import HeartwoodModel
import HeartwoodStore

/// The references of a to-many relationship in one field, with a space between them. What would be taken for more than one, and
/// the percent sign, is written as a percent sign and two hexadecimal digits.
struct CSVReferenceList: Sendable {
  private static let percent = UInt8(ascii: "%")
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
        bytes += [percent, HexadecimalDigit.capital(byte >> 4), HexadecimalDigit.capital(byte & 15)]
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
    HexadecimalDigit.unescaped(item, behind: percent)
  }
}
