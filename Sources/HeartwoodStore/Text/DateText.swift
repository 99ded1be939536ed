/// Dates as text, in UTC, from which the same date comes back.
///
/// A date is a number of seconds since 2001-01-01 00:00 UTC. The text holds as many digits of a second as it takes.
package enum DateText {
  static let secondsPerDay = 86_400

  /// The dates that have a text: those of the years 1 to 9999.
  package static let representable: Range<Double> =
    Double(
      CivilDate.days(year: 1, month: 1, day: 1) * secondsPerDay
    )..<Double(
      CivilDate.days(year: 10_000, month: 1, day: 1) * secondsPerDay
    )

  /// `2016-09-17T18:15:00Z`, or nil for a date that has no text.
  package static func iso8601(_ seconds: Double) -> String? {
    text(seconds, between: "T", zone: "Z")
  }

  /// `2016-09-17 18:15:00 +0000`, or nil for a date that has no text.
  package static func spaced(_ seconds: Double) -> String? {
    text(seconds, between: " ", zone: " +0000")
  }

  private static func text(_ seconds: Double, between separator: Unicode.Scalar, zone: String) -> String? {
    guard representable.contains(seconds) else { return nil }
    var writer = DateTextWriter(separator: UInt8(ascii: separator))
    let whole = [UInt8](unsafeUninitializedCapacity: DateTextWriter.length) { buffer, count in
      guard let base = buffer.baseAddress else { return }
      writer.write(seconds, to: UnsafeMutableRawPointer(base))
      count = DateTextWriter.length
    }
    return String(decoding: whole, as: UTF8.self) + DateFraction.text(of: seconds) + zone
  }
}

/// Writes the part of a date's text before the fraction of a second: `2016-09-17 18:15:00`.
///
/// It remembers the last day, since neighbours often share it.
package struct DateTextWriter {
  /// How many bytes ``write(_:to:)`` writes.
  package static let length = 19

  private let separator: UInt8
  private var day = Int.min
  private var dayText: (UInt64, UInt16) = (0, 0)

  package init(separator: UInt8) {
    self.separator = separator
  }

  /// Writes ``length`` bytes to `target`, which must have room for them.
  ///
  /// - Parameter seconds: a date that ``DateText`` can represent.
  package mutating func write(_ seconds: Double, to target: UnsafeMutableRawPointer) {
    let whole = Int(seconds.rounded(.down))
    var newDay = whole / DateText.secondsPerDay
    var time = whole - newDay * DateText.secondsPerDay
    if time < 0 {
      newDay -= 1
      time += DateText.secondsPerDay
    }
    if newDay != day { remember(newDay) }
    target.storeBytes(of: dayText.0, as: UInt64.self)
    target.storeBytes(of: dayText.1, toByteOffset: 8, as: UInt16.self)
    target.storeBytes(of: separator, toByteOffset: 10, as: UInt8.self)
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60)
    // Each of the six digits lies in a byte of its own, first digit lowest.
    let digits = Self.pair(hour) | Self.pair(minute) &<< 24 | Self.pair(second) &<< 48
    target.storeBytes(of: digits | Self.timeFrame, toByteOffset: 11, as: UInt64.self)
  }

  /// `00:00:00`, lowest byte first.
  private static let timeFrame: UInt64 = 0x3030_3A30_303A_3030

  @inline(__always)
  private static func pair(_ number: Int) -> UInt64 {
    UInt64(truncatingIfNeeded: number / 10 | (number % 10) &<< 8)
  }

  private mutating func remember(_ newDay: Int) {
    day = newDay
    let date = CivilDate.date(days: newDay)
    let year = Self.pair(date.year / 100) | Self.pair(date.year % 100) &<< 16
    dayText.0 = year | Self.pair(date.month) &<< 40 | 0x2D30_302D_3030_3030
    dayText.1 = UInt16(truncatingIfNeeded: Self.pair(date.day)) | 0x3030
  }
}

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
  static func seconds(whole: Int, digits: [UInt8]) -> Double? {
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
