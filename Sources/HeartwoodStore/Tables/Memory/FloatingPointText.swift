import HeartwoodModel

/// Floating-point numbers as decimal text, read without a string where that is exact.
package enum FloatingPointText {
  /// The number that `text` stands for, in the forms of ``NumberText``, or nil where it stands for none.
  package static func number<Number: ExactDecimalQuotient>(_ text: UnsafeRawBufferPointer, _ type: Number.Type)
    -> Number?
  {
    shortNumber(text) ?? NumberText.number(String(decoding: text, as: UTF8.self), type)
  }

  /// A number of digits and perhaps a point: few enough that the digits, and the power of ten that the point stands for, are
  /// exact, so that one division rounds right.
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
