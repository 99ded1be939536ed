import HeartwoodFoundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The results of operators, functions and casts. If an operand is `nil`, so is the result: `nil + 1` is `nil`.
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

  static func apply(_ function: FetchFunction, _ arguments: [EvaluatedValue]) -> PropertyValue {
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
    // The least integer divided by -1 would overflow, and its remainder is 0.
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

// MARK: Results

extension FetchFunction {
  /// Returns the result of the function for its arguments; null if one of them has no value or is of a type that the
  /// function does not take. It is exactly the result in a predicate that is evaluated in memory, so a store may
  /// register the function with its database.
  ///
  ///     FetchFunction.uppercase.result(of: [.one(.string("ada"))])             // ADA
  ///     FetchFunction.median.result(of: [.many(numbers.map { .one($0) })])
  ///
  /// ``now`` and ``distinct`` have no result here.
  public func result(of arguments: [EvaluatedValue]) -> PropertyValue { Computation.apply(self, arguments) }
}

extension FetchExpression.CastType {
  /// Returns `value` as one of this type, as a cast in a predicate does; null if it cannot be converted.
  public func value(of value: PropertyValue) -> PropertyValue { Computation.cast(value, to: self) }
}

// MARK: Casts

extension Computation {
  /// Returns the value as one of `type`, or null if it cannot be converted.
  package static func cast(_ value: PropertyValue, to type: FetchExpression.CastType) -> PropertyValue {
    if value.isNull || value.fits(type.attributeType) { return value }
    switch (value, type) {
    case (.string(let text), _): return self.value(of: text, type) ?? .null
    case (_, .string): return text(value)
    case (.date(let date), _): return number(.double(date.timeIntervalSinceReferenceDate), as: type)
    default: return NumericValue(value).map { number($0, as: type) } ?? .null
    }
  }

  /// Returns the value of a text, in which a date may also have the form of people and dumps.
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

  /// Returns the number without its fraction, or null if it is too large.
  private static func integer(_ number: NumericValue) -> PropertyValue {
    if let exact = number.exactInteger { return .integer(exact) }
    return Int64(exactly: number.double.rounded(.towardZero)).map(PropertyValue.integer) ?? .null
  }
}

// MARK: Statistics

/// The results of functions of a collection of numbers. `nil` is ignored, except by counts.
package enum Statistics {
  static func apply(_ symbol: CollectionOperator, _ values: [PropertyValue]) -> PropertyValue {
    switch symbol {
    case .count: .integer(Int64(values.count))
    case .sum: apply(FetchFunction.sum, values)
    case .min: apply(FetchFunction.min, values)
    case .max: apply(FetchFunction.max, values)
    case .average: apply(FetchFunction.average, values)
    case .union, .distinctUnion: .null
    }
  }

  package static func apply(_ function: FetchFunction, _ values: [PropertyValue]) -> PropertyValue {
    switch function {
    case .count: return .integer(Int64(values.count))
    case .min: return extreme(values) { $0 < 0 }
    case .max: return extreme(values) { $0 > 0 }
    default: break
    }
    let numbers = values.compactMap { NumericValue($0) }
    if function == .sum { return sum(numbers).propertyValue }
    guard !numbers.isEmpty else { return .null }
    switch function {
    case .average: return average(numbers)
    case .median: return median(numbers)
    case .mode: return mode(numbers)
    case .standardDeviation: return .double(standardDeviation(numbers))
    default: return .null
    }
  }

  /// Returns the sum, which is 0 if there are no numbers.
  static func sum(_ numbers: [NumericValue]) -> NumericValue {
    var sum = NumberSum()
    for number in numbers { sum.add(number) }
    return sum.value
  }

  private static func average(_ numbers: [NumericValue]) -> PropertyValue {
    average(sum(numbers), Int64(numbers.count))
  }

  /// Returns the average of `count` numbers with the sum `total`; null if there are none.
  static func average(_ total: NumericValue, _ count: Int64) -> PropertyValue {
    if count == 0 { return .null }
    guard case .decimal = total else { return .double(total.double / Double(count)) }
    return NumericValue.apply(.divide, total, .integer(count))?.propertyValue ?? .null
  }

  private static func median(_ numbers: [NumericValue]) -> PropertyValue {
    let sorted = numbers.filter { !$0.isNaN }.sorted { NumericValue.compare($0, $1) ?? 0 < 0 }
    guard !sorted.isEmpty else { return .null }
    let middle = sorted.count / 2
    if !sorted.count.isMultiple(of: 2) { return sorted[middle].propertyValue }
    return average([sorted[middle - 1], sorted[middle]])
  }

  private static func mode(_ numbers: [NumericValue]) -> PropertyValue {
    var counts: [PropertyValue: Int] = [:]
    for number in numbers { counts[number.propertyValue, default: 0] += 1 }
    let most = counts.values.max() ?? 0
    return extreme(counts.filter { $0.value == most }.map(\.key)) { $0 < 0 }
  }

  private static func standardDeviation(_ numbers: [NumericValue]) -> Double {
    let mean = numbers.reduce(0) { $0 + $1.double } / Double(numbers.count)
    let squares = numbers.reduce(0) { $0 + ($1.double - mean) * ($1.double - mean) }
    return (squares / Double(numbers.count)).squareRoot()
  }

  /// Returns the least or the greatest value; null if there is none. NaN is ignored.
  private static func extreme(_ values: [PropertyValue], _ isBetter: (Int) -> Bool) -> PropertyValue {
    let comparison = ScalarComparison([])
    var best = PropertyValue.null
    for value in values where !value.isNull && !value.isNaN {
      if best.isNull || comparison.order(value, best).map(isBetter) ?? false { best = value }
    }
    return best
  }
}

// MARK: FloatingPointFunctions

/// The functions of the C library that predicates have.
enum FloatingPointFunctions {
  static func power(_ base: Double, _ exponent: Double) -> Double { pow(base, exponent) }

  /// Returns the result of a function of one number, or nil if it is not one of these.
  static func apply(_ function: FetchFunction, _ number: Double) -> Double? {
    switch function {
    case .squareRoot: number.squareRoot()
    case .logarithm: log10(number)
    case .naturalLogarithm: log(number)
    case .exponential: exp(number)
    default: nil
    }
  }
}
