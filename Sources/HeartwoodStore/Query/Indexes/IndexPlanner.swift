import HeartwoodModel

/// Chooses the index that is most useful for a query.
struct IndexPlanner: Sendable {
  /// A condition that all rows have to meet.
  struct Term: Sendable {
    let plan: CompiledPredicate
    let test: ColumnFilter
  }

  private let plans: [FetchIndexPlan]
  private let terms: [Term]
  private let memberships: [ColumnFilter]

  init(_ plans: [FetchIndexPlan], _ terms: [Term], _ builder: ColumnFilterBuilder) {
    // A partial index has all rows that pass only if its conditions are among theirs.
    self.plans = plans.filter { $0.conditions.allSatisfy { condition in terms.contains { $0.plan == condition } } }
    self.terms = terms
    memberships = self.plans.map { .all($0.conditions.map(builder.test)) }
  }
}

// MARK: Conditions

extension IndexPlanner {
  private struct Choice {
    let access: IndexAccess
    /// The places of the terms that hold for the rows that the index finds.
    let terms: Set<Int>
    var score: [Int]
  }

  /// All terms as one test, which uses indexes if there are some.
  var test: ColumnFilter {
    let ordinals = leadingPlans
    func single(_ test: ColumnFilter) -> ColumnFilter { ordinals.isEmpty ? test : test.indexed(ordinals) }
    guard let choice = bestChoice else { return .all(terms.map { single($0.test) }) }
    let (used, rest) = (
      terms.indices.filter(choice.terms.contains), terms.indices.filter { !choice.terms.contains($0) }
    )
    return .all([.indexed(choice.access, .all(used.map { terms[$0].test }))] + rest.map { single(terms[$0].test) })
  }

  /// The indexes that have all rows, by the property that they begin with.
  private var leadingPlans: [Int: FetchIndexPlan] {
    plans.filter(\.conditions.isEmpty).reduce(into: [:]) {
      $0[$1.elements[0].ordinal] = $0[$1.elements[0].ordinal] ?? $1
    }
  }

  /// The index that covers most, if it covers more than one term or is a partial one.
  private var bestChoice: Choice? {
    zip(plans, memberships).compactMap(choice).max { $0.score.lexicographicallyPrecedes($1.score) }
  }

  private func choice(_ plan: FetchIndexPlan, _ membership: ColumnFilter) -> Choice? {
    var used = Set(terms.indices.filter { plan.conditions.contains(terms[$0].plan) })
    var tests: [[ColumnFilter]] = []
    for element in plan.elements {
      let own = terms.indices.filter { terms[$0].test.indexableOrdinal == element.ordinal }
      let point = own.first { terms[$0].test.pointCount != nil }
      let chosen = point.map { [$0] } ?? own
      if chosen.isEmpty { break }
      tests.append(chosen.map { terms[$0].test })
      used.formUnion(chosen)
      if point == nil { break }
    }
    let answered = tests.reduce(0) { $0 + $1.count }
    guard answered > 1 || !plan.conditions.isEmpty else { return nil }
    return Choice(
      access: IndexAccess(plan: plan, tests: tests, membership: membership, elementCount: max(1, tests.count)),
      terms: used,
      score: [tests.count, plan.conditions.count, answered]
    )
  }
}

// MARK: Sorts

/// How an index finds the first rows of a sort.
struct SortAccess: Sendable {
  let access: IndexAccess
  /// Whether the index is read from its first row on.
  let isForward: Bool
}

extension IndexPlanner {
  /// Returns the index whose order is that of the sort, either from its first property on or after properties that must
  /// have a single value.
  ///
  /// - Parameter columnOrdinals: the columns of the sort keys; nil for one that is evaluated.
  func sortAccess(_ columnOrdinals: [Int?], _ areAscending: [Bool]) -> SortAccess? {
    zip(plans, memberships).flatMap { sortChoices($0, $1, columnOrdinals, areAscending) }
      .max { $0.score.lexicographicallyPrecedes($1.score) }?.access
  }

  /// Returns the possible uses of one index: its order after each number of first properties that must have a single
  /// value.
  private func sortChoices(
    _ plan: FetchIndexPlan,
    _ membership: ColumnFilter,
    _ columnOrdinals: [Int?],
    _ areAscending: [Bool]
  ) -> [(access: SortAccess, score: [Int])] {
    var choices: [(access: SortAccess, score: [Int])] = []
    var tests: [[ColumnFilter]] = []
    for (place, element) in plan.elements.enumerated() {
      let match = Self.match(plan.elements[place...], columnOrdinals, areAscending)
      if match.count > 0 {
        let access = IndexAccess(
          plan: plan,
          tests: tests,
          membership: membership,
          elementCount: place + match.count
        )
        let choice = SortAccess(access: access, isForward: match.isForward)
        choices.append((choice, [match.count, plan.conditions.count, place]))
      }
      let point = terms.first { $0.test.indexableOrdinal == element.ordinal && $0.test.pointCount == 1 }
      guard let point else { break }
      tests.append([point.test])
    }
    return choices
  }

  /// Returns how many sort keys match `elements`, all in their direction or all in the other.
  private static func match(
    _ elements: ArraySlice<FetchIndexPlan.Element>,
    _ columnOrdinals: [Int?],
    _ areAscending: [Bool]
  ) -> (count: Int, isForward: Bool) {
    var count = 0
    var isForward = true
    for (element, (ordinal, isAscending)) in zip(elements, zip(columnOrdinals, areAscending)) {
      guard element.ordinal == ordinal else { break }
      let goesForward = element.isAscending == isAscending
      if count == 0 { isForward = goesForward }
      guard goesForward == isForward else { break }
      count += 1
    }
    return (count, isForward)
  }
}

// MARK: IndexAccess

/// How a query finds rows by an index.
struct IndexAccess: Sendable {
  let plan: FetchIndexPlan
  /// The tests for the first properties of the index, one or more for each: all but the last property have single
  /// values.
  let tests: [[ColumnFilter]]
  /// The test for rows that are in the index.
  let membership: ColumnFilter
  /// The number of properties of the index that are used: those that are tested, and those by which the rows are then
  /// ordered.
  let elementCount: Int

  /// Whether the order of the first property alone is sufficient.
  var needsOneColumn: Bool { elementCount == 1 && plan.conditions.isEmpty }
}

/// The rows that an index has found in a group: places in an order of rows.
struct IndexFinding {
  let rows: [UInt16]
  let places: [Range<Int>]
  /// The order, if it is that of several properties or of a partial index.
  let indexed: CompoundOrder?

  var count: Int { places.reduce(0) { $0 + $1.count } }
}

extension RowGroupFilter {
  /// Returns the rows that an index finds; nil if it has not been made, or if using it would take too long.
  mutating func find(_ access: IndexAccess, isNeeded: Bool) -> IndexFinding? {
    let column = group.columns[access.plan.elements[0].ordinal]
    if access.needsOneColumn {
      guard let order = column.order.rows(of: column, isNeeded: isNeeded),
        let places = access.tests.isEmpty
          ? [order.rows.indices] : places(access.tests[0], access.plan.elements[0].ordinal, order)
      else { return nil }
      return IndexFinding(rows: order.rows, places: places, indexed: nil)
    }
    let indexed = column.order.rows(of: access.plan, in: group, isNeeded: isNeeded) {
      // Other versions of the table share the index: a record that was deleted in this one may exist in them.
      var members = RowBitmap(allRowsOf: group)
      apply(access.membership, to: &members)
      return members
    }
    guard let indexed else { return nil }
    var ranges: [[Range<Int>]] = []
    for (element, tests) in zip(access.plan.elements, access.tests) {
      let column = group.columns[element.ordinal]
      guard let order = column.order.rows(of: column, isNeeded: true),
        let places = places(tests, element.ordinal, order)
      else { return nil }
      ranges.append(places)
    }
    return indexed.places(ranges).map { IndexFinding(rows: indexed.rows, places: $0, indexed: indexed) }
  }

  /// Returns the places, in the order of a column, of the rows that pass all of `tests`.
  private func places(_ tests: [ColumnFilter], _ ordinal: Int, _ order: OrderedRows) -> [Range<Int>]? {
    var found: [Range<Int>]?
    for test in tests {
      guard let places = test.places(in: order, group.columns[ordinal], group.unsafeViews[ordinal]) else { return nil }
      found = found.map { found in found.flatMap { one in places.map { $0.clamped(to: one) } } } ?? places
    }
    return found?.filter { !$0.isEmpty }
  }
}

// MARK: IndexUse

/// Whether a query uses indexes.
package enum IndexUse: Sendable {
  /// If they make it faster.
  case automatic
  /// For tests, whenever there is one.
  case always
  case never
}

// MARK: IndexWalk

/// Iterates over rows in the order of an index.
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

// MARK: TableQuery: ordered selection

// The first rows of a sort by an index: rows are read in its order until there are enough.

extension TableQuery {
  /// Returns the index that has rows in the order of a sort.
  func sortAccess(_ sort: RowSort) -> SortAccess? {
    planner.sortAccess(sort.terms.map(\.columnOrdinal), sort.terms.map(\.isAscending))
  }

  /// Returns the first `count` of the rows of a group, and those that the index orders the same as the last of them, in
  /// no order; nil if there is no index or it does not help.
  func firstByIndex(_ count: Int, _ sort: RowSort, of rows: RowBitmap, inGroup ordinal: Int) -> [RowSort.Entry]? {
    guard count > 0, let access = sortAccess(sort) else { return nil }
    let passing = rows.count
    // For each wanted row, the walk visits as many rows as there are for each row that passes.
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
