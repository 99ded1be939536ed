extension FetchPredicate {
  /// The predicate as it comes back from its text, which has no form for compounds of one term or none.
  var simplified: FetchPredicate {
    switch self {
    case .literal: self
    case .comparison: replacing(FetchExpression.simplifying)
    case .not(let term): .not(term.simplified)
    case .and(let terms) where terms.isEmpty: .literal(true)
    case .or(let terms) where terms.isEmpty: .literal(false)
    case .and(let terms): terms.count == 1 ? terms[0].simplified : .and(terms.map(\.simplified))
    case .or(let terms): terms.count == 1 ? terms[0].simplified : .or(terms.map(\.simplified))
    }
  }
}

extension FetchExpression {
  /// The expression with the predicates in it as they come back from its text.
  var simplified: FetchExpression { replacing(Self.simplifying) }

  /// Gives another expression for one that has a predicate.
  fileprivate static func simplifying(_ expression: FetchExpression) -> FetchExpression? {
    switch expression {
    case .subquery(let collection, let variable, let predicate):
      .subquery(collection.simplified, variable: variable, predicate.simplified)
    case .conditional(let predicate, let first, let second):
      .conditional(predicate.simplified, first.simplified, second.simplified)
    default: nil
    }
  }
}
