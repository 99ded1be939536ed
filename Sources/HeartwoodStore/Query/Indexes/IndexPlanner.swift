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
