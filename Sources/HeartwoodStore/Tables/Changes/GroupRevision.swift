import HeartwoodModel

/// Changes of single rows of a group, in the order in which they were saved: of several values for the same place, the
/// last one counts.
package struct GroupRevision: Sendable {
  /// A value for a property of a row, which lies in a column of other values.
  private struct Value: Sendable {
    let row: UInt16
    let source: Int
    let index: Int
  }

  private var versions: [(row: UInt16, version: UInt64)] = []
  private var values: [Int: [Value]] = [:]
  private var sources: [RecordColumn] = []
  private var deletedRows: Set<Int> = []

  package init() {}

  /// Gives rows of the group other versions.
  package mutating func setVersion(_ version: UInt64, row: Int) {
    versions.append((UInt16(truncatingIfNeeded: row), version))
  }

  /// Adds a column whose values are then given to rows, and returns its number.
  package mutating func addSource(_ column: RecordColumn) -> Int {
    sources.append(column)
    return sources.count - 1
  }

  /// Gives a property of a row the value that a source has at an index. The column must have no faults.
  package mutating func setValue(ordinal: Int, row: Int, source: Int, index: Int) {
    values[ordinal, default: []].append(
      Value(row: UInt16(truncatingIfNeeded: row), source: source, index: index)
    )
  }

  /// Deletes the record in a row; returns false if that was done already.
  package mutating func delete(row: Int) -> Bool { deletedRows.insert(row).inserted }

  /// Returns the group with the changes; columns without any are shared. The rows must be rows of the group. O(rows) for
  /// each column that changes.
  package func applied(to group: RowGroup) -> RowGroup {
    let changed = RowGroup(
      references: group.references,
      versions: versions.isEmpty ? group.versions : group.versions.setting(versions, rowCount: group.rowCount),
      columns: group.columns.enumerated().map { ordinal, column in
        values[ordinal].map { replacing($0, in: column) } ?? column
      },
      liveness: group.liveness
    )
    return deletedRows.isEmpty ? changed : changed.deleting(deletedRows.sorted())
  }

  private func replacing(_ values: [Value], in column: RecordColumn) -> RecordColumn {
    // The order of the values decides between those for the same row.
    let order = values.indices.sorted { (values[$0].row, $0) < (values[$1].row, $1) }
    let builder = ColumnBuilder(kind: column.kind)
    for (place, index) in order.enumerated() {
      let value = values[index]
      if place + 1 < order.count, values[order[place + 1]].row == value.row { continue }
      let row = Int(value.row)
      if builder.rowCount < row { builder.append(builder.rowCount..<row, of: column) }
      builder.append(value.index..<(value.index + 1), of: sources[value.source])
    }
    if builder.rowCount < column.rowCount { builder.append(builder.rowCount..<column.rowCount, of: column) }
    return builder.sealed()
  }
}

extension VersionColumn {
  /// Returns the versions with those of some rows replaced.
  fileprivate func setting(_ versions: [(row: UInt16, version: UInt64)], rowCount: Int) -> VersionColumn {
    let bytes = GrowableBytes(capacity: rowCount * 8)
    append(rowCount: rowCount, to: bytes)
    for (row, version) in versions {
      bytes.unsafeMutableBytes.storeBytes(of: version, toByteOffset: Int(row) * 8, as: UInt64.self)
    }
    return .each(bytes.sealed())
  }
}
