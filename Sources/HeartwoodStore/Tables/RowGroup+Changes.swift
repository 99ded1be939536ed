import HeartwoodModel

extension RowGroup {
  /// The group with some values changed and the versions of the changed rows raised by one. Columns that no update touches are
  /// shared.
  func applying(_ updates: [NodeTable.RowUpdate]) -> RowGroup {
    var changes: [Int: [Int: PropertyValue]] = [:]
    for update in updates {
      for (ordinal, value) in update.values { changes[ordinal, default: [:]][update.row.row] = value }
    }
    var columns = columns
    for (ordinal, values) in changes { columns[ordinal] = columns[ordinal].replacing(values) }
    return RowGroup(
      references: references,
      versions: raisedVersions(Set(updates.map(\.row.row))),
      columns: columns,
      liveness: liveness
    )
  }

  private func raisedVersions(_ rows: Set<Int>) -> VersionColumn {
    let raised = GrowableBytes(capacity: rowCount * 8)
    for row in 0..<rowCount { raised.append(versions[row] + (rows.contains(row) ? 1 : 0)) }
    return .each(raised.sealed())
  }

  /// The group without the records in `rows`; all columns are shared.
  func deleting(_ rows: [Int]) -> RowGroup {
    let deleted = Set(rows)
    var bits = GrowableBits()
    for row in 0..<rowCount { bits.append(isLive(row) && !deleted.contains(row)) }
    return RowGroup(references: references, versions: versions, columns: columns, liveness: bits.sealed())
  }
}

extension Column {
  /// The column with other values in some rows.
  fileprivate func replacing(_ values: [Int: PropertyValue]) -> Column {
    let builder = ColumnBuilder(kind: kind)
    var next = 0
    for row in values.keys.sorted() {
      builder.append(next..<row, of: self)
      builder.append(values[row] ?? .null)
      next = row + 1
    }
    builder.append(next..<rowCount, of: self)
    return builder.sealed()
  }
}
