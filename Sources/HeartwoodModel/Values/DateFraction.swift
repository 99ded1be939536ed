/// The fraction of a second in a date's text.
///
/// The seconds of a date before 2001 are negative, while the digits in its text count forwards; so those are the decimal
/// complement of the number's. All is done on decimal digits, which keeps every bit.
package enum DateFraction {
  /// A point and digits, or nothing for a whole number of seconds. `seconds` is finite.
  package static func text(of seconds: Double) -> String {
    guard seconds != seconds.rounded(.down) else { return "" }
    let digits = fractionDigits(of: seconds.magnitude)
    return "." + String(decoding: seconds < 0 ? complement(digits) : digits, as: UTF8.self)
  }

  /// The digits behind the point of the shortest decimal that is `number`; there is at least one, and the last is not 0.
  private static func fractionDigits(of number: Double) -> [UInt8] {
    let text = number.description.utf8
    guard let mark = text.firstIndex(of: UInt8(ascii: "e")) else {
      return text.firstIndex(of: UInt8(ascii: ".")).map { Array(text[text.index(after: $0)...]) } ?? []
    }
    // Only numbers below 1 have an exponent here: `1.5e-05`.
    let exponent = Int(Substring(text[text.index(after: mark)...])) ?? 0
    let digits = text[..<mark].filter { $0 != UInt8(ascii: ".") }
    let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: max(0, -exponent - 1))
    return zeros + digits.reversed().drop { $0 == UInt8(ascii: "0") }.reversed()
  }

  /// The digits of 1 − 0.`digits`. The last digit is not 0.
  static func complement(_ digits: [UInt8]) -> [UInt8] {
    let (zero, nine) = (UInt8(ascii: "0"), UInt8(ascii: "9"))
    var result = digits.map { zero + (nine - $0) }
    if let last = result.indices.last { result[last] += 1 }
    return result
  }

  /// The number that is `whole` and 0.`digits`, rounded once.
  package static func seconds(whole: Int, digits: [UInt8]) -> Double? {
    let digits = Array(digits.reversed().drop { $0 == UInt8(ascii: "0") }.reversed())
    guard !digits.isEmpty else { return Double(whole) }
    if whole >= 0 { return exactly(whole, digits) }
    return exactly(-whole - 1, complement(digits)).map { -$0 }
  }

  private static func exactly(_ whole: Int, _ digits: [UInt8]) -> Double? {
    if let number = quotient(whole, digits) { return number }
    return Double("\(whole)." + String(decoding: digits, as: UTF8.self))
  }

  /// The number as one division of numbers that a double holds exactly, which rounds once; nil where they are too large.
  private static func quotient(_ whole: Int, _ digits: [UInt8]) -> Double? {
    guard digits.count < 16 else { return nil }
    var (numerator, divisor) = (whole, 1)
    for digit in digits {
      let (scaled, overflow) = numerator.multipliedReportingOverflow(by: 10)
      guard !overflow, scaled < 1 << 52 else { return nil }
      numerator = scaled + Int(digit - UInt8(ascii: "0"))
      divisor *= 10
    }
    return Double(numerator) / Double(divisor)
  }
}
