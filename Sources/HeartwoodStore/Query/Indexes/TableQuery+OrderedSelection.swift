import HeartwoodModel

// The first rows of a sort by an index: they are walked in its order until there are enough.

extension TableQuery {
  /// The index that has rows in the order of a sort.
  func sortAccess(_ sort: RowSort) -> SortAccess? {
    planner.sortAccess(sort.terms.map(\.columnOrdinal), sort.terms.map(\.isAscending))
  }

  /// The first `count` of the rows of a group and those that the index leaves level with the last of them, in no order; nil where there
  /// is no index or it does not help.
  func firstByIndex(_ count: Int, _ sort: RowSort, of rows: RowBitmap, inGroup ordinal: Int) -> [RowSort.Entry]? {
    guard count > 0, let access = sortAccess(sort) else { return nil }
    let passing = rows.count
    // The walk passes so many rows for each that is wanted as there are for each that passes.
    func isWorth(_ walked: Int) -> Bool {
      indexUse == .always || passing > count && passing * passing > count * walked
    }
    if access.access.tests.isEmpty, access.access.plan.conditions.isEmpty, !isWorth(rows.rowCount) { return nil }
    var tester = tester(ofGroup: ordinal)
    guard let finding = tester.find(access.access, isNeeded: indexUse == .always), finding.places.count <= 1,
      isWorth(finding.count)
    else { return nil }
    let leads = sort.terms[0].leads(ofGroup: ordinal, in: table)
    let walk = IndexWalk(finding, access, wanted: count)
    let isForward = finding.indexed == nil ? sort.terms[0].isAscending : access.isForward
    let places = finding.places.first ?? 0..<0
    let entry = { (row: Int) in RowSort.Entry(lead: leads.lead(row), row: RowID(group: ordinal, row: row)) }
    return isForward ? walk.entries(places, of: rows, entry) : walk.entries(places.reversed(), of: rows, entry)
  }
}
