import HeartwoodStore

/// Whether bytes are texts in UTF-8.
enum TextMeaning {
  /// What is wrong with texts of which each begins where `offsets` say, or nil. O(bytes).
  static func fault(in values: ByteSlice, offsets: ByteSlice?) -> ColumnFault? {
    let bytes = values.unsafeBytes
    if isASCII(bytes) { return nil }
    if let place = UTF8Validation.firstInvalidOffset(in: bytes) {
      return ColumnFault("a text is not UTF-8", in: values, at: place)
    }
    guard let offsets else { return nil }
    for index in 0..<(offsets.count / 4) {
      let start = Int(offsets.unsafeBytes.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self))
      if start < bytes.count, bytes[start] & 0xC0 == 0x80 {
        return ColumnFault("a text begins inside of a character", in: values, at: start)
      }
    }
    return nil
  }

  /// Whether all bytes are less than 128.
  private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var offset = 0
    while bytes.count - offset >= 64 {
      var seen: UInt64 = 0
      for word in 0..<8 { seen |= bytes.loadUnaligned(fromByteOffset: offset &+ word &* 8, as: UInt64.self) }
      if seen & 0x8080_8080_8080_8080 != 0 { return false }
      offset += 64
    }
    return !bytes[offset...].contains { $0 >= 0x80 }
  }
}
