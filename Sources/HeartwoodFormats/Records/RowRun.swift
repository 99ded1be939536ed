import HeartwoodStore

/// Neighbouring rows of a group, none of which has been deleted.
struct RowRun: Sendable {
  let group: RowGroup
  let rows: Range<Int>
}

extension RowRun {
  /// About how many bytes of text are made at once.
  private static let blockSize = 1 << 20

  /// All records of a table.
  static func all(of table: NodeTable) -> [RowRun] {
    table.groups.flatMap { group in group.liveRuns.map { RowRun(group: group, rows: $0) } }
  }

  /// The same rows in runs whose texts have about the size of a block.
  ///
  /// - Parameter typicalLength: about how long the text of a row is, beside its values.
  static func blocks(of runs: [RowRun], typicalLength: Int) -> [RowRun] {
    runs.flatMap { run in
      let rowLength = run.group.valueByteCount / max(1, run.group.rowCount) + typicalLength
      let count = max(1, blockSize / rowLength)
      return stride(from: run.rows.lowerBound, to: run.rows.upperBound, by: count).map { start in
        RowRun(group: run.group, rows: start..<min(start + count, run.rows.upperBound))
      }
    }
  }
}

extension RowGroup {
  /// How many bytes the values take in memory.
  var valueByteCount: Int {
    columns.reduce(references.values.count) { $0 + $1.values.count + ($1.references?.values.count ?? 0) }
  }
}
