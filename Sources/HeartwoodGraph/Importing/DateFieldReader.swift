import HeartwoodModel

/// Reads the fields of a date that is written after a pattern.
struct DateFieldReader {
  private var rest: ArraySlice<UInt8>
  private var (year, month, day) = (2000, 1, 1)
  private var (hour, minute, second) = (0, 0, 0)
  private var fraction: [UInt8] = []
  private var isAfternoon: Bool?
  /// The fields that the hour was read from, each of which counts it otherwise.
  private var hourFields: Set<DatePattern.Field> = []
  /// The seconds that the local time is ahead of UTC.
  private var offset = 0

  init(_ text: String) {
    rest = Array(text.utf8)[...]
  }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func skip(_ byte: UInt8) -> Bool {
    guard rest.first == byte else { return false }
    rest.removeFirst()
    return true
  }

  /// Reads a field; returns whether it is there.
  ///
  /// - Parameter isBounded: whether a number has no more digits than the field is wide.
  mutating func read(_ field: DatePattern.Field, width: Int, isBounded: Bool) -> Bool {
    switch field {
    case .year: readYear(width: width, isBounded: isBounded)
    case .month: readNumber(width, isBounded, into: \.month)
    case .day: readNumber(width, isBounded, into: \.day)
    case .hour, .hourFromOne, .hourOfHalf: readHour(field, width, isBounded)
    case .minute: readNumber(width, isBounded, into: \.minute)
    case .second: readNumber(width, isBounded, into: \.second)
    case .fraction: readFraction()
    case .monthName: readMonthName()
    case .half: readHalf()
    case .weekday: !takeLetters().isEmpty
    case .zone: readZone()
    }
  }

  /// The seconds from 2001-01-01 00:00 UTC to the date; nil where there is none, or none of the years 1 to 9999.
  var seconds: Double? {
    guard (1...9999).contains(year), (1...12).contains(month), day >= 1,
      day <= CivilDate.dayCount(month: month, year: year), let hour = hourOfDay, minute < 60, second < 60
    else { return nil }
    let days = CivilDate.days(year: year, month: month, day: day)
    let whole = ((days * 24 + hour) * 60 + minute) * 60 + second - offset
    let seconds = DateFraction.seconds(whole: whole, digits: fraction)
    return seconds.flatMap { DateText.representable.contains($0) ? $0 : nil }
  }

  private var hourOfDay: Int? {
    guard hourFields.contains(.hourOfHalf) || isAfternoon != nil else {
      // In ISO 8601 the 24th hour is the end of the day; counted from 1, it is the first.
      if hour == 24 { return hourFields.contains(.hourFromOne) ? 0 : isOnTheHour ? 24 : nil }
      return hour < 24 ? hour : nil
    }
    guard hour <= 12 else { return nil }
    return hour % 12 + (isAfternoon == true ? 12 : 0)
  }

  private var isOnTheHour: Bool { minute == 0 && second == 0 && fraction.allSatisfy { $0 == UInt8(ascii: "0") } }
}

// MARK: Numbers

extension DateFieldReader {
  private mutating func takeDigits(atMost count: Int) -> ArraySlice<UInt8> {
    let digits = rest.prefix(count).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    rest.removeFirst(digits.count)
    return digits
  }

  private mutating func takeNumber(atMost count: Int) -> Int? {
    let digits = takeDigits(atMost: count)
    return digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  private mutating func readNumber(
    _ width: Int,
    _ isBounded: Bool,
    into field: WritableKeyPath<DateFieldReader, Int>
  ) -> Bool {
    guard let number = takeNumber(atMost: isBounded ? min(width, 2) : 2) else { return false }
    self[keyPath: field] = number
    return true
  }

  /// Two digits are of the years 1970 to 2069 where the pattern has two.
  private mutating func readYear(width: Int, isBounded: Bool) -> Bool {
    guard let number = takeNumber(atMost: isBounded ? min(width, 4) : 4) else { return false }
    year = width == 2 && number < 100 ? number + (number < 70 ? 2000 : 1900) : number
    return true
  }

  private mutating func readHour(_ field: DatePattern.Field, _ width: Int, _ isBounded: Bool) -> Bool {
    hourFields.insert(field)
    return readNumber(width, isBounded, into: \.hour)
  }

  private mutating func readFraction() -> Bool {
    fraction = Array(takeDigits(atMost: rest.count))
    return !fraction.isEmpty
  }
}

// MARK: Words

extension DateFieldReader {
  private static let months = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
  ]
  private static let lettersOfShortNames = 3

  private mutating func takeLetters() -> String {
    let letters = rest.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
    rest.removeFirst(letters.count)
    return String(decoding: letters, as: UTF8.self).lowercased()
  }

  private mutating func readMonthName() -> Bool {
    let name = takeLetters()
    let place = Self.months.firstIndex { $0 == name || $0.prefix(Self.lettersOfShortNames) == name }
    guard let place else { return false }
    month = place + 1
    return true
  }

  private mutating func readHalf() -> Bool {
    switch takeLetters() {
    case "am": isAfternoon = false
    case "pm": isAfternoon = true
    default: return false
    }
    return true
  }
}

// MARK: Zones

extension DateFieldReader {
  /// The hours that zones are ahead of UTC whose names dates in mail may have (RFC 822).
  private static let hoursOfZones = [
    "z": 0, "ut": 0, "utc": 0, "gmt": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8,
    "pdt": -7,
  ]

  /// Reads `Z`, `GMT`, `+02:00`, `+0200`, `+02` or `GMT+2`.
  private mutating func readZone() -> Bool {
    let name = takeLetters()
    guard let hours = name.isEmpty ? 0 : Self.hoursOfZones[name] else { return false }
    offset = hours * 3600
    guard let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return !name.isEmpty }
    rest.removeFirst()
    guard let hours = takeNumber(atMost: 2) else { return false }
    let hasColon = skip(UInt8(ascii: ":"))
    let minutes = takeNumber(atMost: 2)
    if hasColon, minutes == nil { return false }
    offset += (hours * 3600 + (minutes ?? 0) * 60) * (sign == UInt8(ascii: "-") ? -1 : 1)
    return hours < 24 && (minutes ?? 0) < 60
  }
}
