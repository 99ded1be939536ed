import HeartwoodModel
package import HeartwoodStore

/// Dates as ISO 8601 text in UTC: `2016-09-17T18:15:00Z`, with a fraction of a second only where there is one.
///
/// The fraction has the fewest digits from which the same date comes back. A date outside of the years 0 to 9999, or one that is
/// not finite, is the number of its seconds since 2001.
package enum RecordDate {
  /// The years 0 to 9999.
  private static let representable = -63_145_526_400.0..<252_423_993_600.0
  private static let secondsPerDay = 86_400

  /// Appends the date that is `seconds` after 2001-01-01 00:00 UTC.
  package static func append(_ seconds: Double, to output: GrowableBytes) {
    guard representable.contains(seconds) else { return output.append(text: NumberText.text(of: seconds)) }
    let whole = seconds.rounded(.down)
    appendSecond(Int(whole), to: output)
    if whole != seconds { appendFraction(of: seconds, to: output) }
    output.append(ascii: "Z")
  }

  private static func appendSecond(_ second: Int, to output: GrowableBytes) {
    let (day, time) = second.quotientAndRemainder(dividingBy: secondsPerDay, rounding: .down)
    let date = CalendarDay(daysSince2001: day)
    output.append(digitsOf: UInt64(date.year), atLeast: 4)
    for (separator, part) in [("-", date.month), ("-", date.day)] as [(Unicode.Scalar, Int)] {
      output.append(ascii: separator)
      output.append(digitsOf: UInt64(part), atLeast: 2)
    }
    for (separator, part) in [("T", time / 3600), (":", time / 60 % 60), (":", time % 60)] as [(Unicode.Scalar, Int)] {
      output.append(ascii: separator)
      output.append(digitsOf: UInt64(part), atLeast: 2)
    }
  }

  private static func appendFraction(of seconds: Double, to output: GrowableBytes) {
    let digits = FractionDigits(of: abs(seconds))
    output.append(ascii: ".")
    for digit in seconds < 0 ? digits.complement : digits.digits { output.append(UInt8(ascii: "0") + digit) }
  }
}

/// A day of the Gregorian calendar, which also stands for the time before it was introduced.
struct CalendarDay {
  let year: Int
  let month: Int
  let day: Int

  /// How many days there are from 0000-03-01 to 2001-01-01.
  private static let epoch = 730_791
  private static let daysPer400Years = 146_097

  /// Counts in years that begin in March, so that a leap day is the last of its year.
  init(daysSince2001: Int) {
    let days = daysSince2001 + Self.epoch
    let (era, dayOfEra) = days.quotientAndRemainder(dividingBy: Self.daysPer400Years, rounding: .down)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }
}

/// The digits behind the point of the shortest decimal that stands for a number.
struct FractionDigits {
  let digits: [UInt8]

  /// - Parameter number: a number that is finite, not negative and no integer.
  init(of number: Double) {
    let parts = number.description.split(separator: "e")
    let mantissa = parts[0].split(separator: ".")
    let whole = Self.values(mantissa[0])
    let fraction = mantissa.count > 1 ? Self.values(mantissa[1]) : []
    // A number with an exponent is smaller than 1, or it would be an integer.
    let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    let zeros = [UInt8](repeating: 0, count: max(0, -exponent - whole.count))
    digits = exponent < 0 ? zeros + whole + fraction : fraction
  }

  private static func values(_ text: Substring) -> [UInt8] { text.utf8.map { $0 - UInt8(ascii: "0") } }

  /// The digits of 1 less the fraction. The last of ``digits`` is not 0.
  var complement: [UInt8] { digits.dropLast().map { 9 - $0 } + digits.suffix(1).map { 10 - $0 } }
}

extension Int {
  fileprivate enum Rounding { case down }

  /// The quotient rounded down, and the remainder, which is never negative.
  fileprivate func quotientAndRemainder(dividingBy divisor: Int, rounding: Rounding) -> (quotient: Int, remainder: Int)
  {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
