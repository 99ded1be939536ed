/// A value for each row of a table, deleted rows included.
struct RowValues<Value: Sendable>: Sendable {
  private var groups: [[Value]]

  /// Asks `value` for the value of each row, group by group on all processors.
  init(of table: NodeTable, _ value: @Sendable (RowID) -> Value) {
    let groups = table.groups
    self.groups = Parallel.map(groups.count) { group in
      (0..<groups[group].rowCount).map { value(RowID(group: group, row: $0)) }
    }
  }

  subscript(row: RowID) -> Value {
    get { groups[row.group][row.row] }
    set { groups[row.group][row.row] = newValue }
  }
}
