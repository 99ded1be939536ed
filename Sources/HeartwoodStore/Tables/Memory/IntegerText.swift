import HeartwoodModel

/// Reads and writes integers as decimal text.
package enum IntegerText {
  /// The number of bytes of room that ``write(_:to:)`` needs.
  package static let maximumLength = 20

  /// Returns the number for an optional sign and digits, or nil if there are other bytes, no digits or too many.
  @inline(__always)
  package static func integer(_ text: UnsafeRawBufferPointer) -> Int64? {
    guard let base = text.baseAddress, text.count > 0 else { return nil }
    return integer(base, count: text.count)
  }

  package static func integer(_ base: UnsafeRawPointer, count: Int) -> Int64? {
    let first = base.load(as: UInt8.self)
    let isNegative = first == UInt8(ascii: "-")
    var offset = isNegative || first == UInt8(ascii: "+") ? 1 : 0
    guard offset < count else { return nil }
    // Eighteen digits cannot overflow.
    guard count &- offset <= 18 else { return longInteger(UnsafeRawBufferPointer(start: base, count: count)) }
    var number: Int64 = 0
    while offset < count {
      let digit = base.load(fromByteOffset: offset, as: UInt8.self) &- UInt8(ascii: "0")
      guard digit <= 9 else { return nil }
      number = number &* 10 &+ Int64(digit)
      offset &+= 1
    }
    return isNegative ? 0 &- number : number
  }

  private static func longInteger(_ text: UnsafeRawBufferPointer) -> Int64? {
    Int64(String(decoding: text, as: UTF8.self))
  }

  /// Returns whether `text` is an optional sign and digits, however many.
  package static func isInteger(_ text: UnsafeRawBufferPointer) -> Bool {
    let digits = text.first == UInt8(ascii: "-") || text.first == UInt8(ascii: "+") ? text.dropFirst() : text[...]
    return !digits.isEmpty && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  /// Writes a number to `target`, which must have room for ``maximumLength`` bytes, and returns the number of bytes
  /// written.
  package static func write(_ number: Int64, to target: UnsafeMutableRawPointer) -> Int {
    var rest = number.magnitude
    var length = 0
    if number < 0 {
      target.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self)
      length = 1
    }
    if rest < 100_000_000 { return length &+ writeShort(rest, to: target + length) }
    length &+= digitCount(rest)
    var offset = length
    repeat {
      offset &-= 1
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      target.storeBytes(of: UInt8(truncatingIfNeeded: digit) | 0x30, toByteOffset: offset, as: UInt8.self)
      rest = quotient
    } while rest > 0
    return length
  }

  /// Writes a number of at most eight digits, all digits at once. Bytes after them, up to eight from `target` on, are
  /// changed too.
  @inline(__always)
  private static func writeShort(_ number: UInt64, to target: UnsafeMutableRawPointer) -> Int {
    // Halves of four digits, then quarters of two, then digits, the first one lowest.
    let halves = number / 10_000 | (number % 10_000) &<< 32
    let hundreds = (halves &* 10_486) &>> 20 & 0x0000_007F_0000_007F
    let quarters = hundreds | (halves &- hundreds &* 100) &<< 16
    let tens = (quarters &* 103) &>> 10 & 0x000F_000F_000F_000F
    let digits = tens | (quarters &- tens &* 10) &<< 8
    // A number has at least one digit, even if that is zero.
    let zeros = min(digits.trailingZeroBitCount &>> 3, 7)
    let text = (digits | 0x3030_3030_3030_3030) &>> UInt64(truncatingIfNeeded: zeros &* 8)
    target.storeBytes(of: text, as: UInt64.self)
    return 8 &- zeros
  }

  @inline(__always)
  private static func digitCount(_ number: UInt64) -> Int {
    var (count, limit) = (1, UInt64(10))
    while number >= limit {
      count &+= 1
      let (next, overflow) = limit.multipliedReportingOverflow(by: 10)
      if overflow { break }
      limit = next
    }
    return count
  }
}

// MARK: FloatingPointText

/// Reads floating-point numbers from decimal text, without a string if that is exact.
package enum FloatingPointText {
  /// Returns the number that `text` represents, in the forms of ``NumberText``, or nil if it represents none.
  package static func number<Number: ExactDecimalQuotient>(_ text: UnsafeRawBufferPointer, _ type: Number.Type)
    -> Number?
  {
    shortNumber(text) ?? NumberText.number(String(decoding: text, as: UTF8.self), type)
  }

  /// Returns a number of digits and at most one point. There are so few digits that they, and the power of ten for the
  /// point, are exact, so that one division rounds correctly.
  private static func shortNumber<Number: ExactDecimalQuotient>(_ text: UnsafeRawBufferPointer) -> Number? {
    guard text.count <= 20, let first = text.first else { return nil }
    let isNegative = first == UInt8(ascii: "-")
    var (digits, decimals, count) = (UInt64(0), 0, 0)
    var hasPoint = false
    for byte in text.dropFirst(isNegative ? 1 : 0) {
      if byte == UInt8(ascii: "."), !hasPoint {
        hasPoint = true
        continue
      }
      let digit = byte &- UInt8(ascii: "0")
      guard digit <= 9, count < 18 else { return nil }
      digits = digits &* 10 &+ UInt64(digit)
      count += 1
      decimals += hasPoint ? 1 : 0
    }
    guard count > 0, digits <= Number.greatestExactInteger, decimals < Number.exactPowersOfTen.count else { return nil }
    let number = Number(digits) / Number.exactPowersOfTen[decimals]
    return isNegative ? -number : number
  }
}

/// A floating-point type whose exact integers and powers of ten are known.
package protocol ExactDecimalQuotient: BinaryFloatingPoint, LosslessStringConvertible {
  static var greatestExactInteger: UInt64 { get }
  static var exactPowersOfTen: [Self] { get }
}

extension Double: ExactDecimalQuotient {
  package static var greatestExactInteger: UInt64 { 1 << 53 }
  package static let exactPowersOfTen: [Double] = powersOfTen(22)
}

extension Float: ExactDecimalQuotient {
  package static var greatestExactInteger: UInt64 { 1 << 24 }
  package static let exactPowersOfTen: [Float] = powersOfTen(10)
}

private func powersOfTen<Number: BinaryFloatingPoint>(_ greatest: Int) -> [Number] {
  (0..<greatest).reduce(into: [1]) { powers, _ in powers.append((powers.last ?? 1) * 10) }
}
