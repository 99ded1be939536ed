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
