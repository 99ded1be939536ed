import HeartwoodModel

/// Chooses the index that helps a query most.
struct IndexPlanner: Sendable {
  /// A condition that all rows have to meet.
  struct Term: Sendable {
    let plan: PlanPredicate
    let test: ColumnTest
  }

  private let plans: [FetchIndexPlan]
  private let terms: [Term]
  private let memberships: [ColumnTest]

  init(_ plans: [FetchIndexPlan], _ terms: [Term], _ builder: ColumnTestBuilder) {
    // A partial index has all rows that pass only where its conditions are among theirs.
    self.plans = plans.filter { $0.conditions.allSatisfy { condition in terms.contains { $0.plan == condition } } }
    self.terms = terms
    memberships = self.plans.map { .all($0.conditions.map(builder.test)) }
  }
}

// MARK: Conditions

extension IndexPlanner {
  private struct Choice {
    let access: IndexAccess
    /// The places of the terms that hold for what is found.
    let terms: Set<Int>
    var score: [Int]
  }

  /// All terms as one test, which looks into indexes where there are some.
  var test: ColumnTest {
    let ordinals = leadingPlans
    func single(_ test: ColumnTest) -> ColumnTest { ordinals.isEmpty ? test : test.indexed(ordinals) }
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

  /// The index that answers most, where it answers more than one term or has some rows only.
  private var bestChoice: Choice? {
    zip(plans, memberships).compactMap(choice).max { $0.score.lexicographicallyPrecedes($1.score) }
  }

  private func choice(_ plan: FetchIndexPlan, _ membership: ColumnTest) -> Choice? {
    var used = Set(terms.indices.filter { plan.conditions.contains(terms[$0].plan) })
    var tests: [[ColumnTest]] = []
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

/// How the first rows of a sort are found by an index.
struct SortAccess: Sendable {
  let access: IndexAccess
  /// Whether the index is walked from its first row on.
  let isForward: Bool
}

extension IndexPlanner {
  /// The index in whose order rows are that `sorts` puts in order, first or after properties that have to have a single value.
  ///
  /// - Parameter columnOrdinals: by which columns the sort keys put rows in order; nil for one that is evaluated.
  func sortAccess(_ columnOrdinals: [Int?], _ areAscending: [Bool]) -> SortAccess? {
    zip(plans, memberships).flatMap { sortChoices($0, $1, columnOrdinals, areAscending) }
      .max { $0.score.lexicographicallyPrecedes($1.score) }?.access
  }

  /// What one index gives: the rows in that order behind each number of its first properties that have to have a single value.
  private func sortChoices(
    _ plan: FetchIndexPlan,
    _ membership: ColumnTest,
    _ columnOrdinals: [Int?],
    _ areAscending: [Bool]
  ) -> [(access: SortAccess, score: [Int])] {
    var choices: [(access: SortAccess, score: [Int])] = []
    var tests: [[ColumnTest]] = []
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

  /// How many sort keys are those of `elements`, all in their direction or all in the other.
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
  /// What the first properties of the index have to be, each tested in one way or more: all but the last one have single values.
  let tests: [[ColumnTest]]
  /// What tells whether a row is in the index.
  let membership: ColumnTest
  /// How many properties of the index it is about: those that are tested, and those that rows are then to be in the order of.
  let elementCount: Int

  /// Whether the order of the first property alone is all that is needed.
  var needsOneColumn: Bool { elementCount == 1 && plan.conditions.isEmpty }
}

/// What an index has found in a group: places in an order of rows.
struct IndexFinding {
  let rows: [UInt16]
  let places: [Range<Int>]
  /// The order, where it is that of several properties or of some rows.
  let indexed: CompoundOrder?

  var count: Int { places.reduce(0) { $0 + $1.count } }
}

extension GroupTester {
  /// The rows that an index finds; nil where it has not been made, or would take too long to look into.
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
      // Other versions of the table share the index: a record that was deleted in this one may be there in them.
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

  /// The places in the order of a column of the rows that pass all of `tests`.
  private func places(_ tests: [ColumnTest], _ ordinal: Int, _ order: OrderedRows) -> [Range<Int>]? {
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
  /// Where they make it faster.
  case automatic
  /// Wherever there is one, for tests.
  case always
  case never
}

// MARK: IndexWalk

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

// MARK: TableQuery: ordered selection

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
