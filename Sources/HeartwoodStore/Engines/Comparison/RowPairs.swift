import HeartwoodModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Neighbouring rows of a group of one table, and as many of a group of another, that are compared with each other.
struct RowPairs: Sendable {
  let left: RowGroup
  let leftRow: Int
  let right: RowGroup
  let rightRow: Int
  let count: Int
  /// The place of the first record among all of the table, counted from 1.
  let position: Int
}

extension RowPairs {
  /// The records of two tables of as many records, each with its counterpart. Their groups and gaps may differ.
  static func all(_ left: NodeTable, _ right: NodeTable) -> [RowPairs] {
    var lefts = runs(of: left)[...]
    var rights = runs(of: right)[...]
    var pairs: [RowPairs] = []
    var position = 1
    while let (leftGroup, leftRows) = lefts.first, let (rightGroup, rightRows) = rights.first {
      let count = min(leftRows.count, rightRows.count)
      pairs.append(
        RowPairs(
          left: leftGroup,
          leftRow: leftRows.lowerBound,
          right: rightGroup,
          rightRow: rightRows.lowerBound,
          count: count,
          position: position
        )
      )
      position += count
      skip(count, of: &lefts)
      skip(count, of: &rights)
    }
    return pairs
  }

  private typealias Run = (group: RowGroup, rows: Range<Int>)

  private static func runs(of table: NodeTable) -> [Run] {
    table.groups.flatMap { group in group.liveRuns.map { (group, $0) } }
  }

  private static func skip(_ count: Int, of runs: inout ArraySlice<Run>) {
    guard let rows = runs.first?.rows, rows.count > count else {
      runs.removeFirst()
      return
    }
    runs[runs.startIndex].rows = rows.dropFirst(count)
  }
}

// MARK: Comparing

extension RowPairs {
  /// The offset of the first row whose references differ, or nil where all are the same.
  func firstReferenceDifference() -> Int? {
    let a = left.references
    let b = right.references
    if let width = a.layout.width, a.layout == b.layout, hasSameBytes(a.values, b.values, width: width) { return nil }
    return (0..<count).first { a[leftRow + $0] != b[rightRow + $0] }
  }

  /// Whether a column of one is byte for byte as that of the other. Where it is not, the values may still be the same.
  func hasSameBytes(_ ordinal: Int) -> Bool {
    let a = left.columns[ordinal]
    let b = right.columns[ordinal]
    guard a.kind == b.kind, a.validity == nil, b.validity == nil else { return false }
    if a.kind == .absent { return true }
    if let width = a.kind.width { return hasSameBytes(a.values, b.values, width: width) }
    if a.kind == .bits { return hasSameBits(BitSlice(a.values), BitSlice(b.values)) }
    return a.kind == .bytes && hasSameBytes(a, b)
  }

  private func hasSameBits(_ a: BitSlice, _ b: BitSlice) -> Bool {
    (0..<count).allSatisfy { a[leftRow + $0] == b[rightRow + $0] }
  }

  private func hasSameBytes(_ a: Column, _ b: Column) -> Bool {
    let first = (a.range(leftRow).lowerBound, b.range(rightRow).lowerBound)
    let hasSameLengths = (0..<count).allSatisfy { offset in
      a.range(leftRow + offset).upperBound - first.0 == b.range(rightRow + offset).upperBound - first.1
    }
    guard hasSameLengths else { return false }
    let length = a.range(leftRow + count - 1).upperBound - first.0
    return Self.areEqual(a.values, first.0, b.values, first.1, length)
  }

  private func hasSameBytes(_ a: ByteSlice, _ b: ByteSlice, width: Int) -> Bool {
    Self.areEqual(a, leftRow * width, b, rightRow * width, count * width)
  }

  private static func areEqual(_ a: ByteSlice, _ start: Int, _ b: ByteSlice, _ other: Int, _ length: Int) -> Bool {
    // The slices make sure that the bytes are there.
    guard let a = ByteSlice(a.region, offset: a.offset + start, count: length),
      let b = ByteSlice(b.region, offset: b.offset + other, count: length)
    else { return false }
    return length == 0 || memcmp(a.unsafeBase, b.unsafeBase, length) == 0
  }
}
