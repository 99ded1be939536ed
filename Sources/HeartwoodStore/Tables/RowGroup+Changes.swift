import HeartwoodModel

extension RowGroup {
  /// The group with some values changed and the versions of the changed rows raised by one. Columns that no update touches are
  /// shared. Of several values for the same property of the same row the last one counts.
  func applying(_ updates: [NodeTable.RowUpdate]) -> RowGroup {
    let updates = Self.sorted(updates)
    var changes: [[ColumnChange]] = Array(repeating: [], count: columns.count)
    for update in updates {
      for (ordinal, value) in update.values { changes[ordinal].append(ColumnChange(row: update.row.row, value: value)) }
    }
    return RowGroup(
      references: references,
      versions: versions.raising(updates.map(\.row.row), rowCount: rowCount),
      columns: zip(columns, changes).map { column, changes in changes.isEmpty ? column : column.replacing(changes) },
      liveness: liveness
    )
  }

  /// The updates in the order of their rows, those of one row in the order in which they came.
  private static func sorted(_ updates: [NodeTable.RowUpdate]) -> [NodeTable.RowUpdate] {
    let isSorted = zip(updates, updates.dropFirst()).allSatisfy { $0.row.row <= $1.row.row }
    if isSorted { return updates }
    let order = updates.indices.sorted { (updates[$0].row.row, $0) < (updates[$1].row.row, $1) }
    return order.map { updates[$0] }
  }

  /// The group with another version of the records in `rows`; all columns are shared.
  func versioning(_ rows: [Int], _ version: UInt64) -> RowGroup {
    RowGroup(
      references: references,
      versions: versions.setting(version, in: rows, rowCount: rowCount),
      columns: columns,
      liveness: liveness
    )
  }

  /// The group without the records in `rows`; all columns are shared.
  func deleting(_ rows: [Int]) -> RowGroup {
    var bits = GrowableBits()
    if let liveness {
      bits.append(0..<rowCount, of: liveness)
    } else {
      bits.append(repeating: true, count: rowCount)
    }
    return RowGroup(references: references, versions: versions, columns: columns, liveness: bits.sealed(clearing: rows))
  }
}

/// Another value for one row of a column.
private struct ColumnChange {
  let row: Int
  let value: PropertyValue
}

extension Column {
  /// The column with other values in some rows, which ascend.
  fileprivate func replacing(_ changes: [ColumnChange]) -> Column {
    let builder = ColumnBuilder(kind: kind)
    for (index, change) in changes.enumerated() {
      // The last change of a row counts.
      if index + 1 < changes.count, changes[index + 1].row == change.row { continue }
      if builder.rowCount < change.row { builder.append(builder.rowCount..<change.row, of: self) }
      builder.append(change.value)
    }
    if builder.rowCount < rowCount { builder.append(builder.rowCount..<rowCount, of: self) }
    return builder.sealed()
  }
}
