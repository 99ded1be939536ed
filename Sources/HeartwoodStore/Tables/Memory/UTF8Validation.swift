import HeartwoodModel

/// Where bytes stop being UTF-8.
package enum UTF8Validation {
  /// The offset of the first byte that does not belong to a well-formed character, or nil where all do. O(n).
  package static func firstInvalidOffset(in bytes: [UInt8]) -> Int? {
    bytes.withUnsafeBytes { firstInvalidOffset(in: $0) }
  }

  /// The offset of the first byte that does not belong to a well-formed character, or nil where all do. O(n).
  package static func firstInvalidOffset(in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let base = bytes.baseAddress else { return nil }
    var offset = 0
    while offset < bytes.count {
      // Characters that are not ASCII mostly come one after another.
      if bytes[offset] < 0x80 {
        guard let next = ASCIIScan.unsafeFirstBeyond(in: base, from: offset, to: bytes.count) else { return nil }
        offset = next
      }
      guard let length = lengthOfCharacter(in: bytes, at: offset) else { return offset }
      offset += length
    }
    return nil
  }

  /// The length of the multi-byte character at `offset`, or nil where it is not well-formed (RFC 3629).
  private static func lengthOfCharacter(in bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? {
    let lead = bytes[offset]
    let length: Int
    var secondRange: ClosedRange<UInt8> = 0x80...0xBF
    switch lead {
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, secondRange) = (3, 0xA0...0xBF)
    case 0xED: (length, secondRange) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, secondRange) = (4, 0x90...0xBF)
    case 0xF1...0xF3: length = 4
    case 0xF4: (length, secondRange) = (4, 0x80...0x8F)
    default: return nil
    }
    guard bytes.count - offset >= length, secondRange.contains(bytes[offset + 1]) else { return nil }
    for index in 2..<max(2, length) where !(0x80...0xBF).contains(bytes[offset + index]) { return nil }
    return length
  }
}
