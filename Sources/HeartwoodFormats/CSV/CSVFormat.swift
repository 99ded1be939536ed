import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The bytes that have a meaning in the format.
enum CSVFormat {
  static let identifierMark = UInt8(ascii: "#")
  static let quote = UInt8(ascii: "\"")
  static let comma = UInt8(ascii: ",")
  static let space = UInt8(ascii: " ")
  static let tab = UInt8(ascii: "\t")
  static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
  /// Separators that are detected in a file even if the layout does not contain them, the most likely first.
  static let detectableSeparators = [comma, UInt8(ascii: ";"), tab]
  /// Returns the separators that are tried before a file is found to have `separator`.
  static func separatorsTried(before separator: UInt8) -> ArraySlice<UInt8> {
    detectableSeparators.firstIndex(of: separator).map { detectableSeparators[..<$0] } ?? []
  }

  /// The bytes that occur in values other than texts, or have a meaning of their own.
  static let reservedBytes = Set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+-.:/='%# \"".utf8)
  /// The greatest length of a record that is read or written, so that places in it fit into 31 bits.
  static let maximumRecordLength = 1 << 30

  /// Returns whether a text that begins or ends with the byte begins or ends with white space.
  static func isWhiteSpace(_ byte: UInt8) -> Bool {
    byte == space || (tab...carriageReturn).contains(byte)
  }
}

// MARK: CSVWord

/// Works on eight bytes of text at once.
enum CSVWord {
  static let length = 8
  static var highestBits: UInt64 { 0x8080_8080_8080_8080 }
  private static var ones: UInt64 { 0x0101_0101_0101_0101 }

  /// Returns a word with eight times the same byte.
  @inline(__always)
  static func repeated(_ byte: UInt8) -> UInt64 { UInt64(byte) &* ones }

  /// Returns the bytes of `text` from `offset` on, of which there are fewer than eight, and zeros above them. Reads no
  /// byte after the text.
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

  /// Returns a number that is not 0 if `word` has a quote, a line feed, a carriage return or a separator. Its lowest
  /// bit then marks the first one.
  @inline(__always)
  static func specials(_ word: UInt64, separator: UInt64) -> UInt64 {
    (candidates(word, separator) | candidates(word, repeated(CSVFormat.lineFeed))
      | candidates(word, repeated(CSVFormat.quote)) | candidates(word, repeated(CSVFormat.carriageReturn)))
      & highestBits
  }

  /// Returns a number that is not 0 if `word` has a quote. Its lowest bit then marks the first one.
  @inline(__always)
  static func quotes(_ word: UInt64) -> UInt64 {
    candidates(word, repeated(CSVFormat.quote)) & highestBits
  }

  /// Returns a number that is not 0 if `word` has a quote or a line feed. Its lowest bit then marks the first one.
  @inline(__always)
  static func quotesAndLineFeeds(_ word: UInt64) -> UInt64 {
    (candidates(word, repeated(CSVFormat.quote)) | candidates(word, repeated(CSVFormat.lineFeed))) & highestBits
  }
}

// MARK: CSVReferenceText

/// Reads and writes references as text.
///
/// A UUID or a number is written as it is. A string is written after an apostrophe, unless the layout allows bare
/// strings; then only strings that could be read as another reference have one.
struct CSVReferenceText: Sendable {
  private static let apostrophe = UInt8(ascii: "'")

  let allowsBareStrings: Bool

  /// Returns the reference that `text` represents, or nil if it represents none.
  func reference(_ text: UnsafeRawBufferPointer) -> ReferenceID? {
    if allowsBareStrings { return ReferenceID(text: String(decoding: text, as: UTF8.self)) }
    if text.count == UUIDText.length, let base = text.baseAddress, let uuid = UUIDText.uuid(base) {
      return .uuid(UUID(uuid: uuid))
    }
    if text.first == Self.apostrophe { return .string(String(decoding: text.dropFirst(), as: UTF8.self)) }
    guard let number = IntegerText.integer(text), String(number).utf8.elementsEqual(text) else { return nil }
    return .integer(number)
  }

  /// Whether every text of 36 bytes that has the form of a UUID is read as one.
  var takesEveryUUID: Bool { !allowsBareStrings }

  func text(_ reference: ReferenceID) -> String {
    guard case .string(let string) = reference, !allowsBareStrings else { return reference.text }
    return "'" + string
  }
}

// MARK: CSVReferenceList

/// The references of a to-many relationship in one field, separated by spaces. Bytes that would separate a reference,
/// and the percent sign, are written as a percent sign and two hexadecimal digits.
struct CSVReferenceList: Sendable {
  private static let percent = UInt8(ascii: "%")
  /// The text of the empty string, which otherwise has none if bare strings are allowed.
  private static let emptyString = "'"

  let references: CSVReferenceText

  /// Returns the references, or nil if one of them cannot be read.
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

  /// Control characters are encoded too, so that a list never begins or ends with white space or breaks a line.
  private static func needsEncoding(_ byte: UInt8) -> Bool {
    byte <= CSVFormat.space || byte == percent || byte == 0x7F
  }

  private static func decoded(_ item: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
    HexadecimalDigit.unescaped(item, behind: percent)
  }
}
