#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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

/// A range whose bounds are known, or parts of the predicate.
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
  /// Nil where the bounds are no values of attributes.
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
