package import HeartwoodFoundation

/// Reads and writes UUIDs as text of 36 bytes, eight digits at a time.
package enum UUIDText {
  package static let length = 36

  /// Returns the UUID in the `length` bytes from `text` on, in capitals or small letters, or nil if they are no UUID.
  package static func uuid(_ text: UnsafeRawPointer) -> uuid_t? {
    guard hasHyphens(text) else { return nil }
    let words = (
      text.loadUnaligned(as: UInt64.self),
      UInt64(half(text, 9)) | UInt64(half(text, 14)) &<< 32,
      UInt64(half(text, 19)) | UInt64(half(text, 24)) &<< 32,
      text.loadUnaligned(fromByteOffset: 28, as: UInt64.self)
    )
    guard
      areHexadecimal(words.0) & areHexadecimal(words.1) & areHexadecimal(words.2) & areHexadecimal(words.3) == highBits
    else { return nil }
    let low = UInt64(packed(words.0)) | UInt64(packed(words.1)) &<< 32
    let high = UInt64(packed(words.2)) | UInt64(packed(words.3)) &<< 32
    return unsafeBitCast((low, high), to: uuid_t.self)
  }

  /// Writes `length` bytes to `target`, which must have room for them: digits and capitals.
  package static func write(_ uuid: uuid_t, to target: UnsafeMutableRawPointer) {
    let (low, high) = unsafeBitCast(uuid, to: (UInt64, UInt64).self)
    let words = (
      digits(UInt32(truncatingIfNeeded: low)), digits(UInt32(truncatingIfNeeded: low &>> 32)),
      digits(UInt32(truncatingIfNeeded: high)), digits(UInt32(truncatingIfNeeded: high &>> 32))
    )
    target.storeBytes(of: words.0, as: UInt64.self)
    storeHalves(of: words.1, to: target + 8)
    storeHalves(of: words.2, to: target + 18)
    target.storeBytes(of: UInt8(ascii: "-"), toByteOffset: 18, as: UInt8.self)
    target.storeBytes(of: words.3, toByteOffset: 28, as: UInt64.self)
    target.storeBytes(of: UInt8(ascii: "-"), toByteOffset: 23, as: UInt8.self)
  }

  @inline(__always)
  private static func storeHalves(of word: UInt64, to target: UnsafeMutableRawPointer) {
    target.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self)
    target.storeBytes(of: UInt32(truncatingIfNeeded: word), toByteOffset: 1, as: UInt32.self)
    target.storeBytes(of: UInt8(ascii: "-"), toByteOffset: 5, as: UInt8.self)
    target.storeBytes(of: UInt32(truncatingIfNeeded: word &>> 32), toByteOffset: 6, as: UInt32.self)
  }

  @inline(__always)
  private static func half(_ text: UnsafeRawPointer, _ offset: Int) -> UInt32 {
    text.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
  }

  @inline(__always)
  private static func hasHyphens(_ text: UnsafeRawPointer) -> Bool {
    let hyphen = UInt8(ascii: "-")
    return text.load(fromByteOffset: 8, as: UInt8.self) == hyphen
      && text.load(fromByteOffset: 13, as: UInt8.self) == hyphen
      && text.load(fromByteOffset: 18, as: UInt8.self) == hyphen
      && text.load(fromByteOffset: 23, as: UInt8.self) == hyphen
  }

  private static let highBits: UInt64 = 0x8080_8080_8080_8080
  private static let ones: UInt64 = 0x0101_0101_0101_0101

  /// Returns the highest bit of each byte, set if the byte is a hexadecimal digit.
  @inline(__always)
  private static func areHexadecimal(_ word: UInt64) -> UInt64 {
    // Adding 0x80 - n sets the highest bit of bytes from n on, as long as none is above 0x7F.
    let ascii = word & ~highBits
    let digits = (ascii &+ 0x50 &* ones) & ~(ascii &+ 0x46 &* ones)
    let small = ascii | 0x20 &* ones
    let letters = (small &+ 0x1F &* ones) & ~(small &+ 0x19 &* ones)
    return (digits | letters) & ~word & highBits
  }

  /// Returns the four bytes that eight hexadecimal digits represent.
  @inline(__always)
  private static func packed(_ word: UInt64) -> UInt32 {
    let nibbles = (word & (0x0F &* ones)) &+ (word &>> 6 & ones) &* 9
    var bytes = (nibbles &<< 4 | nibbles &>> 8) & 0x00FF_00FF_00FF_00FF
    bytes = (bytes | bytes &>> 8) & 0x0000_FFFF_0000_FFFF
    return UInt32(truncatingIfNeeded: bytes | bytes &>> 16)
  }

  /// Returns the eight hexadecimal digits of four bytes.
  @inline(__always)
  private static func digits(_ bytes: UInt32) -> UInt64 {
    var nibbles = UInt64(bytes)
    nibbles = (nibbles | nibbles &<< 16) & 0x0000_FFFF_0000_FFFF
    nibbles = (nibbles | nibbles &<< 8) & 0x00FF_00FF_00FF_00FF
    nibbles = (nibbles &>> 4 & 0x000F_000F_000F_000F) | (nibbles & 0x000F_000F_000F_000F) &<< 8
    let letters = (nibbles &+ 6 &* ones) &>> 4 & ones
    return nibbles &+ 0x30 &* ones &+ letters &* 7
  }
}
