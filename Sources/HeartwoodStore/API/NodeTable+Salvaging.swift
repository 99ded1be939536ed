package import HeartwoodModel

extension NodeTable {
  /// A table with the records alone in whose rows `condition` holds, one behind the other. O(rows).
  package func keeping(_ condition: (RowID) -> Bool) throws(PersistenceError) -> NodeTable {
    let others = liveRows.filter { !condition($0) }
    guard !others.isEmpty else { return self }
    return try NodeTable(entity: entity, joining: groups(without: others))
  }

  /// The groups, in which some rows count as deleted.
  package func groups(without rows: [RowID]) -> [RowGroup] {
    var kept = groups
    for (ordinal, rows) in Dictionary(grouping: rows, by: \.group) {
      kept[ordinal] = kept[ordinal].deleting(rows.map(\.row))
    }
    return kept
  }

  /// A table with the records of `groups` that have not been deleted, one behind the other.
  package init(entity: EntityDescription, joining groups: [RowGroup]) throws(PersistenceError) {
    let builder = TableBuilder(entity: entity)
    for group in groups { try builder.append(liveRowsOf: group) }
    self = builder.finish()
  }
}
