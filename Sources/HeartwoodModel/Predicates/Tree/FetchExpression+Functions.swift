extension FetchExpression {
  /// Whether `function` is applied anywhere in the expression.
  package func applies(_ function: FetchFunction) -> Bool {
    switch self {
    case .constant, .object, .selfObject, .variable: return false
    case .keyPath(let base, _), .cast(let base, _): return base.applies(function)
    case .aggregate(let operands): return operands.contains { $0.applies(function) }
    case .function(let applied, let operands): return applied == function || operands.contains { $0.applies(function) }
    case .arithmetic(let left, _, let right): return left.applies(function) || right.applies(function)
    case .subquery(let collection, _, let predicate):
      return collection.applies(function) || predicate.applies(function)
    case .element(let collection, .at(let place)): return collection.applies(function) || place.applies(function)
    case .element(let collection, _): return collection.applies(function)
    case .conditional(let predicate, let first, let second):
      return predicate.applies(function) || first.applies(function) || second.applies(function)
    }
  }
}

extension FetchPredicate {
  /// Whether `function` is applied anywhere in the predicate.
  func applies(_ function: FetchFunction) -> Bool {
    switch self {
    case .literal: false
    case .comparison(let comparison): comparison.left.applies(function) || comparison.right.applies(function)
    case .not(let term): term.applies(function)
    case .and(let terms), .or(let terms): terms.contains { $0.applies(function) }
    }
  }
}
