import HeartwoodFoundation

extension MacroConversion {
  /// Converts a comparison of two values, one of which may be a condition.
  fileprivate mutating func comparison(
    _ left: Any,
    _ comparator: FetchComparison.Comparator,
    _ right: Any
  ) throws(FetchPredicateError) -> Node {
    let (a, b) = (try expression(left), try expression(right))
    if comparator == .equalTo, b == .constant(.boolean(true)), let condition = a.condition {
      return .predicate(condition)
    }
    return .predicate(.comparison(FetchComparison(a, comparator, b)))
  }
}

extension FetchExpression {
  /// The condition that is true if this value is true, even if the value may be `nil`.
  fileprivate var condition: FetchPredicate? {
    switch self {
    case .conditional(let condition, .constant(.boolean(true)), .constant(.boolean(false))): condition
    case .conditional(let isThere, let value, .constant(.null)): value.condition.map { isThere && $0 }
    default: nil
    }
  }

  fileprivate var isNotNil: FetchPredicate { .comparison(FetchComparison(self, .notEqualTo, .constant(.null))) }
}

extension PredicateExpressions.Conjunction: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    .predicate(try conversion.predicate(lhs) && conversion.predicate(rhs))
  }
}

extension PredicateExpressions.Disjunction: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    .predicate(try conversion.predicate(lhs) || conversion.predicate(rhs))
  }
}

extension PredicateExpressions.Negation: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    .predicate(.not(try conversion.predicate(wrapped)))
  }
}

extension PredicateExpressions.Equal: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    try conversion.comparison(lhs, .equalTo, rhs)
  }
}

extension PredicateExpressions.NotEqual: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    try conversion.comparison(lhs, .notEqualTo, rhs)
  }
}

extension PredicateExpressions.Comparison: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    switch op {
    case .lessThan: return try conversion.comparison(lhs, .lessThan, rhs)
    case .lessThanOrEqual: return try conversion.comparison(lhs, .lessThanOrEqualTo, rhs)
    case .greaterThan: return try conversion.comparison(lhs, .greaterThan, rhs)
    case .greaterThanOrEqual: return try conversion.comparison(lhs, .greaterThanOrEqualTo, rhs)
    @unknown default: throw MacroConversion.unsupported("This comparison")
    }
  }
}

extension PredicateExpressions.Conditional: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    let condition = try conversion.predicate(test)
    if case (.predicate(let first), .predicate(let second)) = (
      try conversion.node(trueBranch), try conversion.node(falseBranch)
    ) {
      return .predicate((condition && first) || (!condition && second))
    }
    return .expression(
      .conditional(condition, try conversion.expression(trueBranch), try conversion.expression(falseBranch))
    )
  }
}

// MARK: Optionals

extension PredicateExpressions.NilLiteral: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    .expression(.constant(.null))
  }
}

extension PredicateExpressions.ForcedUnwrap: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    try conversion.node(inner)
  }
}

extension PredicateExpressions.NilCoalesce: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    let (value, other) = (try conversion.expression(lhs), try conversion.expression(rhs))
    return .expression(.conditional(value.isNotNil, value, other))
  }
}

extension PredicateExpressions.OptionalFlatMap: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    let value = try conversion.expression(wrapped)
    conversion.bind(variable.key, to: value)
    switch try conversion.node(transform) {
    case .expression(let result) where isNothing(result, fromNothingAt: value): return .expression(result)
    case .expression(let result): return .expression(.conditional(value.isNotNil, result, .constant(.null)))
    case .predicate(let result):
      return .expression(.conditional(value.isNotNil, MacroConversion.boolean(result), .constant(.null)))
    }
  }

  /// Returns whether `result` is `nil` whenever `value` is. That holds for properties of `value`; a count would be 0.
  private func isNothing(_ result: FetchExpression, fromNothingAt value: FetchExpression) -> Bool {
    guard case .keyPath(let base, let keys) = result else { return false }
    // A collection always exists, so the transformation never applies to `nil`.
    if Wrapped.self is any Collection.Type { return true }
    guard case .keyPath(let root, let first) = value else { return base == value && keys.allSatisfy(\.isProperty) }
    return base == root && keys.starts(with: first) && keys.dropFirst(first.count).allSatisfy(\.isProperty)
  }
}

extension FetchKey {
  fileprivate var isProperty: Bool {
    if case .property = self { true } else { false }
  }
}

// MARK: Collections

extension PredicateExpressions.CollectionContainsCollection: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    guard Base.Output.self is any StringProtocol.Type else {
      throw MacroConversion.unsupported("Whether a collection is a part of another")
    }
    return try conversion.comparison(base, .contains, other)
  }
}

extension PredicateExpressions.SequenceStartsWith: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    guard Base.Output.self is any StringProtocol.Type else {
      throw MacroConversion.unsupported("Whether a collection starts with another")
    }
    return try conversion.comparison(base, .beginsWith, prefix)
  }
}

extension PredicateExpressions.SequenceContains: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    try conversion.comparison(element, .in, sequence)
  }
}

extension PredicateExpressions.SequenceContainsWhere: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    let count = try conversion.subquery(sequence, variable.key, test).appending(.collection(.count))
    return .predicate(.comparison(FetchComparison(count, .greaterThan, .constant(.integer(0)))))
  }
}

extension PredicateExpressions.SequenceAllSatisfy: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    let count = try conversion.subquery(sequence, variable.key, test, negated: true).appending(.collection(.count))
    return .predicate(.comparison(FetchComparison(count, .equalTo, .constant(.integer(0)))))
  }
}

// MARK: Ranges

extension PredicateExpressions.RangeExpressionContains: MacroConvertible {
  func convert(_ conversion: inout MacroConversion) throws(FetchPredicateError) -> MacroConversion.Node {
    guard let range = range as? any MacroRange else { throw MacroConversion.unsupported("This range") }
    let (lower, upper) = try range.bounds(&conversion)
    let value = try conversion.expression(element)
    return .predicate(
      .comparison(FetchComparison(value, .greaterThanOrEqualTo, lower))
        && .comparison(FetchComparison(value, range.isClosed ? .lessThanOrEqualTo : .lessThan, upper))
    )
  }
}

/// A range whose bounds are constants, or parts of the predicate.
private protocol MacroRange {
  var isClosed: Bool { get }
  func bounds(
    _ conversion: inout MacroConversion
  ) throws(FetchPredicateError) -> (lower: FetchExpression, upper: FetchExpression)
}

/// A range whose bounds are parts of the predicate.
private protocol WrittenRange: MacroRange {
  associatedtype LHS
  associatedtype RHS
  var lower: LHS { get }
  var upper: RHS { get }
}

extension WrittenRange {
  fileprivate func bounds(
    _ conversion: inout MacroConversion
  ) throws(FetchPredicateError) -> (lower: FetchExpression, upper: FetchExpression) {
    (try conversion.expression(lower), try conversion.expression(upper))
  }
}

extension PredicateExpressions.ClosedRange: WrittenRange {
  fileprivate var isClosed: Bool { true }
}

extension PredicateExpressions.Range: WrittenRange {
  fileprivate var isClosed: Bool { false }
}

// MARK: Ranges made outside of the predicate

extension PredicateExpressions.Value: MacroRange {
  fileprivate var isClosed: Bool { (value as? any CapturedRange)?.isClosed ?? false }

  fileprivate func bounds(
    _ conversion: inout MacroConversion
  ) throws(FetchPredicateError) -> (lower: FetchExpression, upper: FetchExpression) {
    guard let bounds = (value as? any CapturedRange)?.bounds else {
      throw MacroConversion.unsupported("A range of type \(Output.self)")
    }
    return bounds
  }
}

private protocol CapturedRange {
  var isClosed: Bool { get }
  /// The bounds; nil if they are not values of attributes.
  var bounds: (lower: FetchExpression, upper: FetchExpression)? { get }
}

extension CapturedRange {
  fileprivate func bounds(_ lower: Any, _ upper: Any) -> (lower: FetchExpression, upper: FetchExpression)? {
    guard let lower = lower as? any FetchArgument, let upper = upper as? any FetchArgument else { return nil }
    return (lower.fetchExpression, upper.fetchExpression)
  }
}

extension Swift.ClosedRange: CapturedRange {
  fileprivate var isClosed: Bool { true }
  fileprivate var bounds: (lower: FetchExpression, upper: FetchExpression)? { bounds(lowerBound, upperBound) }
}

extension Swift.Range: CapturedRange {
  fileprivate var isClosed: Bool { false }
  fileprivate var bounds: (lower: FetchExpression, upper: FetchExpression)? { bounds(lowerBound, upperBound) }
}
