/// A set of rows of one group, with a bit for each.
struct RowBitmap: Sendable {
  private(set) var words: [UInt64]
  let rowCount: Int

  /// Makes a set of the rows of `group` whose records have not been deleted.
  init(liveRowsOf group: RowGroup) {
    self.init(allRowsOf: group)
    guard let liveness = group.liveness else { return }
    words = stride(from: 0, to: rowCount, by: 64).map { liveness.word(at: $0, count: rowCount) }
  }

  /// Makes a set of all rows of `group`, whether their records were deleted or not.
  init(allRowsOf group: RowGroup) {
    rowCount = group.rowCount
    words = Array(repeating: ~0, count: (rowCount + 63) / 64)
    if !rowCount.isMultiple(of: 64) { words[words.count - 1] = 1 << UInt64(rowCount % 64) - 1 }
  }

  private init(emptyLike other: RowBitmap) {
    rowCount = other.rowCount
    words = Array(repeating: 0, count: other.words.count)
  }

  /// An empty set for the same group.
  var cleared: RowBitmap { RowBitmap(emptyLike: self) }
}

extension RowBitmap {
  var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

  var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

  mutating func removeAll() {
    for index in words.indices { words[index] = 0 }
  }

  mutating func formUnion(_ other: RowBitmap) {
    for index in words.indices { words[index] |= other.words[index] }
  }

  mutating func subtract(_ other: RowBitmap) {
    for index in words.indices { words[index] &= ~other.words[index] }
  }

  mutating func insert(_ row: Int) {
    words[row >> 6] |= 1 << UInt64(row & 63)
  }

  mutating func remove(_ row: Int) {
    words[row >> 6] &= ~(1 << UInt64(row & 63))
  }

  @inline(__always)
  func contains(_ row: Int) -> Bool { words[row >> 6] >> UInt64(row & 63) & 1 == 1 }

  /// Calls `body` with each row, in order.
  @inline(__always)
  func forEach(_ body: (Int) -> Void) {
    for (index, word) in words.enumerated() {
      var rest = word
      while rest != 0 {
        body(index &* 64 &+ rest.trailingZeroBitCount)
        rest &= rest &- 1
      }
    }
  }

  /// Keeps the rows that pass `test`, which is called only for rows of the set.
  @inline(__always)
  mutating func filter(_ test: (Int) -> Bool) {
    for index in words.indices {
      var rest = words[index]
      var kept = rest
      while rest != 0 {
        let bit = rest & (0 &- rest)
        if !test(index &* 64 &+ bit.trailingZeroBitCount) { kept &= ~bit }
        rest &= rest &- 1
      }
      words[index] = kept
    }
  }

  /// Keeps the rows that pass `test`, which is cheap and without branches, so that it is called for all rows near those
  /// of the set.
  @inline(__always)
  mutating func filterDensely(_ test: (Int) -> Bool) {
    let count = rowCount
    words.withUnsafeMutableBufferPointer { words in
      for index in 0..<words.count where words[index] != 0 {
        let first = index &* 64
        let last = min(64, count &- first)
        var mask: UInt64 = 0
        var bit = 0
        while bit < last {
          mask |= (test(first &+ bit) ? 1 : 0) &<< UInt64(truncatingIfNeeded: bit)
          bit &+= 1
        }
        words[index] &= mask
      }
    }
  }

  /// Keeps the rows whose bits are set in the result of `word`, which is called with the first row of each 64.
  @inline(__always)
  mutating func formIntersection(_ word: (Int) -> UInt64) {
    for index in words.indices where words[index] != 0 { words[index] &= word(index &* 64) }
  }
}
