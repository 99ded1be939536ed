import HeartwoodModel

/// Rows of one group in the order of an index of several properties, or of some records only.
///
/// The value of a property in a row is told by its rank: the first place that a row with the same value has in the order of the column
/// alone. Ranks of up to four properties make one number, so searching compares numbers, whatever the properties are.
struct CompoundOrder: Sendable {
  let rows: [UInt16]
  /// The number of each row: they ascend.
  private let keys: [UInt64]
  private let elements: [FetchIndexPlan.Element]
  private static let bitsOfRank = 16
  /// So many places at most are looked up one by one.
  private static let mostLookups = 64

  /// - Parameter members: the rows that are in the index.
  init(_ plan: FetchIndexPlan, _ group: RowGroup, _ members: RowBitmap) {
    elements = plan.elements
    var entries: [RowSort.Entry] = []
    members.forEach { entries.append(RowSort.Entry(lead: 0, row: RowID(group: 0, row: $0))) }
    for (level, element) in plan.elements.enumerated() {
      let column = group.columns[element.ordinal]
      guard let ranks = column.order.rows(of: column, isNeeded: true)?.ranks(of: column) else { continue }
      for index in entries.indices {
        entries[index].lead |= Self.key(ranks[entries[index].row.row], element, level)
      }
    }
    entries = RadixSort.sorted(entries)
    rows = entries.map { UInt16(truncatingIfNeeded: $0.row.row) }
    keys = entries.map(\.lead)
  }

  /// The part of a number that a rank makes.
  private static func key(_ rank: UInt16, _ element: FetchIndexPlan.Element, _ level: Int) -> UInt64 {
    UInt64(element.isAscending ? rank : .max - rank) << shift(level)
  }

  private static func shift(_ level: Int) -> UInt64 {
    UInt64((FetchIndexPlan.mostElements - 1 - level) * bitsOfRank)
  }

  /// Whether the rows at two places have the same values in the first properties of the index.
  func areAlike(_ left: Int, _ right: Int, inFirst count: Int) -> Bool {
    (keys[left] ^ keys[right]) >> Self.shift(count - 1) == 0
  }
}

// MARK: Searching

extension CompoundOrder {
  /// The places of the rows whose first properties have values in given ranges; nil where there would be too many to look up.
  ///
  /// - Parameter ranges: for each property ranges of places in the order of its column: of all but the last one such with the same
  ///   value each.
  func places(_ ranges: [[Range<Int>]]) -> [Range<Int>]? {
    guard let last = ranges.last else { return [rows.indices] }
    var prefixes: [UInt64] = [0]
    for (level, ranges) in ranges.dropLast().enumerated() {
      guard prefixes.count * ranges.count <= Self.mostLookups else { return nil }
      prefixes = prefixes.flatMap { prefix in
        ranges.map { prefix | Self.key(UInt16(truncatingIfNeeded: $0.lowerBound), elements[level], level) }
      }
    }
    guard prefixes.count * last.count <= Self.mostLookups else { return nil }
    return prefixes.flatMap { prefix in last.map { places(prefix, $0, level: ranges.count - 1) } }
  }

  private func places(_ prefix: UInt64, _ range: Range<Int>, level: Int) -> Range<Int> {
    let element = elements[level]
    let first = Self.key(UInt16(truncatingIfNeeded: range.lowerBound), element, level)
    let last = Self.key(UInt16(truncatingIfNeeded: range.upperBound - 1), element, level)
    let rest = (1 << Self.shift(level)) - 1 as UInt64
    let lower = firstPlace { $0 >= prefix | min(first, last) }
    return lower..<max(lower, firstPlace { $0 > prefix | max(first, last) | rest })
  }

  private func firstPlace(_ passes: (UInt64) -> Bool) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if passes(keys[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
