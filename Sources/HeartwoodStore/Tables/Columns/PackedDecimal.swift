package import HeartwoodFoundation

/// A decimal number as 20 bytes: an unsigned significand of 128 bits, an exponent of 16 bits, a byte that is 1 if it is
/// negative and one that is 1 if it is not a number. The value is ±significand × 10^exponent.
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

  /// Whether the bytes are the canonical form of a number or of a NaN: there is no negative zero, and all other bytes
  /// of a NaN are zero.
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

  /// The number, or nil if the bytes represent none.
  package var decimal: Decimal? {
    guard isNaN == 0 else { return isNaN == 1 ? .nan : nil }
    guard Self.exponents.contains(exponent), isNegative <= 1 else { return nil }
    let digits = magnitude
    if digits == 0 { return .zero }
    // The text includes the exponent: a significand by itself loses its trailing zeros, and a great exponent has no
    // room for them.
    return Decimal(string: "\(isNegative == 1 ? "-" : "")\(digits)e\(exponent)")
  }
}

// MARK: Order

/// Compares decimal numbers exactly, without creating `Decimal` values.
extension PackedDecimal {
  /// The powers of 10 from 0 on, as many as fit.
  private static let powers: [UInt128] = sequence(first: UInt128(1)) {
    let (next, overflow) = $0.multipliedReportingOverflow(by: 10)
    return overflow ? nil : next
  }.map(\.self)

  private static let digitsOfLead = 16
  private static let bitsOfLeadDigits: UInt64 = 54

  /// Returns the number of digits of an integer that is not 0.
  private static func digitCount(_ number: UInt128) -> Int {
    // A digit takes a bit more than 1233 / 4096 of a bit's worth; the estimate is right or one too small.
    let estimate = ((UInt128.bitWidth - number.leadingZeroBitCount) * 1233) >> 12
    return estimate < powers.count && powers[estimate] <= number ? estimate + 1 : estimate
  }

  /// A number that is less for a smaller decimal, and the same for decimals with the same first sixteen digits; 0 for
  /// none of them. That of a NaN is the greatest.
  var lead: UInt64 {
    if isNotANumber { return .max }
    let magnitude = magnitude
    if magnitude == 0 { return 1 << 63 }
    let digits = Self.digitCount(magnitude)
    let shift = digits - Self.digitsOfLead
    let first = shift > 0 ? magnitude / Self.powers[shift] : magnitude * Self.powers[-shift]
    let scale = UInt64(clamping: digits + Int(decimalExponent) - Int(Self.exponents.lowerBound))
    let bits = scale << Self.bitsOfLeadDigits | UInt64(truncatingIfNeeded: first)
    return isBelowZero ? (1 << 63) - 1 - bits : 1 << 63 | bits
  }

  /// Returns a number below 0 if `left` comes first, 0 if both are equal. NaNs are equal, and come last.
  static func compare(_ left: PackedDecimal, _ right: PackedDecimal) -> Int {
    let (first, second) = (left.lead, right.lead)
    if first != second { return first < second ? -1 : 1 }
    if left.isNotANumber { return 0 }
    let order = compareMagnitudes(left, right)
    return left.isBelowZero ? -order : order
  }

  private static func compareMagnitudes(_ left: PackedDecimal, _ right: PackedDecimal) -> Int {
    let difference = Int(left.decimalExponent) - Int(right.decimalExponent)
    if difference < 0 { return -compareMagnitudes(right, left) }
    let (a, b) = (left.magnitude, right.magnitude)
    if a == 0 || b == 0 { return a == b ? 0 : a == 0 ? -1 : 1 }
    // A number beyond 128 bits is greater than any within.
    guard difference < powers.count else { return 1 }
    let (scaled, overflow) = a.multipliedReportingOverflow(by: powers[difference])
    return overflow || scaled > b ? 1 : scaled == b ? 0 : -1
  }

  /// The nearest double, if one exact division or multiplication yields it.
  var exactDouble: Double? {
    let magnitude = magnitude
    guard !isNotANumber, magnitude <= 1 << 53, abs(Int(decimalExponent)) <= 22 else { return nil }
    let number = Double(UInt64(truncatingIfNeeded: magnitude))
    let power =
      Double(UInt64(truncatingIfNeeded: Self.powers[min(19, abs(Int(decimalExponent)))]))
      * Double(UInt64(truncatingIfNeeded: Self.powers[max(0, abs(Int(decimalExponent)) - 19)]))
    let value = decimalExponent < 0 ? number / power : number * power
    return isBelowZero ? -value : value
  }
}
