import HeartwoodModel

/// The places that the objects at the end of a to-one relationship take in an order, so that rows that lead to them are sorted by numbers.
struct RelatedRanks: Sendable {
  /// 0 for objects without a value, which come before all others; equal values have equal places.
  private let ranks: [Int: [ReferenceID: UInt64]]

  /// Nil where the expression does not lead over one to-one relationship first, or to so many objects that it would not be worth it.
  init?(_ expression: PlanExpression, _ ordering: SortOrdering, _ tables: QueryTables, mostObjects: Int) {
    guard let related = expression.related, !related.relationship.isToMany, related.missing == .null,
      let destination = related.relationship.destination
    else { return nil }
    let destinations = tables.tables.compactMap(\.self).filter { $0.entity.isOrInherits(destination) }
    guard destinations.reduce(0, { $0 + $1.count }) <= max(1000, mostObjects) else { return nil }
    let evaluator = PredicateEvaluator(tables)
    var ranks: [Int: [ReferenceID: UInt64]] = [:]
    var values: [(entityOrdinal: Int, reference: ReferenceID, value: PropertyValue)] = []
    for table in destinations {
      let ordinal = table.entity.ordinal
      for row in table.liveRows {
        let value = evaluator.value(related.inner, .init(entityOrdinal: ordinal, row: row)).scalar
        if !value.isNull { values.append((ordinal, table.reference(row), value)) }
      }
    }
    values.sort { ordering.compare($0.value, $1.value) < 0 }
    var rank: UInt64 = 0
    var previous = PropertyValue.null
    for (ordinal, reference, value) in values {
      if rank == 0 || ordering.compare(previous, value) != 0 { rank += 1 }
      ranks[ordinal, default: [:]][reference] = rank
      previous = value
    }
    self.ranks = ranks
  }

  /// The place of the object that a row leads to.
  func rank(_ column: Column, _ row: Int) -> UInt64 {
    guard let targets = column.references, column.validity?[row] ?? true else { return 0 }
    return ranks[targets.entityOrdinal(row)]?[targets[row]] ?? 0
  }
}
