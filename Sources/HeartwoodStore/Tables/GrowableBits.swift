/// Bits that are being put together, the lowest bit of a byte first.
package struct GrowableBits {
  private let bytes = GrowableBytes()
  package private(set) var count = 0
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

  /// The bits as a slice that never changes; this becomes empty.
  package mutating func sealed() -> BitSlice {
    if count & 7 != 0 { bytes.append(pending) }
    count = 0
    pending = 0
    return BitSlice(bytes.sealed())
  }
}
