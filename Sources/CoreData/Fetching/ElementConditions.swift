import HeartwoodGraph
import HeartwoodModel

/// Finds the conditions of a fetch on the elements of transformable attributes, such as `ANY tags == 'food'`. Stores
/// keep such a value as data, so these conditions are evaluated on the objects.
struct ElementConditions {
  private let entity: EntityDescription
  private let model: ManagedObjectModel

  /// - Returns: nil if the model has no such entity.
  init?(_ entityName: String, in model: ManagedObjectModel) {
    guard let entity = model.entity(named: entityName) else { return nil }
    self.entity = entity
    self.model = model
  }

  /// Returns a condition that stores understand: the ids of the objects take the place of conditions on elements.
  /// O(objects that the other conditions leave), if there are any; they are read.
  func resolve(
    _ predicate: FetchPredicate,
    of request: FetchRequest<ManagedObject>,
    in context: NSManagedObjectContext
  ) throws -> FetchPredicate {
    guard reads(predicate) else { return predicate }
    let terms = if case .and(let terms) = predicate { terms } else { [predicate] }
    var plain = request
    plain.predicate = .and(terms.filter { !reads($0) })
    let own = FetchPredicate.and(terms.filter(reads))
    let found = try context.hold { try context.core.fetch(plain) }.map { context.facade(of: $0) }
    let ids = try found.filter { try matches(own, $0) }.compactMap(\.objectID.core)
    if ids.isEmpty { return .literal(false) }
    return .comparison(FetchComparison(.selfObject, .in, .aggregate(ids.map { .value(.toOne($0)) })))
  }

  // MARK: Evaluating

  private func matches(_ predicate: FetchPredicate, _ object: NSManagedObject) throws -> Bool {
    switch predicate {
    case .literal(let flag): return flag
    case .not(let term): return try !matches(term, object)
    case .and(let terms): return try terms.allSatisfy { try matches($0, object) }
    case .or(let terms): return try terms.contains { try matches($0, object) }
    case .comparison:
      guard reads(predicate) else { return try PredicateTree.matchesByKeys(predicate, object) }
      return try PredicateTree.matchesByKeys(predicate.replacing { none($0, object) }, object)
    }
  }

  /// Returns a collection without elements for an attribute that has no value; nil for anything else.
  private func none(_ expression: FetchExpression, _ object: NSManagedObject) -> FetchExpression? {
    guard isTransformable(expression), case .keyPath(_, let keys) = expression,
      KeyValueCoding.value(of: object, keys.map(\.spelling)) == nil
    else { return nil }
    return .aggregate([])
  }

  // MARK: Finding

  private static let collecting: Set<FetchComparison.Comparator> = [.in, .contains]

  private func reads(_ predicate: FetchPredicate) -> Bool {
    switch predicate {
    case .literal: false
    case .not(let term): reads(term)
    case .and(let terms), .or(let terms): terms.contains(where: reads)
    case .comparison(let comparison):
      reads(comparison.left) || reads(comparison.right)
        || ((comparison.modifier != .direct || Self.collecting.contains(comparison.comparator))
          && (isTransformable(comparison.left) || isTransformable(comparison.right)))
    }
  }

  private func reads(_ expression: FetchExpression) -> Bool {
    switch expression {
    case .constant, .object, .selfObject, .variable: false
    case .keyPath(of: .selfObject, let keys):
      keys.count > 1 && lengthToTransformable(keys).map { $0 < keys.count } ?? false
    case .keyPath(let base, _), .cast(let base, _), .subquery(let base, _, _): reads(base)
    case .aggregate(let operands): operands.contains(where: reads)
    case .arithmetic(let left, _, let right): reads(left) || reads(right)
    case .function(_, let operands): operands.contains { isTransformable($0) || reads($0) }
    case .element(let collection, .at(let place)): isTransformable(collection) || reads(collection) || reads(place)
    case .element(let collection, _): isTransformable(collection) || reads(collection)
    case .conditional(let predicate, let first, let second): reads(predicate) || reads(first) || reads(second)
    }
  }

  private func isTransformable(_ expression: FetchExpression) -> Bool {
    guard case .keyPath(of: .selfObject, let keys) = expression else { return false }
    return lengthToTransformable(keys) == keys.count
  }

  /// Returns the number of keys that lead to the first transformable attribute; nil if there is none.
  private func lengthToTransformable(_ keys: [FetchKey]) -> Int? {
    var current = entity
    for (place, key) in keys.enumerated() {
      guard case .property(let name) = key, let property = current.property(named: name) else { return nil }
      if property.attribute?.type == .transformable { return place + 1 }
      guard let destination = property.relationship.flatMap({ model.entity(named: $0.destinationEntityName) })
      else { return nil }
      current = destination
    }
    return nil
  }
}
