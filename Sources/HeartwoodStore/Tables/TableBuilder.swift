package import HeartwoodModel

/// A table that is being put together record by record.
package final class TableBuilder {
  private let builder: RowGroupBuilder
  private var groups: [RowGroup] = []

  package init(entity: EntityDescription) {
    builder = RowGroupBuilder(entity: entity)
  }

  /// How many rows have been appended. O(groups).
  var rowCount: Int { groups.reduce(builder.rowCount) { $0 + $1.rowCount } }

  func append(_ draft: NodeDraft, version: UInt64 = 1) throws(PersistenceError) {
    if builder.isFull { try seal() }
    builder.append(draft.reference, version: version, values: draft.values)
  }

  /// Appends the records of `group` that have not been deleted, one behind the other.
  package func append(liveRowsOf group: RowGroup) throws(PersistenceError) {
    for run in group.liveRuns {
      var rest = run
      while !rest.isEmpty {
        if builder.isFull { try seal() }
        let room = rest.prefix(RowID.rowsPerGroup - builder.rowCount)
        builder.append(room, of: group)
        rest = rest.dropFirst(room.count)
      }
    }
  }

  private func seal() throws(PersistenceError) {
    guard groups.count < RowID.maximumGroupCount else {
      throw PersistenceError(
        .capabilityMissing,
        "An atomic store keeps at most \(RowID.maximumGroupCount * RowID.rowsPerGroup) records of an entity.",
        context: .init(entity: builder.entity.name)
      )
    }
    groups.append(builder.sealed())
  }

  package func finish() -> NodeTable {
    if builder.rowCount > 0 { groups.append(builder.sealed()) }
    return NodeTable(entity: builder.entity, groups: groups)
  }
}
