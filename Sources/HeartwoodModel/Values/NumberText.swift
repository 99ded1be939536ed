#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Numbers as text: the shortest decimal that reads back as the same number, `inf`, `-inf` and `nan`.
package enum NumberText {
  static let notANumber = "nan"
  private static let infinities = ["inf", "-inf"]

  package static func text<Number: BinaryFloatingPoint & LosslessStringConvertible>(of number: Number) -> String {
    number.isNaN ? notANumber : number.description
  }

  /// The number that `text` stands for, or nil where it is none or too large to be told from infinity.
  package static func number<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    _ text: String,
    _ type: Number.Type
  ) -> Number? {
    if text == notANumber { return .nan }
    if infinities.contains(text) { return Number(text) }
    guard isDecimal(text), let number = Number(text), number.isFinite else { return nil }
    return number
  }

  /// The decimal number that is exactly `text`, or nil where there is none: a `Decimal` holds any 38 digits, and some numbers of 39.
  package static func decimal(_ text: String) -> Decimal? {
    if text == notANumber { return .nan }
    guard isDecimal(text), let number = Decimal(string: text), !number.isNaN else { return nil }
    return isExact(number, text) ? number : nil
  }

  /// Digits that a `Decimal` always has room for.
  private static let digitsOfDecimal = 38

  /// Whether no digit of `text` was cut when it became `number`, and it did not become 0 for being too small.
  private static func isExact(_ number: Decimal, _ text: String) -> Bool {
    if text.utf8.count <= digitsOfDecimal, !number.isZero { return true }
    let digits = significantDigits(of: text)
    if digits.count <= digitsOfDecimal { return number.isZero == digits.isEmpty }
    return digits == significantDigits(of: number.description)
  }

  /// The digits from the first that is not 0 to the last.
  private static func significantDigits(of text: String) -> ArraySlice<UInt8> {
    let zero = UInt8(ascii: "0")
    let mantissa = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
    let digits = mantissa.filter { (zero...UInt8(ascii: "9")).contains($0) }
    guard let first = digits.firstIndex(where: { $0 != zero }), let last = digits.lastIndex(where: { $0 != zero })
    else { return [] }
    return digits[first...last]
  }

  /// Whether the text is a sign or none, digits with a point or without, and an exponent or none.
  ///
  /// The parsers of the standard library and of Foundation take more: hexadecimal numbers, or any text after a number.
  private static func isDecimal(_ text: String) -> Bool {
    var rest = text.utf8[...]
    skipSign(&rest)
    let whole = skipDigits(&rest)
    var fraction = 0
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      fraction = skipDigits(&rest)
    }
    guard whole + fraction > 0 else { return false }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest.removeFirst()
      skipSign(&rest)
      guard skipDigits(&rest) > 0 else { return false }
    }
    return rest.isEmpty
  }

  private static func skipSign(_ rest: inout Substring.UTF8View) {
    if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
  }

  private static func skipDigits(_ rest: inout Substring.UTF8View) -> Int {
    let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    let count = digits.count
    rest.removeFirst(count)
    return count
  }
}
