/// A function of predicates. The raw value is its name, with a colon for each argument, as `NSExpression` has it.
public enum FetchFunction: String, Sendable, Hashable, CaseIterable {
  /// The time at which the fetch began.
  case now
  /// The sum of the numbers of a collection; 0 where there are none.
  case sum = "sum:"
  /// How many values a collection has, `nil` among them.
  case count = "count:"
  /// The values of a collection without those that are equal to an earlier one.
  case distinct = "distinct:"
  /// The least value of a collection. `nil` and NaN are left out.
  case min = "min:"
  /// The greatest value of a collection. `nil` and NaN are left out.
  case max = "max:"
  /// The average of the numbers of a collection. `nil` is left out.
  case average = "average:"
  /// The number in the middle of a collection, in order; the average of the two there where their number is even.
  case median = "median:"
  /// The most frequent number; of several, the least.
  case mode = "mode:"
  /// The standard deviation of all of a population.
  case standardDeviation = "stddev:"
  /// The remainder of a division, with the sign of the number that is divided; `nil` for a division by zero.
  case modulus = "modulus:by:"
  /// The number with the other sign.
  case negate = "negate:"
  /// The square root, a double.
  case squareRoot = "sqrt:"
  /// The logarithm to base 10, a double.
  case logarithm = "log:"
  /// The logarithm to base e, a double.
  case naturalLogarithm = "ln:"
  /// The power of e, a double.
  case exponential = "exp:"
  /// The greatest whole number that is not above the number.
  case floor = "floor:"
  /// The least whole number that is not below the number.
  case ceiling = "ceiling:"
  /// The number without its fraction.
  case truncate = "trunc:"
  /// The number without its sign.
  case absolute = "abs:"
  /// The bits that are set in both integers.
  case bitwiseAnd = "bitwiseAnd:with:"
  /// The bits that are set in one of two integers, or in both.
  case bitwiseOr = "bitwiseOr:with:"
  /// The bits that are set in exactly one of two integers.
  case bitwiseXor = "bitwiseXor:with:"
  /// An integer whose bits are moved toward the greatest one. What leaves the 64 bits is lost.
  case leftShift = "leftshift:by:"
  /// An integer whose bits are moved toward the least one. The sign stays.
  case rightShift = "rightshift:by:"
  /// An integer with every bit turned.
  case onesComplement = "onesComplement:"
  /// A string in small letters.
  case lowercase = "lowercase:"
  /// A string in capitals.
  case uppercase = "uppercase:"
  /// A string without case and marks, as `[cd]` compares it.
  case canonical = "canonical:"
  /// The length of a string in UTF-16 code units, as in Core Data.
  case length = "length:"
}

extension FetchFunction {
  /// How many arguments it takes.
  public var argumentCount: Int { rawValue.utf8.count { $0 == UInt8(ascii: ":") } }

  /// The function called `name` in a format string: with or without its colons, in any case.
  init?(name: String) {
    guard let function = Self.byName[name.lowercased()] else { return nil }
    self = function
  }

  private static let byName: [String: FetchFunction] = {
    var names: [String: FetchFunction] = [:]
    for function in allCases where function != .negate {
      let name = function.rawValue.lowercased()
      names[name] = function
      if function.argumentCount == 1 { names[String(name.dropLast())] = function }
    }
    return names
  }()
}
