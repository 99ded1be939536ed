#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A decimal number as 20 bytes: an unsigned significand of 128 bits, an exponent of 16 bits, a byte that is 1 where it is
/// negative and one that is 1 where it is not a number. The value is ±significand × 10^exponent.
package struct PackedDecimal: BitwiseCopyable, Sendable {
  package static let width = 20
  static let exponents: ClosedRange<Int16> = -128...127

  // Two halves of each 64 bits, so that the 20 bytes need no alignment beyond 4.
  private var significand: (UInt32, UInt32, UInt32, UInt32)
  private var exponent: Int16
  private var isNegative: UInt8
  private var isNaN: UInt8

  package init(_ decimal: Decimal) {
    let words = decimal.isNaN ? 0 : UInt128(decimal.significand.description) ?? 0
    significand = (
      UInt32(truncatingIfNeeded: words), UInt32(truncatingIfNeeded: words >> 32),
      UInt32(truncatingIfNeeded: words >> 64), UInt32(truncatingIfNeeded: words >> 96)
    )
    exponent = decimal.isNaN ? 0 : Int16(clamping: decimal.exponent)
    isNegative = decimal.isSignMinus && !decimal.isNaN ? 1 : 0
    isNaN = decimal.isNaN ? 1 : 0
  }

  /// Whether the bytes stand for a number, or for none, in the one way in which they are written: there is no negative zero,
  /// and what is not a number has zeros in all other places.
  package var isCanonical: Bool {
    guard isNaN <= 1, isNegative <= 1, Self.exponents.contains(exponent) else { return false }
    let isZero = significand.0 | significand.1 | significand.2 | significand.3 == 0
    if isNaN == 1 { return isZero && isNegative == 0 && exponent == 0 }
    return !isZero || isNegative == 0
  }

  /// The number without its sign, to be multiplied by 10 to the power of ``decimalExponent``.
  var magnitude: UInt128 {
    UInt128(significand.0) | UInt128(significand.1) << 32 | UInt128(significand.2) << 64
      | UInt128(significand.3) << 96
  }

  var decimalExponent: Int16 { exponent }
  var isBelowZero: Bool { isNegative != 0 }
  var isNotANumber: Bool { isNaN != 0 }

  /// The number, or nil where the bytes stand for none.
  package var decimal: Decimal? {
    guard isNaN == 0 else { return isNaN == 1 ? .nan : nil }
    guard Self.exponents.contains(exponent), isNegative <= 1 else { return nil }
    let digits = magnitude
    if digits == 0 { return .zero }
    // With its exponent at once: a significand by itself loses its last zeros, and a great exponent has no room for them.
    return Decimal(string: "\(isNegative == 1 ? "-" : "")\(digits)e\(exponent)")
  }
}
