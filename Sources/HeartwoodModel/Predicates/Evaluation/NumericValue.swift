package import HeartwoodFoundation

/// A number of any type, as predicates compute and compare it.
package enum NumericValue: Sendable {
  case integer(Int64)
  case decimal(Decimal)
  case double(Double)

  /// Returns the number of `value`, 0 or 1 for a boolean, and nil for other values.
  package init?(_ value: PropertyValue) {
    switch value {
    case .integer(let number): self = .integer(number)
    case .boolean(let flag): self = .integer(flag ? 1 : 0)
    case .decimal(let number): self = .decimal(number)
    case .double(let number): self = .double(number)
    case .float(let number): self = .double(Double(number))
    default: return nil
    }
  }

  package var propertyValue: PropertyValue {
    switch self {
    case .integer(let number): .integer(number)
    case .decimal(let number): .decimal(number)
    case .double(let number): .double(number)
    }
  }

  package var double: Double {
    switch self {
    case .integer(let number): Double(number)
    case .decimal(let number): Self.double(number)
    case .double(let number): number
    }
  }

  /// Converts by way of text, so that the result is the nearest double.
  private static func double(_ decimal: Decimal) -> Double {
    decimal.isNaN ? .nan : Double(decimal.description) ?? .nan
  }

  package var isNaN: Bool {
    switch self {
    case .integer: false
    case .decimal(let number): number.isNaN
    case .double(let number): number.isNaN
    }
  }

  var isFinite: Bool {
    switch self {
    case .integer: true
    case .decimal(let number): !number.isNaN
    case .double(let number): number.isFinite
    }
  }

  /// The number as an integer; nil if it is none.
  package var exactInteger: Int64? {
    switch self {
    case .integer(let number): number
    case .decimal(let number): number.isNaN ? nil : Int64(number.description)
    case .double(let number): Int64(exactly: number)
    }
  }
}

// MARK: Order

extension NumericValue {
  /// Returns a negative number if `left` is less, a positive one if it is greater, and 0 if both are equal. Returns nil
  /// if one is NaN, which has no order.
  ///
  /// An integer and a double are compared exactly; a decimal and a double are compared as doubles.
  package static func compare(_ left: NumericValue, _ right: NumericValue) -> Int? {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): return a < b ? -1 : a == b ? 0 : 1
    case (.integer(let a), .double(let b)): return compare(a, b)
    case (.double(let a), .integer(let b)): return compare(b, a).map { -$0 }
    case (.double, _), (_, .double): return compare(left.double, right.double)
    default:
      guard let a = left.decimal, let b = right.decimal, !a.isNaN, !b.isNaN else { return nil }
      return a < b ? -1 : a == b ? 0 : 1
    }
  }

  private static func compare(_ a: Double, _ b: Double) -> Int? {
    a < b ? -1 : a == b ? 0 : a > b ? 1 : nil
  }

  private static func compare(_ a: Int64, _ b: Double) -> Int? {
    if b.isNaN { return nil }
    // 2^63 is the least double that is greater than every Int64.
    if b >= 0x1p63 { return -1 }
    if b < -0x1p63 { return 1 }
    let whole = b.rounded(.down)
    let floor = Int64(whole)
    if a != floor { return a < floor ? -1 : 1 }
    return whole < b ? -1 : 0
  }

  fileprivate var decimal: Decimal? {
    switch self {
    case .integer(let number): Decimal(number)
    case .decimal(let number): number
    case .double: nil
    }
  }
}

// MARK: Arithmetic

extension NumericValue {
  /// Returns the result of an operator; nil for the division of an integer by zero.
  ///
  /// Integers stay integers, and become doubles if the result is too large. A decimal and an integer make a decimal,
  /// and a double and any other number make a double.
  static func apply(
    _ symbol: FetchExpression.ArithmeticOperator,
    _ left: NumericValue,
    _ right: NumericValue
  ) -> NumericValue? {
    switch (left, right) {
    case (.integer(let a), .integer(let b)): return integer(symbol, a, b)
    case (.double, _), (_, .double): return .double(double(symbol, left.double, right.double))
    default:
      guard let a = left.decimal, let b = right.decimal else { return nil }
      return decimal(symbol, a, b)
    }
  }

  private static func integer(_ symbol: FetchExpression.ArithmeticOperator, _ a: Int64, _ b: Int64) -> NumericValue? {
    let (result, overflow): (Int64, Bool)
    switch symbol {
    case .add: (result, overflow) = a.addingReportingOverflow(b)
    case .subtract: (result, overflow) = a.subtractingReportingOverflow(b)
    case .multiply: (result, overflow) = a.multipliedReportingOverflow(by: b)
    case .divide:
      if b == 0 { return nil }
      (result, overflow) = a.dividedReportingOverflow(by: b)
    case .power:
      return power(a, b).map(NumericValue.integer) ?? .double(double(.power, Double(a), Double(b)))
    }
    return overflow ? .double(double(symbol, Double(a), Double(b))) : .integer(result)
  }

  /// Returns the power, if it is an integer that fits.
  private static func power(_ base: Int64, _ exponent: Int64) -> Int64? {
    guard exponent >= 0 else { return nil }
    if base == 0 || base == 1 { return exponent == 0 ? 1 : base }
    if base == -1 { return exponent.isMultiple(of: 2) ? 1 : -1 }
    guard exponent < 64 else { return nil }
    var result: Int64 = 1
    for _ in 0..<exponent {
      let (product, overflow) = result.multipliedReportingOverflow(by: base)
      if overflow { return nil }
      result = product
    }
    return result
  }

  private static func double(_ symbol: FetchExpression.ArithmeticOperator, _ a: Double, _ b: Double) -> Double {
    switch symbol {
    case .add: a + b
    case .subtract: a - b
    case .multiply: a * b
    case .divide: a / b
    case .power: FloatingPointFunctions.power(a, b)
    }
  }

  private static func decimal(
    _ symbol: FetchExpression.ArithmeticOperator,
    _ a: Decimal,
    _ b: Decimal
  ) -> NumericValue? {
    switch symbol {
    case .add: return .decimal(a + b)
    case .subtract: return .decimal(a - b)
    case .multiply: return .decimal(a * b)
    case .divide: return b == 0 ? nil : .decimal(a / b)
    case .power: return .double(FloatingPointFunctions.power(double(a), double(b)))
    }
  }
}
