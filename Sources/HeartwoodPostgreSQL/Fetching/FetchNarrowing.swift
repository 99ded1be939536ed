import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

extension FetchTranslator {
  /// The conditions of a fetch that SQL can test, and its order if SQL has that; nil if it can test none of them.
  static func narrowed(_ fetch: RecordFetch, in schema: PostgreSQLSchema, of store: UUID?) -> NarrowedFetch? {
    var (tested, rest): ([FetchPredicate], [FetchPredicate]) = ([], [])
    for term in fetch.predicate?.conjuncts ?? [] {
      guard let part = part(of: fetch, where: term, isSorted: false, schema.model) else { return nil }
      let isTested = count(part, in: schema, of: store) != nil
      if isTested { tested.append(term) } else { rest.append(term) }
    }
    if tested.isEmpty { return nil }
    let order = RecordFetch(
      entity: fetch.entity,
      predicate: nil,
      sortDescriptors: fetch.sortDescriptors,
      plan: nil,
      sorts: fetch.sorts
    )
    let isSorted = keys(order, in: schema, of: store) != nil
    guard let part = part(of: fetch, where: .and(tested), isSorted: isSorted, schema.model) else { return nil }
    if rest.isEmpty { return NarrowedFetch(part: part, rest: nil, isSorted: isSorted) }
    guard let plan = plan(.and(rest), fetch.entity, schema.model) else { return nil }
    return NarrowedFetch(part: part, rest: plan, isSorted: isSorted)
  }

  private static func part(
    of fetch: RecordFetch,
    where predicate: FetchPredicate,
    isSorted: Bool,
    _ model: ManagedObjectModel
  ) -> RecordFetch? {
    guard let plan = plan(predicate, fetch.entity, model) else { return nil }
    return RecordFetch(
      entity: fetch.entity,
      predicate: predicate,
      sortDescriptors: isSorted ? fetch.sortDescriptors : [],
      plan: plan,
      sorts: isSorted ? fetch.sorts : []
    )
  }

  private static func plan(
    _ predicate: FetchPredicate,
    _ entity: EntityDescription,
    _ model: ManagedObjectModel
  ) -> CompiledPredicate? {
    // try?: the whole predicate was compiled, and what is not found by a part of it is found by the whole.
    try? PredicateCompiler.compile(predicate, for: entity, in: model)
  }
}

extension FetchPredicate {
  /// The conditions that all have to hold.
  fileprivate var conjuncts: [FetchPredicate] {
    switch self {
    case .and(let terms): terms.flatMap(\.conjuncts)
    // A condition holds or does not: neither of two holds if both do not.
    case .not(.or(let terms)): terms.flatMap { FetchPredicate.not($0).conjuncts }
    case .not(.not(let term)): term.conjuncts
    case .literal, .not, .or, .comparison: [self]
    }
  }
}
