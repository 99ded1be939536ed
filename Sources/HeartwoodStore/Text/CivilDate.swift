/// Days of the Gregorian calendar, also of the time before it was introduced, counted from 2001-01-01.
package enum CivilDate {
  // A year that begins in March has its leap day at the end, and 400 such years are a period.
  private static let daysPerEra = 146_097
  private static let yearsPerEra = 400
  /// From the first day of March of the year 0 to 2001-01-01.
  private static let epoch = 730_791

  package static func days(year: Int, month: Int, day: Int) -> Int {
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - (yearsPerEra - 1)) / yearsPerEra
    let yearOfEra = shiftedYear - era * yearsPerEra
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * daysPerEra + dayOfEra - epoch
  }

  package static func date(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + epoch
    let era = (shifted >= 0 ? shifted : shifted - (daysPerEra - 1)) / daysPerEra
    let dayOfEra = shifted - era * daysPerEra
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * yearsPerEra + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
  }

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
