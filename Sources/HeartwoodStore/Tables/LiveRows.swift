/// The rows of a table whose records have not been deleted, in order.
package struct LiveRows: Sequence, IteratorProtocol, Sendable {
  private let groups: [RowGroup]
  private var group = -1
  /// The runs of the group that have not begun yet, the next one last.
  private var runs: [Range<Int>] = []
  private var row = 0
  private var end = 0

  init(_ groups: [RowGroup]) {
    self.groups = groups
  }

  package mutating func next() -> RowID? {
    while row == end {
      guard beginRun() else { return nil }
    }
    defer { row &+= 1 }
    return RowID(group: group, row: row)
  }

  /// Begins the next run of rows; false where there is none.
  private mutating func beginRun() -> Bool {
    while runs.isEmpty {
      guard group + 1 < groups.count else { return false }
      group += 1
      runs = groups[group].liveRuns.reversed()
    }
    let run = runs.removeLast()
    (row, end) = (run.lowerBound, run.upperBound)
    return true
  }
}
