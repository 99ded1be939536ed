/// A bit for each row, the lowest bit of a byte first. Bits past the last row are 0.
public struct BitSlice: Sendable {
  /// The bytes that hold the bits.
  public let bytes: ByteSlice

  /// Makes a slice of the bits in `bytes`.
  public init(_ bytes: ByteSlice) {
    self.bytes = bytes
  }

  /// Returns the number of bytes that hold `count` bits.
  public static func byteCount(_ count: Int) -> Int { (count + 7) / 8 }

  @inline(__always) @usableFromInline
  package subscript(row: Int) -> Bool {
    precondition(row >= 0 && row &>> 3 < bytes.count, "The row is not in the table.")
    return bytes.unsafeBase.load(fromByteOffset: row &>> 3, as: UInt8.self) &>> (row & 7) & 1 == 1
  }

  /// Returns how many of the first `count` bits are set. O(count / 64).
  package func setBitCount(_ count: Int) -> Int {
    var total = 0
    for start in stride(from: 0, to: count, by: 64) { total += word(at: start, count: count).nonzeroBitCount }
    return total
  }

  /// Returns the runs of adjacent set bits among the first `count` bits.
  package func setRuns(_ count: Int) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    var start: Int?
    for base in stride(from: 0, to: count, by: 64) {
      appendRuns(of: word(at: base, count: count), base: base, start: &start, to: &runs)
    }
    if let start { runs.append(start..<count) }
    return runs
  }

  /// - Parameter start: the start of the run that reaches up to `base`, if there is one.
  private func appendRuns(of word: UInt64, base: Int, start: inout Int?, to runs: inout [Range<Int>]) {
    var place = 0
    while place < 64 {
      let rest = word &>> UInt64(place)
      if let first = start {
        let length = (~rest).trailingZeroBitCount
        if place + length >= 64 { return }
        place += length
        runs.append(first..<(base + place))
        start = nil
      } else {
        if rest == 0 { return }
        place += rest.trailingZeroBitCount
        start = base + place
      }
    }
  }

  /// Returns the 64 bits from `start` on, which is a multiple of 64; those from `count` on are 0.
  func word(at start: Int, count: Int) -> UInt64 {
    let firstByte = start / 8
    let byteCount = min(8, Self.byteCount(count) - firstByte)
    precondition(byteCount > 0 && firstByte + byteCount <= bytes.count, "The row is not in the table.")
    var word: UInt64 = 0
    withUnsafeMutableBytes(of: &word) { target in
      target.copyMemory(from: UnsafeRawBufferPointer(start: bytes.unsafeBase + firstByte, count: byteCount))
    }
    let valid = count - start
    return valid >= 64 ? word : word & (1 &<< UInt64(valid) - 1)
  }
}

// MARK: GrowableBits

/// A growing sequence of bits, the lowest bit of a byte first.
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

  /// Returns the bits as an immutable slice; this becomes empty.
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
