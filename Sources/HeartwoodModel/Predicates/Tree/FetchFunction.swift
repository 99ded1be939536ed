/// A function of predicates. The raw value is its name, with a colon for each argument, as `NSExpression` has it.
public enum FetchFunction: String, Sendable, Hashable, CaseIterable {
  /// The time at which the fetch began.
  case now
  case sum = "sum:"
  case count = "count:"
  /// The values of a collection without those that are equal to an earlier one.
  case distinct = "distinct:"
  case min = "min:"
  case max = "max:"
  case average = "average:"
  case median = "median:"
  /// The most frequent number; of several, the least.
  case mode = "mode:"
  /// The standard deviation of all of a population.
  case standardDeviation = "stddev:"
  case modulus = "modulus:by:"
  case negate = "negate:"
  case squareRoot = "sqrt:"
  case logarithm = "log:"
  case naturalLogarithm = "ln:"
  case exponential = "exp:"
  case floor = "floor:"
  case ceiling = "ceiling:"
  case truncate = "trunc:"
  case absolute = "abs:"
  case bitwiseAnd = "bitwiseAnd:with:"
  case bitwiseOr = "bitwiseOr:with:"
  case bitwiseXor = "bitwiseXor:with:"
  case leftShift = "leftshift:by:"
  case rightShift = "rightshift:by:"
  case onesComplement = "onesComplement:"
  case lowercase = "lowercase:"
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
