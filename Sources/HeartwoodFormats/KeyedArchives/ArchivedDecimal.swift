public import HeartwoodFoundation
import HeartwoodModel

/// A decimal number as `NSDecimalNumber` archives it: its digits as units of 16 bits, the least significant one first,
/// and the power of ten by which they are multiplied.
@_spi(CoreDataFiles)
public struct ArchivedDecimal {
  /// The greatest number of units.
  public static let mostUnits = 8
  /// Foundation's number for the little-endian byte order.
  private static let littleEndian = 1

  private let units: [UInt16]
  private let exponent: Int
  private let isNegative: Bool

  /// - Parameters:
  ///   - length: The number of units that are used; nil means all.
  ///   - byteOrder: Foundation's number for the byte order; nil means little-endian.
  /// - Returns: Nil if these are no number.
  public init?(mantissa: [UInt8], exponent: Int, length: Int?, isNegative: Bool, byteOrder: Int?) {
    guard (-128...127).contains(exponent), mantissa.count.isMultiple(of: 2), mantissa.count <= Self.mostUnits * 2 else {
      return nil
    }
    let isLittleEndian = byteOrder.map { $0 == Self.littleEndian } ?? true
    let all = stride(from: 0, to: mantissa.count, by: 2).map { place in
      let (first, second) = (UInt16(mantissa[place]), UInt16(mantissa[place + 1]))
      return isLittleEndian ? second << 8 | first : first << 8 | second
    }
    units = Array(all.prefix(max(0, length ?? all.count)))
    self.exponent = exponent
    self.isNegative = isNegative
  }

  /// Makes the form in which archives keep a number. NaN is a negative zero.
  public init(_ number: Decimal) {
    guard !number.isNaN else {
      (units, exponent, isNegative) = (Array(repeating: 0, count: Self.mostUnits), 0, true)
      return
    }
    var units = [UInt16](repeating: 0, count: Self.mostUnits)
    for digit in "\(number.significand)".utf8 where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) {
      var carry = UInt32(digit - UInt8(ascii: "0"))
      for index in units.indices {
        carry += UInt32(units[index]) * 10
        units[index] = UInt16(truncatingIfNeeded: carry)
        carry >>= 16
      }
    }
    self.units = units
    exponent = number.exponent
    isNegative = number.isSignMinus
  }

  /// The number as text, such as `-125e-2`.
  public var text: String {
    var number = Decimal(0)
    for unit in units.reversed() { number = number * 65_536 + Decimal(unit) }
    return "\(isNegative ? "-" : "")\(number)e\(exponent)"
  }

  /// The number; nil if a decimal number has no room for it. A negative one without digits represents a NaN.
  public var decimal: Decimal? {
    isNegative && units.allSatisfy { $0 == 0 } ? .nan : NumberText.decimal(text)
  }

  /// The members of the archived object.
  public var members: [String: ArchiveValue] {
    let length = units.lastIndex { $0 != 0 }.map { $0 + 1 } ?? 0
    let bytes = units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    return [
      "NS.mantissa": .data(Data(bytes)), "NS.exponent": .integer(Int64(exponent)),
      "NS.length": .integer(Int64(length)), "NS.negative": .boolean(isNegative), "NS.compact": .boolean(true),
      "NS.mantissa.bo": .integer(Int64(Self.littleEndian)),
    ]
  }
}
