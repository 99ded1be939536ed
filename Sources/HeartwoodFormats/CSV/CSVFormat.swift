import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The bytes of which the form consists.
enum CSVFormat {
  static let identifierMark = UInt8(ascii: "#")
  static let quote = UInt8(ascii: "\"")
  static let comma = UInt8(ascii: ",")
  static let space = UInt8(ascii: " ")
  static let tab = UInt8(ascii: "\t")
  static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  /// Separators that a file may show without the layout naming them, the likeliest first.
  static let detectableSeparators = [comma, UInt8(ascii: ";"), tab]
  /// Those that a file is tried for before one that has `separator` is found to have it.
  static func separatorsTried(before separator: UInt8) -> ArraySlice<UInt8> {
    detectableSeparators.firstIndex(of: separator).map { detectableSeparators[..<$0] } ?? []
  }

  /// What values other than texts are written with, and what has a meaning of its own.
  static let reservedBytes = Set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-.:/='%# \"".utf8)
  /// The longest record that is read or written, so that places in it fit into 31 bits.
  static let maximumRecordLength = 1 << 30

  /// What makes a text begin or end with white space.
  static func isWhiteSpace(_ byte: UInt8) -> Bool {
    byte == space || (tab...carriageReturn).contains(byte)
  }
}

// MARK: CSVWord

/// Eight bytes of text at once.
enum CSVWord {
  static let length = 8
  static var highestBits: UInt64 { 0x8080_8080_8080_8080 }
  private static var ones: UInt64 { 0x0101_0101_0101_0101 }

  /// A word of eight times the same byte.
  @inline(__always)
  static func repeated(_ byte: UInt8) -> UInt64 { UInt64(byte) &* ones }

  /// The bytes of `text` from `offset` on, of which there are fewer than eight, and zeros above them. No byte behind the text is read.
  @inline(__always)
  static func last(of text: UnsafeRawBufferPointer, from offset: Int) -> UInt64 {
    let count = text.count &- offset
    if text.count >= length {
      // The last eight bytes, without those that come before `offset`. A shift by the whole width leaves nothing.
      let word = text.loadUnaligned(fromByteOffset: text.count &- length, as: UInt64.self)
      return word >> ((length &- count) &* 8)
    }
    var word: UInt64 = 0
    for place in 0..<count { word |= UInt64(text[offset &+ place]) &<< UInt64(truncatingIfNeeded: place &* 8) }
    return word
  }

  /// High bit set in each byte of `word` equal to `pattern`'s; other bits are unspecified, and bytes above the lowest match may be false
  /// positives.
  @inline(__always)
  private static func candidates(_ word: UInt64, _ pattern: UInt64) -> UInt64 {
    let difference = word ^ pattern
    return (difference &- ones) & ~difference
  }

  /// Not 0 where `word` has a quote, a line feed, a carriage return or a separator. Then the lowest bit tells the first one.
  @inline(__always)
  static func specials(_ word: UInt64, separator: UInt64) -> UInt64 {
    (candidates(word, separator) | candidates(word, repeated(CSVFormat.lineFeed))
      | candidates(word, repeated(CSVFormat.quote)) | candidates(word, repeated(CSVFormat.carriageReturn)))
      & highestBits
  }

  /// Not 0 where `word` has a quote. Then the lowest bit tells the first one.
  @inline(__always)
  static func quotes(_ word: UInt64) -> UInt64 {
    candidates(word, repeated(CSVFormat.quote)) & highestBits
  }

  /// Not 0 where `word` has a quote or a line feed. Then the lowest bit tells the first one.
  @inline(__always)
  static func quotesAndLineFeeds(_ word: UInt64) -> UInt64 {
    (candidates(word, repeated(CSVFormat.quote)) | candidates(word, repeated(CSVFormat.lineFeed))) & highestBits
  }
}

// MARK: CSVReferenceText

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

// MARK: CSVReferenceList

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
