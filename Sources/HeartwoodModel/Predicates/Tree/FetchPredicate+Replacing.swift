extension FetchPredicate {
  /// The predicate with each expression replaced for which `replacement` gives another; its parts are not looked at then.
  package func replacing<Failure: Error>(
    _ replacement: (FetchExpression) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> FetchPredicate {
    switch self {
    case .literal: return self
    case .comparison(var comparison):
      comparison.left = try comparison.left.replacing(replacement)
      comparison.right = try comparison.right.replacing(replacement)
      return .comparison(comparison)
    case .not(let term): return .not(try term.replacing(replacement))
    case .and(let terms): return .and(try Self.replacing(terms, replacement))
    case .or(let terms): return .or(try Self.replacing(terms, replacement))
    }
  }

  private static func replacing<Failure: Error>(
    _ terms: [FetchPredicate],
    _ replacement: (FetchExpression) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> [FetchPredicate] {
    var result: [FetchPredicate] = []
    for term in terms { result.append(try term.replacing(replacement)) }
    return result
  }
}

extension FetchExpression {
  /// The expression with each part replaced for which `replacement` gives another.
  package func replacing<Failure: Error>(
    _ replacement: (FetchExpression) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> FetchExpression {
    if let other = try replacement(self) { return other }
    switch self {
    case .constant, .object, .selfObject, .variable: return self
    case .keyPath(let base, let keys): return .keyPath(of: try base.replacing(replacement), keys)
    case .aggregate(let elements): return .aggregate(try Self.replacing(elements, replacement))
    case .arithmetic(let left, let symbol, let right):
      return .arithmetic(try left.replacing(replacement), symbol, try right.replacing(replacement))
    case .function(let function, let arguments): return .function(function, try Self.replacing(arguments, replacement))
    case .subquery(let collection, let variable, let predicate):
      return .subquery(
        try collection.replacing(replacement),
        variable: variable,
        try predicate.replacing(replacement)
      )
    case .element(let collection, .at(let place)):
      return .element(of: try collection.replacing(replacement), .at(try place.replacing(replacement)))
    case .element(let collection, let index): return .element(of: try collection.replacing(replacement), index)
    case .cast(let operand, let type): return .cast(try operand.replacing(replacement), type)
    case .conditional(let predicate, let first, let second):
      return .conditional(
        try predicate.replacing(replacement),
        try first.replacing(replacement),
        try second.replacing(replacement)
      )
    }
  }

  private static func replacing<Failure: Error>(
    _ expressions: [FetchExpression],
    _ replacement: (FetchExpression) throws(Failure) -> FetchExpression?
  ) throws(Failure) -> [FetchExpression] {
    var result: [FetchExpression] = []
    for expression in expressions { result.append(try expression.replacing(replacement)) }
    return result
  }
}

extension PlanValue {
  /// The value as a constant of a predicate.
  package var expression: FetchExpression {
    switch self {
    case .one(let value): .value(value)
    case .many(let elements): .aggregate(elements.map(\.expression))
    }
  }
}
