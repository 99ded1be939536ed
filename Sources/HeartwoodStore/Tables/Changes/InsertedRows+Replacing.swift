extension InsertedRows {
  /// The same records with the values of some properties that they have in a table.
  ///
  /// - Parameter rows: gives the rows of the records in the table, in order.
  package func replacing(
    _ ordinals: [Int],
    with table: NodeTable,
    at rows: inout RowRuns.Iterator
  ) -> InsertedRows {
    if ordinals.isEmpty {
      for _ in 0..<count { _ = rows.next() }
      return self
    }
    var replaced: [RowGroup] = []
    for group in groups {
      let builders = ordinals.map { ColumnBuilder(kind: group.columns[$0].kind) }
      for _ in 0..<group.rowCount {
        guard let row = rows.next() else { break }
        for (ordinal, builder) in zip(ordinals, builders) {
          builder.append(row.row..<(row.row + 1), of: table.groups[row.group].columns[ordinal])
        }
      }
      var columns = group.columns
      for (ordinal, builder) in zip(ordinals, builders) { columns[ordinal] = builder.sealed() }
      replaced.append(RowGroup(references: group.references, versions: group.versions, columns: columns))
    }
    return InsertedRows(entity: entity, groups: replaced, hasGivenReferences: hasGivenReferences)
  }
}
