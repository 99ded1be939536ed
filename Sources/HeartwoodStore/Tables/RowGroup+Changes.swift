import HeartwoodModel

extension RowGroup {
  /// The group with some values changed and the versions of the changed rows raised by one. Columns that no row changes are shared.
  func applying(_ update: UpdatedGroup) -> RowGroup {
    RowGroup(
      references: references,
      versions: versions.raising(update.rows, rowCount: rowCount),
      columns: zip(columns, update.columns).map { column, change in
        change.map { column.replacing($0, in: update.rows) } ?? column
      },
      liveness: liveness
    )
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

  /// The most bytes that values of one column take.
  var greatestByteCount: Int {
    columns.reduce(references.values.count) { max($0, $1.values.count, $1.references?.values.count ?? 0) }
  }
}

extension Column {
  /// The column with other values in some of `rows`, which ascend.
  fileprivate func replacing(_ change: UpdatedColumn, in rows: [UInt16]) -> Column {
    let count = change.values.rowCount
    if count == rowCount { return change.values }
    let builder = ColumnBuilder(kind: kind)
    var next = 0
    while next < count {
      let first = Int(rows[change.place(next)])
      var end = next + 1
      while end < count, Int(rows[change.place(end)]) == first + end - next { end += 1 }
      if builder.rowCount < first { builder.append(builder.rowCount..<first, of: self) }
      builder.append(next..<end, of: change.values)
      next = end
    }
    if builder.rowCount < rowCount { builder.append(builder.rowCount..<rowCount, of: self) }
    return builder.sealed()
  }
}
