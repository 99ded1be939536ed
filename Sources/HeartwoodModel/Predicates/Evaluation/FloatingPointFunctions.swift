#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The functions of C's library that predicates have.
enum FloatingPointFunctions {
  static func power(_ base: Double, _ exponent: Double) -> Double { pow(base, exponent) }

  /// What a function of one number gives, or nil where it is none of these.
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
