import HeartwoodGraph
import HeartwoodModel

extension GraphUnderTest {
  /// - Parameter id: gives the id of an object that the condition names.
  func fetch(
    _ query: FetchQuery,
    _ context: ManagedObjectContext,
    id: (Key) throws -> ManagedObjectID
  ) throws -> Outcome {
    let request = FetchRequest<ManagedObject>(
      entityName: query.entity,
      where: try query.condition.map { try predicate($0, schema.entity(query.entity), id) },
      sortedBy: query.sort.map { [FetchSortDescriptor($0, ascending: query.isAscending)] } ?? [],
      offset: query.offset,
      limit: query.limit
    )
    let count = try context.count(for: request)
    let ids = try context.fetchObjectIDs(request)
    let objects = try context.fetch(request)
    try require(count, equals: objects.count, "the count of \(query)")
    try require(ids, equals: objects.map(\.objectID), "the ids of \(query)")
    let keys = objects.compactMap { key(of: $0.objectID) }
    guard keys.count == objects.count else { throw Mismatch("\(query) gives objects that nobody has saved") }
    return .found(FetchResult(keys: keys), query)
  }

  private func predicate(
    _ condition: FetchCondition,
    _ entity: EntityDescription,
    _ id: (Key) throws -> ManagedObjectID
  ) throws -> FetchPredicate {
    switch condition {
    case .compare(let name, let comparator, let value):
      .comparison(FetchComparison(.key(name), comparator.comparator, .constant(value)))
    case .leads(let name, let key):
      .comparison(
        FetchComparison(
          .key(name),
          entity.property(named: name)?.relationship?.isToMany == true ? .contains : .equalTo,
          .constant(.toOne(try id(key)))
        )
      )
    case .not(let condition): .not(try predicate(condition, entity, id))
    case .and(let left, let right): try predicate(left, entity, id) && predicate(right, entity, id)
    case .or(let left, let right): try predicate(left, entity, id) || predicate(right, entity, id)
    }
  }
}

extension FetchCondition.Comparator {
  fileprivate var comparator: FetchComparison.Comparator {
    switch self {
    case .equal: .equalTo
    case .notEqual: .notEqualTo
    case .less: .lessThan
    case .notLess: .greaterThanOrEqualTo
    case .contains: .contains
    case .beginsWith: .beginsWith
    }
  }
}
