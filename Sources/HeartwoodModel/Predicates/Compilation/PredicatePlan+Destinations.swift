extension PlanPredicate {
  /// The entities to which relationships are followed, by ordinal.
  package var destinationOrdinals: Set<Int> {
    switch self {
    case .literal: []
    case .not(let term): term.destinationOrdinals
    case .and(let terms), .or(let terms): terms.reduce(into: []) { $0.formUnion($1.destinationOrdinals) }
    case .comparison(let comparison):
      comparison.left.destinationOrdinals.union(comparison.right.destinationOrdinals)
    }
  }
}

extension PlanExpression {
  /// The entities to which relationships are followed, by ordinal.
  package var destinationOrdinals: Set<Int> {
    switch self {
    case .constant, .subject, .variable: return []
    case .property(let base, let property):
      return base.destinationOrdinals.union(property.destination.map { [$0] } ?? [])
    case .aggregate(let operands), .function(_, let operands):
      return operands.reduce(into: []) { $0.formUnion($1.destinationOrdinals) }
    case .collection(_, let operand), .cast(let operand, _): return operand.destinationOrdinals
    case .arithmetic(let left, _, let right): return left.destinationOrdinals.union(right.destinationOrdinals)
    case .subquery(let collection, _, let predicate):
      return collection.destinationOrdinals.union(predicate.destinationOrdinals)
    case .element(let collection, .at(let place)):
      return collection.destinationOrdinals.union(place.destinationOrdinals)
    case .element(let collection, _): return collection.destinationOrdinals
    case .conditional(let predicate, let first, let second):
      return predicate.destinationOrdinals.union(first.destinationOrdinals).union(second.destinationOrdinals)
    }
  }
}
