/// Dates as text in UTC, from which the same date can be read.
///
/// A date is a number of seconds since 2001-01-01 00:00 UTC. The text has as many digits of a second as the date needs.
package enum DateText {
  package static let secondsPerDay = 86_400

  /// The seconds of the dates that have a text: those of the years 1 to 9999.
  package static let representable: Range<Double> =
    Double(
      CivilDate.days(year: 1, month: 1, day: 1) * secondsPerDay
    )..<Double(
      CivilDate.days(year: 10_000, month: 1, day: 1) * secondsPerDay
    )

  /// Returns `2016-09-17T18:15:00Z`, or nil if the date has no text.
  package static func iso8601(_ seconds: Double) -> String? {
    guard representable.contains(seconds) else { return nil }
    var writer = DateTextWriter(separator: UInt8(ascii: "T"))
    let whole = [UInt8](unsafeUninitializedCapacity: DateTextWriter.length) { buffer, count in
      guard let base = buffer.baseAddress else { return }
      writer.write(seconds, to: UnsafeMutableRawPointer(base))
      count = DateTextWriter.length
    }
    return String(decoding: whole, as: UTF8.self) + DateFraction.text(of: seconds) + "Z"
  }

  /// Returns the seconds of a date in the form of ``iso8601(_:)`` or of a CSV file, with a time and a zone, or of a day
  /// alone, which begins at midnight UTC; nil if the text has neither form.
  package static func seconds(_ text: String) -> Double? {
    let time = text.utf8.count == dayLength ? "T00:00:00Z" : ""
    var (reader, whole) = (DateTextReader(), text + time)
    return whole.withUTF8 { reader.seconds(UnsafeRawBufferPointer($0)) }
  }

  /// The length of `2016-09-17`.
  private static let dayLength = 10
}

// MARK: DateTextReader

/// Reads dates of the form `yyyy-MM-dd HH:mm:ss ±hhmm`. The first space may be a `T`, a fraction of a second may
/// follow, the offset may be `±hh:mm` or `Z`, and the space before it may be missing.
///
/// The last day is cached, since adjacent dates often share it.
package struct DateTextReader {
  /// The first day that has a text, so that no other text is ever taken for it.
  private var dayText: (UInt64, UInt16) = (0x2D31_302D_3130_3030, 0x3130)
  private var day = CivilDate.days(year: 1, month: 1, day: 1)

  package init() {}

  /// Returns the seconds since 2001-01-01 00:00 UTC, or nil if the text is not a date of the years 1 to 9999.
  package mutating func seconds(_ text: UnsafeRawBufferPointer) -> Double? {
    guard text.count >= 20, let base = text.baseAddress else { return nil }
    guard let day = dayNumber(base), let time = Self.secondsOfDay(base) else { return nil }
    let separator = base.load(fromByteOffset: 10, as: UInt8.self)
    guard separator == UInt8(ascii: " ") || separator == UInt8(ascii: "T") else { return nil }
    let local = day &* DateText.secondsPerDay &+ time
    if text.count == 25, Self.isUTC(base) { return Double(local) }
    var rest = text[(text.startIndex + 19)...]
    let fraction = Self.takeFraction(&rest)
    guard let fraction, let offset = Self.offset(rest) else { return nil }
    guard let seconds = DateFraction.seconds(whole: local - offset, digits: fraction) else { return nil }
    return DateText.representable.contains(seconds) ? seconds : nil
  }

  /// Returns whether the bytes from 19 to 24 are ` +0000`.
  @inline(__always)
  private static func isUTC(_ base: UnsafeRawPointer) -> Bool {
    base.loadUnaligned(fromByteOffset: 17, as: UInt64.self) &>> 16 == 0x3030_3030_2B20
  }

  /// Returns the day that the first ten bytes name.
  @inline(__always)
  private mutating func dayNumber(_ base: UnsafeRawPointer) -> Int? {
    let text = (base.loadUnaligned(as: UInt64.self), base.loadUnaligned(fromByteOffset: 8, as: UInt16.self))
    return text == dayText ? day : newDay(text)
  }

  @inline(__always)
  private mutating func newDay(_ text: (UInt64, UInt16)) -> Int? {
    // A byte that is not the digit or the hyphen that belongs there becomes greater than 9.
    let digits = (text.0 ^ 0x2D30_302D_3030_3030, text.1 ^ 0x3030)
    guard Self.areDigits(digits.0), Self.areDigits(UInt64(digits.1)), digits.0 & 0xFF00_00FF_0000_0000 == 0 else {
      return nil
    }
    let year = Self.pair(digits.0) &* 100 &+ Self.pair(digits.0 &>> 16)
    let month = Self.pair(digits.0 &>> 40)
    let date = Self.pair(UInt64(digits.1))
    guard year >= 1, month >= 1, month <= 12, date >= 1 else { return nil }
    // Every month has 28 days; finding out which months have more takes longer.
    guard date <= 28 || date <= CivilDate.dayCount(month: month, year: year) else { return nil }
    dayText = text
    day = CivilDate.days(year: year, month: month, day: date)
    return day
  }

  /// Returns the time that the bytes from 11 to 18 name.
  @inline(__always)
  private static func secondsOfDay(_ base: UnsafeRawPointer) -> Int? {
    let digits = base.loadUnaligned(fromByteOffset: 11, as: UInt64.self) ^ 0x3030_3A30_303A_3030
    guard areDigits(digits), digits & 0x0000_FF00_00FF_0000 == 0 else { return nil }
    let (hour, minute, second) = (pair(digits), pair(digits >> 24), pair(digits >> 48))
    guard hour < 24, minute < 60, second < 60 else { return nil }
    return hour &* 3600 &+ minute &* 60 &+ second
  }

  /// Returns whether every byte is at most 9.
  @inline(__always)
  private static func areDigits(_ bytes: UInt64) -> Bool {
    ((bytes &+ 0x0606_0606_0606_0606) | bytes) & 0xF0F0_F0F0_F0F0_F0F0 == 0
  }

  /// Returns the number whose two digits are the lowest bytes.
  @inline(__always)
  private static func pair(_ digits: UInt64) -> Int {
    Int(truncatingIfNeeded: (digits & 0xFF) &* 10 &+ (digits &>> 8 & 0xFF))
  }

  /// Returns the digits after a point, none if there is no point, or nil if no digit follows the point.
  private static func takeFraction(_ rest: inout Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
    guard rest.first == UInt8(ascii: ".") else { return [] }
    let digits = rest.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    rest = rest[digits.endIndex...]
    return digits.isEmpty ? nil : Array(digits)
  }

  /// Returns the seconds by which the local time is ahead of UTC.
  private static func offset(_ text: Slice<UnsafeRawBufferPointer>) -> Int? {
    var rest = Array(text.first == UInt8(ascii: " ") ? text.dropFirst() : text)
    if rest == [UInt8(ascii: "Z")] { return 0 }
    if rest.count == 6, rest[3] == UInt8(ascii: ":") { rest.remove(at: 3) }
    guard rest.count == 5, rest[0] == UInt8(ascii: "+") || rest[0] == UInt8(ascii: "-") else { return nil }
    let digits = rest.dropFirst().map { Int($0) - 0x30 }
    guard digits.allSatisfy({ (0...9).contains($0) }) else { return nil }
    let (hours, minutes) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3])
    guard hours < 24, minutes < 60 else { return nil }
    return (hours * 3600 + minutes * 60) * (rest[0] == UInt8(ascii: "-") ? -1 : 1)
  }
}

// MARK: DateTextWriter

/// Writes the part of a date's text before the fraction of a second: `2016-09-17 18:15:00`.
///
/// The last day is cached, since adjacent dates often share it.
package struct DateTextWriter {
  /// The number of bytes that ``write(_:to:)`` writes.
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
    // Days are counted from one long before every date that has a text, so that nothing is negative.
    let whole = UInt64(truncatingIfNeeded: Int(seconds.rounded(.down)) &+ Self.lead)
    let secondsPerDay = UInt64(DateText.secondsPerDay)
    let newDay = Int(truncatingIfNeeded: whole / secondsPerDay)
    let time = whole % secondsPerDay
    if newDay != day { remember(newDay) }
    target.storeBytes(of: dayText.0, as: UInt64.self)
    target.storeBytes(of: dayText.1, toByteOffset: 8, as: UInt16.self)
    target.storeBytes(of: separator, toByteOffset: 10, as: UInt8.self)
    let minutes = time / 60
    let numbers = minutes / 60 | (minutes % 60) &<< 24 | (time % 60) &<< 48
    target.storeBytes(
      of: Self.digits(of: numbers, at: 0x000F_0000_0F00_000F) | Self.timeFrame,
      toByteOffset: 11,
      as: UInt64.self
    )
  }

  /// The number of days between the first counted day and 2001-01-01.
  private static let leadDays = 1_000_000
  private static let lead = leadDays * DateText.secondsPerDay

  /// The bytes of `00:00:00`, the first in the lowest byte.
  private static let timeFrame: UInt64 = 0x3030_3A30_303A_3030

  /// Returns the two digits of each number in `numbers`: the tens in the byte of the number, and the ones in the next
  /// byte.
  ///
  /// - Parameters: - numbers: numbers below 100, each in a byte with a zero byte above it. - places: 0x0F in the bytes
  ///   of the numbers.
  @inline(__always)
  private static func digits(of numbers: UInt64, at places: UInt64) -> UInt64 {
    // 103 / 1024 is close enough to a tenth.
    let tens = (numbers &* 103) &>> 10 & places
    return tens | (numbers &- tens &* 10) &<< 8
  }

  @inline(__always)
  private mutating func remember(_ newDay: Int) {
    day = newDay
    let date = CivilDate.date(days: newDay &- Self.leadDays)
    let year = UInt64(truncatingIfNeeded: date.year)
    let numbers = year / 100 | (year % 100) &<< 16 | UInt64(truncatingIfNeeded: date.month) &<< 40
    dayText.0 = Self.digits(of: numbers, at: 0x0000_0F00_000F_000F) | 0x2D30_302D_3030_3030
    let dayDigits = Self.digits(of: UInt64(truncatingIfNeeded: date.day), at: 0x0F)
    dayText.1 = UInt16(truncatingIfNeeded: dayDigits) | 0x3030
  }
}

// MARK: CivilDate

/// Days of the Gregorian calendar since the year 1, also for the time before it was introduced, counted from
/// 2001-01-01.
///
/// Years begin in March here, so that the leap day is the last day. So no number is negative, and each division is
/// unsigned and by a constant, which the compiler turns into a multiplication.
package enum CivilDate {
  /// The days from the first of March of the year 0 to 2001-01-01.
  private static let epoch = 730_791
  private static let daysPerCommonYear: UInt64 = 365
  /// The days of four years, one of which is a leap year.
  private static let daysPerFourYears: UInt64 = 1461
  /// The days of four centuries, in which 97 years are leap years.
  private static let daysPerFourCenturies: UInt64 = 146_097

  /// Returns the day of a date. The date must exist.
  @inline(__always)
  package static func days(year: Int, month: Int, day: Int) -> Int {
    let isOfYearBefore = month <= 2
    let year = UInt64(truncatingIfNeeded: isOfYearBefore ? year &- 1 : year)
    let monthFromMarch = UInt64(truncatingIfNeeded: isOfYearBefore ? month &+ 9 : month &- 3)
    let century = year / 100
    let dayOfYear = (153 &* monthFromMarch &+ 2) / 5
    let days = year &* daysPerCommonYear &+ year / 4 &- century &+ century / 4 &+ dayOfYear
    return Int(truncatingIfNeeded: days) &+ day &- 1 &- epoch
  }

  /// Returns the date of a day.
  @inline(__always)
  package static func date(days: Int) -> (year: Int, month: Int, day: Int) {
    // The unit is a quarter of a day, because centuries and years have equal lengths in it.
    let quarters = UInt64(truncatingIfNeeded: days &+ epoch) &* 4 &+ 3
    let century = quarters / daysPerFourCenturies
    let quartersOfCentury = (quarters % daysPerFourCenturies) | 3
    let yearOfCentury = quartersOfCentury / daysPerFourYears
    let dayOfYear = quartersOfCentury % daysPerFourYears / 4
    let fifths = dayOfYear &* 5 &+ 2
    let monthFromMarch = fifths / 153
    let isOfYearAfter = monthFromMarch >= 10
    let year = century &* 100 &+ yearOfCentury &+ (isOfYearAfter ? 1 : 0)
    let month = isOfYearAfter ? monthFromMarch &- 9 : monthFromMarch &+ 3
    return (
      Int(truncatingIfNeeded: year), Int(truncatingIfNeeded: month), Int(truncatingIfNeeded: fifths % 153 / 5 &+ 1)
    )
  }

  @inline(__always)
  package static func dayCount(month: Int, year: Int) -> Int {
    switch month {
    case 2: return isLeap(year) ? 29 : 28
    case 4, 6, 9, 11: return 30
    default: return 31
    }
  }

  private static func isLeap(_ year: Int) -> Bool {
    year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
  }
}

// MARK: DateFraction

/// The fraction of a second in the text of a date.
///
/// The seconds of a date before 2001 are negative, while the digits in its text count forward, so they are the decimal
/// complement of the number's digits. All steps work on decimal digits, which keeps every bit.
package enum DateFraction {
  /// Returns a point and digits, or an empty string for a whole number of seconds. `seconds` must be finite.
  package static func text(of seconds: Double) -> String {
    guard seconds != seconds.rounded(.down) else { return "" }
    let digits = fractionDigits(of: seconds.magnitude)
    return "." + String(decoding: seconds < 0 ? complement(digits) : digits, as: UTF8.self)
  }

  /// Returns the digits after the point in the shortest decimal form of `number`. There is at least one, and the last
  /// is not 0.
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

  /// Returns the digits of 1 − 0.`digits`. The last digit must not be 0.
  static func complement(_ digits: [UInt8]) -> [UInt8] {
    let (zero, nine) = (UInt8(ascii: "0"), UInt8(ascii: "9"))
    var result = digits.map { zero + (nine - $0) }
    if let last = result.indices.last { result[last] += 1 }
    return result
  }

  /// Returns the sum of `whole` and 0.`digits`, rounded once.
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

  /// Returns the number as one division of two numbers that a double holds exactly, which rounds once; nil if they are
  /// too large.
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
