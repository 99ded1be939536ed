import HeartwoodFoundation
import HeartwoodModel

/// The numbers that satisfy a comparison with a constant, as a range, so that every comparison is the same loop.
enum NumberRange {
  /// The integers between two bounds; none if the lower is above the upper.
  struct Integers: Sendable, Equatable {
    var lower: Int64
    var upper: Int64

    static let none = Integers(lower: 1, upper: 0)
    var isEmpty: Bool { lower > upper }

    func intersection(_ other: Integers) -> Integers {
      Integers(lower: max(lower, other.lower), upper: min(upper, other.upper))
    }
  }

  /// The floating-point numbers between two bounds, inclusive; none if one is a NaN or the lower is above the upper.
  struct Doubles: Sendable, Equatable {
    var lower: Double
    var upper: Double

    static let none = Doubles(lower: .nan, upper: .nan)

    func intersection(_ other: Doubles) -> Doubles {
      if lower.isNaN || other.lower.isNaN || upper.isNaN || other.upper.isNaN { return .none }
      return Doubles(lower: max(lower, other.lower), upper: min(upper, other.upper))
    }
  }
}

extension NumberRange.Integers {
  /// Makes the range of the integers x for which `x comparator number` holds; nil if they are no range.
  init?(_ comparator: FetchComparison.Comparator, _ number: NumericValue) {
    switch number {
    case .integer(let bound): self.init(comparator, floor: bound, isExact: true)
    case .double(let bound):
      if bound.isNaN {
        self = .none
      } else if bound >= 0x1p63 || bound < -0x1p63 {
        self.init(comparator, isBelow: bound < 0)
      } else {
        self.init(comparator, floor: Int64(bound.rounded(.down)), isExact: bound.rounded(.down) == bound)
      }
    case .decimal:
      guard let exact = number.exactInteger else { return nil }
      self.init(comparator, floor: exact, isExact: true)
    }
  }

  /// - Parameters:
  ///   - floor: the number without its fraction, rounded towards negative infinity.
  ///   - isExact: whether the number has no fraction.
  private init?(_ comparator: FetchComparison.Comparator, floor: Int64, isExact: Bool) {
    switch comparator {
    case .equalTo: self = isExact ? Self(lower: floor, upper: floor) : .none
    case .lessThanOrEqualTo: self = Self(lower: .min, upper: floor)
    case .lessThan where !isExact: self = Self(lower: .min, upper: floor)
    case .lessThan: self = floor == .min ? .none : Self(lower: .min, upper: floor - 1)
    case .greaterThanOrEqualTo where isExact: self = Self(lower: floor, upper: .max)
    case .greaterThan, .greaterThanOrEqualTo: self = floor == .max ? .none : Self(lower: floor + 1, upper: .max)
    default: return nil
    }
  }

  /// Makes the range for a comparison with a number that lies below all integers, or above all.
  private init?(_ comparator: FetchComparison.Comparator, isBelow: Bool) {
    let all = Self(lower: .min, upper: .max)
    switch comparator {
    case .equalTo: self = .none
    case .lessThan, .lessThanOrEqualTo: self = isBelow ? .none : all
    case .greaterThan, .greaterThanOrEqualTo: self = isBelow ? all : .none
    default: return nil
    }
  }
}

extension NumberRange.Doubles {
  /// Makes the range of the numbers x for which `x comparator number` holds; nil if they are no range of doubles.
  init?(_ comparator: FetchComparison.Comparator, _ number: NumericValue) {
    if case .integer(let exact) = number, Int64(exactly: Double(exact)) != exact { return nil }
    let bound = number.double
    // A NaN equals another: see ScalarComparison.
    if bound.isNaN, comparator == .equalTo { return nil }
    if bound.isNaN {
      self = .none
      return
    }
    switch comparator {
    case .equalTo: self = Self(lower: bound, upper: bound)
    case .lessThanOrEqualTo: self = Self(lower: -.infinity, upper: bound)
    case .lessThan: self = bound == -.infinity ? .none : Self(lower: -.infinity, upper: bound.nextDown)
    case .greaterThanOrEqualTo: self = Self(lower: bound, upper: .infinity)
    case .greaterThan: self = bound == .infinity ? .none : Self(lower: bound.nextUp, upper: .infinity)
    default: return nil
    }
  }
}

// MARK: DecimalRange

/// The decimal numbers between two bounds. A NaN is in no range.
struct DecimalRange: Sendable {
  /// The bound at an end of the range.
  struct Bound: Sendable {
    let number: NumericValue
    let isIncluded: Bool
    /// The number, if decimals are compared with it as decimals.
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

    /// Returns a number below 0 if `value`, which is not a NaN, is less than the bound.
    func compare(_ value: PackedDecimal) -> Int {
      if let packed { return PackedDecimal.compare(value, packed) }
      let double = value.exactDouble.map(NumericValue.double) ?? .decimal(value.decimal ?? .nan)
      return NumericValue.compare(double, number) ?? 0
    }
  }

  private var lower: [Bound] = []
  private var upper: [Bound] = []
  /// Whether the range is known to be one number alone. Several decimals may have the same nearest double.
  let isPoint: Bool

  /// Makes the range of the numbers x for which `x comparator number` holds; nil if they are no range. The number is
  /// not a NaN.
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

  /// Returns the numbers that are in both.
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

  /// Returns whether `value` lies before the range.
  func isBelow(_ value: PackedDecimal) -> Bool {
    if value.isNotANumber { return false }
    return lower.contains { bound in
      let order = bound.compare(value)
      return order < 0 || order == 0 && !bound.isIncluded
    }
  }

  /// Returns whether `value` lies after the range; a NaN does.
  func isAbove(_ value: PackedDecimal) -> Bool {
    if value.isNotANumber { return true }
    return upper.contains { bound in
      let order = bound.compare(value)
      return order > 0 || order == 0 && !bound.isIncluded
    }
  }
}
