import HeartwoodStore

/// In which groups the rows of a table are written: most of them as they are in memory, so that nothing is copied.
enum BinaryGrouping {
  /// Neighbouring groups with fewer rows than this and fewer bytes than ``smallByteCount`` become one.
  fileprivate static let smallRowCount = 1 << 14
  fileprivate static let smallByteCount = 1 << 24

  /// The groups to write, without the rows that were deleted. O(groups + rows that have to be moved).
  static func groups(of table: NodeTable) throws(PersistenceError) -> [RowGroup] {
    var result: [RowGroup] = []
    var pending: [RowGroup] = []
    for group in table.groups where group.liveCount > 0 {
      if group.isWritable, !group.isSmall {
        result += try merged(pending, of: table)
        pending = []
        result.append(group)
      } else {
        pending.append(group)
      }
    }
    return result + (try merged(pending, of: table))
  }

  private static func merged(_ groups: [RowGroup], of table: NodeTable) throws(PersistenceError) -> [RowGroup] {
    if groups.isEmpty || groups.count == 1 && groups[0].isWritable { return groups }
    let builder = TableBuilder(entity: table.entity)
    for group in groups { try builder.append(liveRowsOf: group) }
    return builder.finish().groups
  }
}

extension RowGroup {
  /// Whether the group can be written as it is.
  fileprivate var isWritable: Bool {
    liveCount == rowCount && ColumnShape.fault(in: references) == nil
      && columns.allSatisfy { ColumnShape.fault(in: $0) == nil }
  }

  fileprivate var isSmall: Bool {
    guard rowCount < BinaryGrouping.smallRowCount else { return false }
    let byteCount = columns.reduce(references.values.count) { sum, column in
      sum + column.values.count + (column.references?.values.count ?? 0)
    }
    return byteCount < BinaryGrouping.smallByteCount
  }
}
