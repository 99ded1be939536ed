import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The decimal numbers between two bounds. A NaN is in no range.
struct DecimalRange: Sendable {
  /// The number at an end.
  struct Bound: Sendable {
    let number: NumericValue
    let isIncluded: Bool
    /// The number, where decimals are compared with it as decimals.
    private let packed: PackedDecimal?
    var isExact: Bool { packed != nil }

    init(_ number: NumericValue, isIncluded: Bool) {
      self.number = number
      self.isIncluded = isIncluded
      packed =
        switch number {
        case .integer(let integer): PackedDecimal(Decimal(integer))
        case .decimal(let decimal): PackedDecimal(decimal)
        case .double: nil
        }
    }

    /// Below 0 where `value`, which is a number, is less than the bound.
    func compare(_ value: PackedDecimal) -> Int {
      if let packed { return PackedDecimal.compare(value, packed) }
      let double = value.exactDouble.map(NumericValue.double) ?? .decimal(value.decimal ?? .nan)
      return NumericValue.compare(double, number) ?? 0
    }
  }

  private var lower: [Bound] = []
  private var upper: [Bound] = []
  /// Whether it is known to be one number alone. Several decimals may have the same nearest double.
  let isPoint: Bool

  /// The numbers x for which `x comparator number` holds; nil where they are no range. The number is not a NaN.
  init?(_ comparator: FetchComparison.Comparator, _ number: NumericValue) {
    let (open, closed) = (Bound(number, isIncluded: false), Bound(number, isIncluded: true))
    isPoint = comparator == .equalTo && open.isExact
    switch comparator {
    case .equalTo: (lower, upper) = ([closed], [closed])
    case .lessThan: upper = [open]
    case .lessThanOrEqualTo: upper = [closed]
    case .greaterThan: lower = [open]
    case .greaterThanOrEqualTo: lower = [closed]
    default: return nil
    }
  }

  /// The numbers that are in both.
  func intersection(_ other: DecimalRange) -> DecimalRange {
    var both = self
    both.lower += other.lower
    both.upper += other.upper
    return both
  }
}

extension DecimalRange {
  func contains(_ value: PackedDecimal) -> Bool {
    !value.isNotANumber && !isBelow(value) && !isAbove(value)
  }

  /// Whether `value` lies before the range.
  func isBelow(_ value: PackedDecimal) -> Bool {
    if value.isNotANumber { return false }
    return lower.contains { bound in
      let order = bound.compare(value)
      return order < 0 || order == 0 && !bound.isIncluded
    }
  }

  /// Whether `value` lies behind the range; a NaN does.
  func isAbove(_ value: PackedDecimal) -> Bool {
    if value.isNotANumber { return true }
    return upper.contains { bound in
      let order = bound.compare(value)
      return order > 0 || order == 0 && !bound.isIncluded
    }
  }
}
