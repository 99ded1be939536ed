import HeartwoodModel

/// A condition in the form in which columns are tested: made once for a table, applied to each of its groups.
indirect enum ColumnTest: Sendable {
  case literal(Bool)
  case not(ColumnTest)
  /// The terms, the cheapest first.
  case and([ColumnTest])
  case or([ColumnTest])
  /// The property has no value.
  case isNull(Int)
  case integers(Int, NumberRange.Integers)
  case integerSet(Int, Set<Int64>)
  case doubles(Int, NumberRange.Doubles)
  case decimals(Int, DecimalRange)
  /// What a boolean has to be; `nil` does not pass.
  case boolean(Int, whenTrue: Bool, whenFalse: Bool)
  case text(Int, TextTest)
  case reference(Int, ReferenceTest)
  case uuids(Int, Set<ReferenceID>)
  /// How many objects a to-many relationship leads to.
  case count(Int, NumberRange.Integers)
  /// Where a relationship leads, whose objects have been tested.
  case related(Int, RelatedTest)
  /// One of these rows of the table.
  case rows(Set<RowID>)
  /// What has no faster way.
  case general(PlanPredicate)
  /// A test that an index answers.
  case indexed(IndexAccess, ColumnTest)
}

extension ColumnTest {
  /// About how many nanoseconds a row costs.
  var cost: Double {
    switch self {
    case .literal: 0
    // An index leaves little for the others.
    case .indexed: 0.05
    case .not(let term): term.cost
    case .and(let terms), .or(let terms): terms.reduce(0) { $0 + $1.cost }
    case .isNull, .boolean: 0.1
    case .integers, .doubles, .count: 1
    case .integerSet, .reference, .uuids, .rows, .decimals: 10
    case .text(_, let test): test.cost
    case .related: 60
    case .general: 500
    }
  }

  /// All of `terms`, the cheapest first, with constants and single terms resolved.
  static func all(_ terms: [ColumnTest]) -> ColumnTest {
    var kept: [ColumnTest] = []
    for term in terms {
      if case .literal(let flag) = term {
        if flag { continue }
        return .literal(false)
      }
      kept.append(term)
    }
    if kept.isEmpty { return .literal(true) }
    return kept.count == 1 ? kept[0] : .and(kept.sorted { $0.cost < $1.cost })
  }

  /// One of `terms`, the cheapest first, with constants and single terms resolved.
  static func any(_ terms: [ColumnTest]) -> ColumnTest {
    // What is true is false of none.
    switch all(terms.map(negated)) {
    case .and(let terms): .or(terms.map(negated))
    case let single: negated(single)
    }
  }

  static func negated(_ test: ColumnTest) -> ColumnTest {
    switch test {
    case .literal(let flag): .literal(!flag)
    case .not(let term): term
    default: .not(test)
    }
  }
}
