/// Bits that are being put together, the lowest bit of a byte first.
package struct GrowableBits {
  private let bytes = GrowableBytes()
  private(set) var count = 0
  private var pending: UInt8 = 0

  package init() {}

  @inline(__always)
  package mutating func append(_ bit: Bool) {
    pending |= (bit ? 1 : 0) &<< UInt8(truncatingIfNeeded: count & 7)
    count &+= 1
    if count & 7 == 0 {
      bytes.append(pending)
      pending = 0
    }
  }

  package mutating func append(repeating bit: Bool, count repetitions: Int) {
    var rest = repetitions
    while rest > 0, count & 7 != 0 {
      append(bit)
      rest -= 1
    }
    bytes.append(repeating: bit ? 0xFF : 0, count: rest / 8)
    count += rest / 8 * 8
    for _ in 0..<(rest % 8) { append(bit) }
  }

  /// Appends the bits in `rows` of `source`.
  package mutating func append(_ rows: Range<Int>, of source: BitSlice) {
    var next = rows.lowerBound
    if count & 7 == 0, next & 7 == 0 {
      let byteCount = rows.count / 8
      precondition(next / 8 + byteCount <= source.bytes.count, "The rows are not in the table.")
      bytes.append(UnsafeRawBufferPointer(start: source.bytes.unsafeBase + next / 8, count: byteCount))
      count += byteCount * 8
      next += byteCount * 8
    }
    for row in next..<rows.upperBound { append(source[row]) }
  }

  /// The bits as a slice that never changes; this becomes empty.
  ///
  /// - Parameter places: bits that are 0 in the slice, whatever was appended.
  package mutating func sealed(clearing places: [Int] = []) -> BitSlice {
    if count & 7 != 0 { bytes.append(pending) }
    for place in places {
      precondition(place >= 0 && place < count, "The row is not in the table.")
      bytes.unsafeMutableBytes[place / 8] &= ~(1 &<< UInt8(truncatingIfNeeded: place & 7))
    }
    count = 0
    pending = 0
    return BitSlice(bytes.sealed())
  }
}
