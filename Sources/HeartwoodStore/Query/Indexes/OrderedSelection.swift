import HeartwoodModel

// The first rows of a sort by an index: they are walked in the order of the column until there are enough.

extension RowSort {
  /// The first `count` of the rows of a group and those that the first sort key leaves level with the last of them, in no order; nil
  /// where there is no index or it does not help.
  func firstByIndex(_ count: Int, of rows: RowBitmap, inGroup ordinal: Int) -> [Entry]? {
    guard let property = indexedOrdinal, count > 0 else { return nil }
    // The walk passes so many rows for each that is wanted as there are for each that passes.
    let passing = rows.count
    guard indexUse == .always || passing > count && passing * passing > count * rows.rowCount else { return nil }
    let column = table.groups[ordinal].columns[property]
    guard let order = column.order.rows(of: column, isNeeded: indexUse == .always) else { return nil }
    let leads = terms[0].leads(ofGroup: ordinal, in: table)
    let places = order.rows.indices
    return terms[0].isAscending
      ? walk(places, order, rows, leads, count, ordinal) : walk(places.reversed(), order, rows, leads, count, ordinal)
  }

  private func walk(
    _ places: some Sequence<Int>,
    _ order: OrderedRows,
    _ rows: RowBitmap,
    _ leads: SortTerm.Leads,
    _ count: Int,
    _ ordinal: Int
  ) -> [Entry] {
    var entries: [Entry] = []
    for place in places {
      let row = Int(order.rows[place])
      guard rows.contains(row) else { continue }
      let entry = Entry(lead: leads.lead(row), row: RowID(group: ordinal, row: row))
      if entries.count >= count, entry.lead != entries[entries.count - 1].lead { break }
      entries.append(entry)
    }
    return entries
  }
}
