/// Rows of a table as runs of neighbours, in order.
package struct RowRuns: Sendable {
  private var runs: [(first: RowID, count: Int)] = []
  package private(set) var count = 0

  package init() {}

  package var first: RowID? { runs.first?.first }

  /// Appends the rows in `rows` of the group at `group`.
  mutating func append(_ rows: Range<Int>, group: Int) {
    guard !rows.isEmpty else { return }
    runs.append((RowID(group: group, row: rows.lowerBound), rows.count))
    count += rows.count
  }

  /// Appends the rows of `other`.
  mutating func append(_ other: RowRuns) {
    runs += other.runs
    count += other.count
  }
}

extension RowRuns: Sequence {
  package func makeIterator() -> Iterator { Iterator(runs: runs) }

  package struct Iterator: IteratorProtocol {
    fileprivate let runs: [(first: RowID, count: Int)]
    private var run = 0
    private var offset = 0

    fileprivate init(runs: [(first: RowID, count: Int)]) {
      self.runs = runs
    }

    package mutating func next() -> RowID? {
      guard run < runs.count else { return nil }
      let (first, count) = runs[run]
      defer {
        offset &+= 1
        if offset == count { (run, offset) = (run + 1, 0) }
      }
      return RowID(group: first.group, row: first.row + offset)
    }
  }
}
