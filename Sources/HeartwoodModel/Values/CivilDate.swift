/// Days of the Gregorian calendar from the year 1 on, also of the time before it was introduced, counted from 2001-01-01.
///
/// Years begin in March here, so that the leap day comes last. No number is negative then, and each division is by a constant and
/// unsigned, which takes a multiplication.
package enum CivilDate {
  /// From the first day of March of the year 0 to 2001-01-01.
  private static let epoch = 730_791
  private static let daysPerCommonYear: UInt64 = 365
  /// Four years, one of which is a leap year.
  private static let daysPerFourYears: UInt64 = 1461
  /// Four centuries, in which 97 years are leap years.
  private static let daysPerFourCenturies: UInt64 = 146_097

  /// The day with that date, which must be one.
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

  /// The date of a day.
  @inline(__always)
  package static func date(days: Int) -> (year: Int, month: Int, day: Int) {
    // A quarter of a day is the unit: the centuries and years in it are of equal length.
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
