import ArgumentParser
import HeartwoodFoundation
import HeartwoodModel

/// The sign before the fraction of a number.
enum DecimalSign: String, ExpressibleByArgument, CaseIterable {
  case point, comma
}

/// The order of day, month and year in a date.
enum DateOrder: String, ExpressibleByArgument, CaseIterable {
  case dmy, mdy
}

/// The values that a text can stand for.
struct TableForms: OptionSet {
  let rawValue: Int

  static let boolean = TableForms(rawValue: 1 << 0)
  static let integer = TableForms(rawValue: 1 << 1)
  /// Digits with a point.
  static let plainNumber = TableForms(rawValue: 1 << 2)
  /// Digits with a point or an exponent.
  static let scientificNumber = TableForms(rawValue: 1 << 3)
  /// Digits in groups of three, and a point: 1,234.56.
  static let pointNumber = TableForms(rawValue: 1 << 4)
  /// Digits in groups of three, and a comma: 1.234,56.
  static let commaNumber = TableForms(rawValue: 1 << 5)
  /// The year, the month and the day.
  static let isoDate = TableForms(rawValue: 1 << 6)
  static let dayFirstDate = TableForms(rawValue: 1 << 7)
  static let monthFirstDate = TableForms(rawValue: 1 << 8)
  /// A date whose year has two digits.
  static let shortDate = TableForms(rawValue: 1 << 9)

  static let localDates: TableForms = [.dayFirstDate, .monthFirstDate]
  static let localNumbers: TableForms = [.pointNumber, .commaNumber]

  static let all = TableForms(rawValue: (1 << 10) - 1)

  /// Returns those of the forms that a text has, which is not empty.
  func of(_ text: String) -> TableForms {
    var found: TableForms = []
    func test(_ form: TableForms, _ isFound: @autoclosure () -> Bool) {
      if contains(form), isFound() { found.insert(form) }
    }
    test(.boolean, TableValue.boolean(text) != nil)
    guard let first = text.unicodeScalars.first, first == "-" || first == "." || ("0"..."9").contains(first) else {
      return found
    }
    test(.integer, TableValue.isInteger(text))
    test(.plainNumber, TableValue.isPlainNumber(text))
    test(.scientificNumber, TableValue.isPlainNumber(text) || TableValue.scientific(text) != nil)
    test(.pointNumber, TableValue.number(text, .point) != nil)
    test(.commaNumber, TableValue.number(text, .comma) != nil)
    test(.isoDate, TableValue.isoDate(text) != nil)
    test(.dayFirstDate, TableValue.date(text, .dmy) != nil)
    test(.monthFirstDate, TableValue.date(text, .mdy) != nil)
    test(.shortDate, TableValue.hasShortYear(text))
    return found
  }

  init(rawValue: Int) {
    self.rawValue = rawValue
  }
}

/// Reads values from the texts of a table.
enum TableValue {
  static func boolean(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true", "yes": true
    case "false", "no": false
    default: nil
    }
  }
}

// MARK: Numbers

extension TableValue {
  /// Returns whether the text is a whole number of 64 bits. A number with leading zeros is a code, such as that of a
  /// place.
  static func isInteger(_ text: String) -> Bool { Int64(text) != nil && !hasLeadingZero(text) && text.first != "+" }

  static func isPlainNumber(_ text: String) -> Bool {
    let parts = text.drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
    return text.prefix(2) != "--" && (1...2).contains(parts.count) && parts.allSatisfy(areDigits)
      && !hasLeadingZero(text)
      && NumberText.decimal(text) != nil
  }

  /// Returns the number with an exponent, such as 1.5E+10.
  static func scientific(_ text: String) -> Double? {
    guard text.contains(where: { $0 == "e" || $0 == "E" }), text.contains(where: \.isNumber) else { return nil }
    return NumberText.number(text, Double.self)
  }

  /// Returns the number of a text with a sign before the fraction, and digits that may be in groups of three.
  static func number(_ text: String, _ sign: DecimalSign) -> Decimal? {
    let (point, comma): (Character, Character) = sign == .point ? (".", ",") : (",", ".")
    let isNegative = text.first == "-"
    let parts = text.dropFirst(isNegative ? 1 : 0).split(separator: point, omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.dropFirst().allSatisfy(areDigits), !hasLeadingZero(String(parts[0]))
    else {
      return nil
    }
    let separators: Set<Character> = [comma, " ", "\u{A0}", "\u{202F}", "'", "’"]
    let groups = parts[0].split(omittingEmptySubsequences: false) { separators.contains($0) }
    let isGrouped =
      groups.dropFirst().allSatisfy { $0.count == 3 } && (groups.count == 1 || (1...3).contains(groups[0].count))
    guard groups.allSatisfy(areDigits), isGrouped else { return nil }
    let fraction = parts.count == 2 ? "." + parts[1] : ""
    return NumberText.decimal((isNegative ? "-" : "") + groups.joined() + fraction)
  }

  private static func areDigits(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  private static func hasLeadingZero(_ text: String) -> Bool {
    let digits = text.drop { $0 == "-" || $0 == "+" }
    return digits.count > 1 && digits.first == "0" && digits.dropFirst().first?.isNumber == true
  }
}

// MARK: Dates

extension TableValue {
  /// Returns the date of a text such as 2026-01-31, 2026-01-31 18:00 or 2026-01-31T18:00:00Z, which is in UTC if it
  /// names no zone.
  static func isoDate(_ text: String) -> Date? {
    if let seconds = DateText.seconds(text) { return Date(timeIntervalSinceReferenceDate: seconds) }
    guard let match = text.wholeMatch(of: /(\d{4})[-\/](\d{1,2})[-\/](\d{1,2})(?:[ T](.+))?/) else { return nil }
    return date(match.1, match.2, match.3, time: match.4)
  }

  /// Returns the date of a text such as 31.01.2026 or 1/31/2026 6:05 PM.
  static func date(_ text: String, _ order: DateOrder) -> Date? {
    guard let match = text.wholeMatch(of: /(\d{1,2})[.\/-] ?(\d{1,2})[.\/-] ?(\d{4})(?:,? (.+))?/) else { return nil }
    let (day, month) = order == .dmy ? (match.1, match.2) : (match.2, match.1)
    return date(match.3, month, day, time: match.4)
  }

  /// Returns whether the text looks like a date whose year has two digits.
  static func hasShortYear(_ text: String) -> Bool {
    text.wholeMatch(of: /\d{1,2}[.\/-]\d{1,2}[.\/-]\d{2}(?: .+)?/) != nil
  }

  private static func date(_ year: Substring, _ month: Substring, _ day: Substring, time: Substring?) -> Date? {
    guard let year = Int(year), let month = Int(month), let day = Int(day), year >= 1, (1...12).contains(month),
      day >= 1, day <= CivilDate.dayCount(month: month, year: year), let time = seconds(of: time)
    else { return nil }
    let days = CivilDate.days(year: year, month: month, day: day)
    return Date(timeIntervalSinceReferenceDate: Double(days * DateText.secondsPerDay + time))
  }

  /// Returns the seconds of the day; none for no time.
  private static func seconds(of time: Substring?) -> Int? {
    guard let time else { return 0 }
    guard let match = time.wholeMatch(of: /(\d{1,2}):(\d{2})(?::(\d{2}))? ?([AaPp][Mm])?/), let hour = Int(match.1),
      let minute = Int(match.2), let second = Int(match.3 ?? "0"), minute < 60, second < 60
    else { return nil }
    guard let half = match.4?.lowercased() else { return hour < 24 ? (hour * 60 + minute) * 60 + second : nil }
    guard (1...12).contains(hour) else { return nil }
    return ((hour % 12 + (half == "pm" ? 12 : 0)) * 60 + minute) * 60 + second
  }
}
