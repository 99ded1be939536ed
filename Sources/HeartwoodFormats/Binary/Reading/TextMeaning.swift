import HeartwoodModel
import HeartwoodStore

/// Whether bytes are texts in UTF-8.
enum TextMeaning {
  /// What is wrong with texts of which each begins where `offsets` say, or nil. O(bytes).
  static func fault(in values: ByteSlice, offsets: ByteSlice?) -> ColumnFault? {
    let bytes = values.unsafeBytes
    if ASCIIScan.isASCII(bytes) { return nil }
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
}
