/// Looks for bytes that are no ASCII, 64 places at a time, then eight, then each.
package enum ASCIIScan {
  /// Whether all of `bytes` are less than 0x80.
  @inlinable @inline(__always)
  package static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.baseAddress.map { unsafeFirstBeyond(in: $0, from: 0, to: bytes.count) == nil } ?? true
  }

  /// The first place from `start` on, before `end`, of a byte above 0x7F; nil where there is none.
  ///
  /// - Parameter base: at least `end` bytes.
  @inlinable @inline(__always)
  package static func unsafeFirstBeyond(in base: UnsafeRawPointer, from start: Int, to end: Int) -> Int? {
    var place = start
    while end &- place >= 64 {
      var seen: UInt64 = 0
      for word in 0..<8 { seen |= base.loadUnaligned(fromByteOffset: place &+ word &* 8, as: UInt64.self) }
      if seen & 0x8080_8080_8080_8080 != 0 { break }
      place &+= 64
    }
    while end &- place >= 8 {
      let word = base.loadUnaligned(fromByteOffset: place, as: UInt64.self).littleEndian & 0x8080_8080_8080_8080
      if word != 0 { return place &+ word.trailingZeroBitCount / 8 }
      place &+= 8
    }
    while place < end {
      if base.load(fromByteOffset: place, as: UInt8.self) >= 0x80 { return place }
      place &+= 1
    }
    return nil
  }
}
