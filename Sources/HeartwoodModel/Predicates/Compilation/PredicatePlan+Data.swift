// What a plan needs of data, which a store may have and not be able to read: whether there are some is known all the same.

extension PlanPredicate {
  /// The properties with data whose values have to be known, and not only whether there is one.
  package var dataRead: Set<PlanProperty> {
    switch self {
    case .literal: []
    case .not(let term): term.dataRead
    case .and(let terms), .or(let terms): terms.reduce(into: []) { $0.formUnion($1.dataRead) }
    case .comparison(let comparison): comparison.dataRead
    }
  }
}

extension PlanComparison {
  fileprivate var dataRead: Set<PlanProperty> {
    let isEquality = comparator == .equalTo || comparator == .notEqualTo
    if isEquality, case .constant(.one(.null)) = right, case .property(let base, _) = left { return base.dataRead }
    if isEquality, case .constant(.one(.null)) = left, case .property(let base, _) = right { return base.dataRead }
    return left.dataRead.union(right.dataRead)
  }
}

extension PlanExpression {
  /// The properties with data whose values have to be known.
  package var dataRead: Set<PlanProperty> {
    switch self {
    case .constant, .subject, .variable: return []
    case .property(let base, let property):
      let isData = property.attributeType == .binary || property.attributeType == .transformable
      return base.dataRead.union(isData ? [property] : [])
    case .aggregate(let operands), .function(_, let operands):
      return operands.reduce(into: []) { $0.formUnion($1.dataRead) }
    case .collection(_, let operand), .cast(let operand, _): return operand.dataRead
    case .arithmetic(let left, _, let right): return left.dataRead.union(right.dataRead)
    case .subquery(let collection, _, let predicate): return collection.dataRead.union(predicate.dataRead)
    case .element(let collection, .at(let place)): return collection.dataRead.union(place.dataRead)
    case .element(let collection, _): return collection.dataRead
    case .conditional(let predicate, let first, let second):
      return predicate.dataRead.union(first.dataRead).union(second.dataRead)
    }
  }
}
