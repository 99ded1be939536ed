/// A bit for each row, the lowest bit of a byte first. Bits past the last row are 0.
package struct BitSlice: Sendable {
  package let bytes: ByteSlice

  package init(_ bytes: ByteSlice) {
    self.bytes = bytes
  }

  /// How many bytes hold `count` bits.
  package static func byteCount(_ count: Int) -> Int { (count + 7) / 8 }

  @inline(__always)
  package subscript(row: Int) -> Bool {
    precondition(row >= 0 && row &>> 3 < bytes.count, "The row is not in the table.")
    return bytes.unsafeBase.load(fromByteOffset: row &>> 3, as: UInt8.self) &>> (row & 7) & 1 == 1
  }

  /// How many of the first `count` bits are set. O(count).
  package func setBitCount(_ count: Int) -> Int {
    var total = 0
    for row in 0..<count where self[row] { total += 1 }
    return total
  }
}
