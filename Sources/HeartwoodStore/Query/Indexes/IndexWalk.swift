/// A walk through rows in the order of an index.
struct IndexWalk {
  private let finding: IndexFinding
  private let elementCount: Int
  private let wanted: Int

  init(_ finding: IndexFinding, _ access: SortAccess, wanted: Int) {
    self.finding = finding
    self.elementCount = access.access.elementCount
    self.wanted = wanted
  }

  func entries(
    _ places: some Sequence<Int>,
    of rows: RowBitmap,
    _ entry: (Int) -> RowSort.Entry
  ) -> [RowSort.Entry] {
    var entries: [RowSort.Entry] = []
    var last = 0
    for place in places {
      let row = Int(finding.rows[place])
      guard rows.contains(row) else { continue }
      let next = entry(row)
      if entries.count >= wanted, !areAlike(place, next, last, entries[entries.count - 1]) { break }
      entries.append(next)
      last = place
    }
    return entries
  }

  private func areAlike(_ place: Int, _ entry: RowSort.Entry, _ last: Int, _ lastEntry: RowSort.Entry) -> Bool {
    finding.indexed?.areAlike(place, last, inFirst: elementCount) ?? (entry.lead == lastEntry.lead)
  }
}
