#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What operators, functions and casts make of values. `nil` in gives `nil`: `nil + 1` is `nil`.
package enum Computation {
  static func arithmetic(
    _ left: PropertyValue,
    _ symbol: FetchExpression.ArithmeticOperator,
    _ right: PropertyValue
  ) -> PropertyValue {
    switch (left, symbol, right) {
    case (.date(let a), .subtract, .date(let b)):
      return .double(a.timeIntervalSinceReferenceDate - b.timeIntervalSinceReferenceDate)
    case (.date(let date), .add, _), (.date(let date), .subtract, _):
      guard let seconds = NumericValue(right)?.double else { return .null }
      let sum = date.timeIntervalSinceReferenceDate + (symbol == .add ? seconds : -seconds)
      return .date(Date(timeIntervalSinceReferenceDate: sum))
    default:
      guard let a = NumericValue(left), let b = NumericValue(right) else { return .null }
      return NumericValue.apply(symbol, a, b)?.propertyValue ?? .null
    }
  }

  package static func apply(_ function: FetchFunction, _ arguments: [PlanValue]) -> PropertyValue {
    guard let first = arguments.first else { return .null }
    switch function {
    case .now, .distinct: return .null
    case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation:
      return Statistics.apply(function, first.elements.map(\.scalar))
    case .lowercase, .uppercase, .canonical, .length: return text(function, first.scalar)
    case .modulus, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift:
      return integers(function, first.scalar, arguments.count > 1 ? arguments[1].scalar : .null)
    default: return NumericValue(first.scalar).flatMap { number(function, $0) }?.propertyValue ?? .null
    }
  }
}

extension Computation {
  private static func text(_ function: FetchFunction, _ value: PropertyValue) -> PropertyValue {
    guard case .string(let text) = value else { return .null }
    switch function {
    case .lowercase: return .string(text.lowercased())
    case .uppercase: return .string(text.uppercased())
    case .canonical: return .string(String(decoding: TextFolding.caseAndMarks.folded(text), as: UTF8.self))
    default: return .integer(Int64(text.utf16.count))
    }
  }

  private static func integers(_ function: FetchFunction, _ left: PropertyValue, _ right: PropertyValue)
    -> PropertyValue
  {
    guard let a = NumericValue(left), let b = NumericValue(right) else { return .null }
    guard let x = a.exactInteger, let y = b.exactInteger else {
      guard function == .modulus, b.double != 0 else { return .null }
      return .double(a.double.truncatingRemainder(dividingBy: b.double))
    }
    switch function {
    // The least integer by -1 would overflow, and has no remainder.
    case .modulus: return y == 0 ? .null : .integer(y == -1 ? 0 : x % y)
    case .bitwiseAnd: return .integer(x & y)
    case .bitwiseOr: return .integer(x | y)
    case .bitwiseXor: return .integer(x ^ y)
    case .leftShift: return .integer(x << y)
    default: return .integer(x >> y)
    }
  }

  private static func number(_ function: FetchFunction, _ number: NumericValue) -> NumericValue? {
    switch function {
    case .negate: return NumericValue.apply(.subtract, .integer(0), number)
    case .absolute:
      let isNegative = NumericValue.compare(number, .integer(0)).map { $0 < 0 } ?? false
      return isNegative ? NumericValue.apply(.subtract, .integer(0), number) : number
    case .onesComplement: return number.exactInteger.map { .integer(~$0) }
    case .floor: return rounded(number, .down)
    case .ceiling: return rounded(number, .up)
    case .truncate: return rounded(number, .towardZero)
    default: return FloatingPointFunctions.apply(function, number.double).map(NumericValue.double)
    }
  }

  private static func rounded(_ number: NumericValue, _ rule: FloatingPointRoundingRule) -> NumericValue {
    if case .integer = number { return number }
    return .double(number.double.rounded(rule))
  }
}

// MARK: Casts

extension Computation {
  /// The value as one of `type`, or nothing where it has no such form.
  package static func cast(_ value: PropertyValue, to type: FetchExpression.CastType) -> PropertyValue {
    if value.isNull || value.fits(type.attributeType) { return value }
    switch (value, type) {
    case (.string(let text), _): return self.value(of: text, type) ?? .null
    case (_, .string): return text(value)
    case (.date(let date), _): return number(.double(date.timeIntervalSinceReferenceDate), as: type)
    default: return NumericValue(value).map { number($0, as: type) } ?? .null
    }
  }

  /// The value that a text stands for; a date is also written as people and dumps write it.
  static func value(of text: String, _ type: FetchExpression.CastType) -> PropertyValue? {
    if let value = PropertyValue(text: text, type: type.attributeType) { return value }
    guard type == .date, let seconds = DateText.seconds(text) else { return nil }
    return .date(Date(timeIntervalSinceReferenceDate: seconds))
  }

  private static func text(_ value: PropertyValue) -> PropertyValue {
    if case .toOne(let id) = value { return .string(id.description) }
    let text = FetchExpression.CastType.allCases.lazy.compactMap { value.text(of: $0.attributeType) }.first
    return text.map(PropertyValue.string) ?? .null
  }

  private static func number(_ number: NumericValue, as type: FetchExpression.CastType) -> PropertyValue {
    switch type {
    case .integer: return integer(number)
    case .double: return .double(number.double)
    case .float: return .float(Float(number.double))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: number.double))
    case .boolean: return number.isNaN ? .null : .boolean(NumericValue.compare(number, .integer(0)) != 0)
    case .decimal:
      if case .integer(let exact) = number { return .decimal(Decimal(exact)) }
      return NumberText.decimal(NumberText.text(of: number.double)).map(PropertyValue.decimal) ?? .null
    case .string, .binary, .uuid, .uri: return .null
    }
  }

  /// The number without its fraction, or nothing where it is too large.
  private static func integer(_ number: NumericValue) -> PropertyValue {
    if let exact = number.exactInteger { return .integer(exact) }
    return Int64(exactly: number.double.rounded(.towardZero)).map(PropertyValue.integer) ?? .null
  }
}
