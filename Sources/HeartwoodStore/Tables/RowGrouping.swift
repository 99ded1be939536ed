/// Chooses the groups in which the rows of a table are written: most of them as they are in memory, so that nothing is
/// copied.
package struct RowGrouping {
  /// Adjacent groups with fewer rows than this and fewer bytes than ``smallByteCount`` are joined.
  package var smallRowCount: Int
  private static let smallByteCount = 1 << 24

  package init(smallRowCount: Int = 1 << 14) {
    self.smallRowCount = smallRowCount
  }

  /// Returns the groups to write, without the rows that were deleted. O(groups + rows that have to be moved).
  package func groups(of table: NodeTable) throws(PersistenceError) -> [RowGroup] {
    var result: [RowGroup] = []
    var pending: [RowGroup] = []
    for group in table.groups where group.liveCount > 0 {
      if group.isWritable, !isSmall(group) {
        result += try merged(pending, of: table)
        pending = []
        result.append(group)
      } else {
        pending.append(group)
      }
    }
    return result + (try merged(pending, of: table))
  }

  private func merged(_ groups: [RowGroup], of table: NodeTable) throws(PersistenceError) -> [RowGroup] {
    if groups.isEmpty || groups.count == 1 && groups[0].isWritable { return groups }
    let builder = TableBuilder(entity: table.entity)
    for group in groups { try builder.append(liveRowsOf: group) }
    return builder.finish().groups
  }

  private func isSmall(_ group: RowGroup) -> Bool {
    guard group.rowCount < smallRowCount else { return false }
    let byteCount = group.columns.reduce(group.references.values.count) { sum, column in
      sum + column.values.count + (column.references?.values.count ?? 0)
    }
    return byteCount < Self.smallByteCount
  }
}

extension RowGroup {
  /// Whether the group can be written as it is.
  fileprivate var isWritable: Bool {
    liveCount == rowCount && ColumnShape.fault(in: references) == nil
      && columns.allSatisfy { ColumnShape.fault(in: $0) == nil }
  }
}
