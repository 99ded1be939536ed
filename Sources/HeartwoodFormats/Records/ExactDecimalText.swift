import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Reads and writes doubles as decimal text with a fixed number of digits after the point, exactly, without a string.
enum ExactDecimalText {
  private static let tenToTheTenth: UInt64 = 10_000_000_000
  private static let tenToTheTwentieth = UInt128(tenToTheTenth) * UInt128(tenToTheTenth)
  private static let powersOfFive: [UInt64] = (0..<27).reduce(into: [1]) { powers, _ in
    powers.append((powers.last ?? 1) * 5)
  }

  // MARK: Writing

  /// Appends `number` rounded to 20 digits after the point, as C prints it for `%.20f`. Returns false, and appends
  /// nothing, if that could not be read back as the same number, or if it has no such text: then another form is
  /// needed.
  static func append(_ number: Double, to buffer: inout TextBuffer) -> Bool {
    let magnitude = number.magnitude
    // Below 2^63 the part before the point is an integer of 64 bits.
    guard magnitude < 9.2e18 else { return false }
    var whole = UInt64(magnitude)
    var fraction = UInt128(0)
    let rest = magnitude - Double(whole)
    if rest > 0 {
      // Smaller numbers lose digits.
      guard magnitude >= 1e-3 else { return false }
      fraction = scaledFraction(rest)
      if fraction == tenToTheTwentieth {
        whole += 1
        fraction = 0
      }
    }
    if number.sign == .minus { buffer.append(UInt8(ascii: "-")) }
    appendUnsigned(whole, to: &buffer)
    buffer.append(UInt8(ascii: "."))
    let (high, low) = fraction.quotientAndRemainder(dividingBy: UInt128(tenToTheTenth))
    appendTenDigits(UInt64(truncatingIfNeeded: high), to: &buffer)
    appendTenDigits(UInt64(truncatingIfNeeded: low), to: &buffer)
    return true
  }

  /// Returns a number from 0 to 1, times 10^20, rounded to the nearest, and to the even one of two.
  private static func scaledFraction(_ number: Double) -> UInt128 {
    // number = significand / 2^shift, and the product has less than 53 + 67 bits.
    let significand = number.significandBitPattern | 1 << 52
    let shift = 52 - Int(number.exponent)
    let product = UInt128(significand) * tenToTheTwentieth
    guard shift < 128 else { return 0 }
    let quotient = product >> UInt128(shift)
    let rest = product & (1 << UInt128(shift) - 1)
    let half = UInt128(1) << UInt128(shift - 1)
    let roundsUp = rest > half || (rest == half && quotient & 1 == 1)
    return quotient + (roundsUp ? 1 : 0)
  }

  private static func appendUnsigned(_ number: UInt64, to buffer: inout TextBuffer) {
    buffer.append(digitsOf: Int64(truncatingIfNeeded: number))
  }

  @inline(__always)
  private static func appendTenDigits(_ number: UInt64, to buffer: inout TextBuffer) {
    buffer.reserve(10)
    var rest = number
    for place in stride(from: 9, through: 0, by: -1) {
      buffer.end.storeBytes(of: UInt8(truncatingIfNeeded: rest % 10) | 0x30, toByteOffset: place, as: UInt8.self)
      rest /= 10
    }
    buffer.advance(10)
  }

  // MARK: Reading

  /// Returns the nearest double for digits and at most one point, or nil if there are other bytes or too many digits:
  /// then another reader has to be used.
  static func number(_ text: UnsafeRawBufferPointer) -> Double? {
    var length = text.count
    while length > 1, text[length &- 1] == UInt8(ascii: "0") { length &-= 1 }
    guard let number = scanned(text, length) else { return nil }
    // Without a point, the trailing zeros are significant.
    guard number.hasPoint || length == text.count else { return scanned(text, text.count).flatMap(value) }
    return value(number)
  }

  /// Digits, of which the last ``decimals`` are after the point.
  private struct Scan {
    var digits = UInt128(0)
    var count = 0
    var decimals = 0
    var hasPoint = false
    var isNegative = false
  }

  /// Returns the digits in the first `length` bytes; nil if there are other bytes or too many digits.
  @inline(__always)
  private static func scanned(_ text: UnsafeRawBufferPointer, _ length: Int) -> Scan? {
    var scan = Scan()
    scan.isNegative = text.first == UInt8(ascii: "-")
    var offset = scan.isNegative ? 1 : 0
    while offset < length {
      let byte = text[offset]
      offset &+= 1
      if byte == UInt8(ascii: "."), !scan.hasPoint {
        scan.hasPoint = true
        continue
      }
      let digit = byte &- UInt8(ascii: "0")
      // 10^37 is below 2^123, which leaves room to shift.
      guard digit <= 9, scan.count < 37 else { return nil }
      scan.digits = scan.digits &* 10 &+ UInt128(digit)
      scan.count &+= 1
      scan.decimals &+= scan.hasPoint ? 1 : 0
    }
    return scan
  }

  private static func value(_ scan: Scan) -> Double? {
    guard scan.count > 0, scan.decimals < powersOfFive.count else { return nil }
    let isInteger = scan.decimals == 0 && scan.digits >> 64 == 0
    let magnitude =
      isInteger ? Double(UInt64(truncatingIfNeeded: scan.digits)) : quotient(scan.digits, scan.decimals)
    return scan.isNegative ? -magnitude : magnitude
  }

  /// Returns the double nearest to digits / 10^power.
  private static func quotient(_ digits: UInt128, _ power: Int) -> Double {
    if digits == 0 { return 0 }
    // digits / 5^power has at least 60 bits: the remainder of the division only determines the side of a half.
    let divisor = UInt128(powersOfFive[power])
    let shift = digits.leadingZeroBitCount
    let (quotient, rest) = (digits << UInt128(shift)).quotientAndRemainder(dividingBy: divisor)
    let sticky = quotient | (rest == 0 ? 0 : 1)
    return Double(sign: .plus, exponent: -(shift + power), significand: rounded(sticky))
  }

  /// Returns the double nearest to an integer. Its lowest bit represents all that is below it.
  private static func rounded(_ number: UInt128) -> Double {
    let excess = UInt128.bitWidth - number.leadingZeroBitCount - 64
    guard excess > 0 else { return Double(UInt64(truncatingIfNeeded: number)) }
    let lost = number & (1 << UInt128(excess) - 1)
    let kept = UInt64(truncatingIfNeeded: number >> UInt128(excess)) | (lost == 0 ? 0 : 1)
    return Double(sign: .plus, exponent: excess, significand: Double(kept))
  }
}

// MARK: DecimalTextCheck

/// Checks that decimal numbers can be read back from their text.
struct DecimalTextCheck {
  let storeType: StoreType

  /// - Throws: ``PersistenceError/Code/valueUnsupported``.
  func check(_ table: NodeTable) throws(PersistenceError) {
    for (ordinal, property) in table.entity.properties.enumerated()
    where property.attribute?.type == .decimal && !property.isTransient {
      for group in table.groups where !Self.isReadable(group, group.unsafeViews[ordinal]) {
        throw PersistenceError(
          .valueUnsupported,
          Self.reason,
          recovery: Self.recovery,
          context: .init(storeType: storeType, entity: table.entity.name, property: property.name)
        )
      }
    }
  }

  static let reason = "The decimal number cannot be read back from its text."
  static let recovery: PersistenceError.Recovery = "Change it."

  /// Returns whether all numbers of a column can be read back.
  static func isReadable(_ group: RowGroup, _ view: ColumnView) -> Bool {
    for row in 0..<group.rowCount where group.isLive(row) && !view.unsafeIsNull(row) {
      let value = PropertyValue.decimal(view.unsafeDecimal(row))
      if value.text(of: .decimal).flatMap({ PropertyValue(text: $0, type: .decimal) }) != value { return false }
    }
    return true
  }
}
