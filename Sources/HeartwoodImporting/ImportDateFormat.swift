import HeartwoodFoundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// The format in which records have the dates of an attribute.
enum ImportDateFormat: Sendable {
  /// ISO 8601, with or without a time, with a time zone or in UTC. Numbers are seconds since 1970.
  case iso8601
  /// Numbers are milliseconds since 1970.
  case milliseconds
  /// Text has the format of a pattern. Numbers are seconds since 1970.
  case pattern(DatePattern)

  private static let patterns = [
    "yyyy-MM-dd'T'HH:mm:ss.S", "yyyy-MM-dd'T'HH:mm:ssZ", "yyyy-MM-dd'T'HH:mm:ss.SZ", "yyyy-MM-dd'T'HH:mm:ss",
    "yyyy-MM-dd'T'HH:mmZ", "yyyy-MM-dd'T'HH:mm", "yyyy-MM-dd", "yyyyMMdd'T'HHmmssZ", "yyyyMMdd'T'HHmmss", "yyyyMMdd",
  ].compactMap(DatePattern.init)
}

extension ImportDateFormat {
  /// Returns the date of `text`, or nil if the text has another format.
  func date(_ text: String) -> Date? {
    switch self {
    case .milliseconds: NumberText.number(text, Double.self).flatMap(date)
    case .pattern(let pattern): pattern.seconds(text).map { Date(timeIntervalSinceReferenceDate: $0) }
    case .iso8601: Self.iso8601Seconds(text).map { Date(timeIntervalSinceReferenceDate: $0) }
    }
  }

  private static func iso8601Seconds(_ text: String) -> Double? {
    var reader = DateTextReader()
    var text = text
    if let seconds = text.withUTF8({ reader.seconds(UnsafeRawBufferPointer($0)) }) { return seconds }
    for pattern in patterns {
      if let seconds = pattern.seconds(text) { return seconds }
    }
    return nil
  }

  /// Returns the date of a number, or nil if the number is not finite.
  func date(_ number: Double) -> Date? {
    guard number.isFinite else { return nil }
    if case .milliseconds = self { return Date(timeIntervalSince1970: number / 1000) }
    return Date(timeIntervalSince1970: number)
  }
}

// MARK: DatePattern

/// A Unicode date pattern (UTS 35), as `DateFormatter` takes it, with the English names of `en_US_POSIX`.
///
/// The fields are year `y` `u` `Y`, month `M` `L` as a number or a name, day `d`, hour `H` `k` `h` `K`, minute `m`,
/// second `s`, fraction `S`, half of the day `a`, weekday `E` `c` (any name), and time zone `z` `Z` `X` `x` `O` `V`. A
/// date without a time zone is in UTC.
struct DatePattern: Sendable {
  enum Field: Sendable {
    case year, month, monthName, day, hour, hourFromOne, hourOfHalf, minute, second, fraction, half, weekday, zone
  }

  enum Part: Sendable {
    case text(UInt8)
    case field(Field, width: Int)
  }

  private(set) var parts: [Part] = []

  /// Parses a pattern; nil if it has a field that is not one of these.
  init?(_ text: String) {
    var rest = Array(text.utf8)[...]
    while let byte = rest.first {
      if byte == UInt8(ascii: "'") {
        guard readQuoted(&rest) else { return nil }
      } else if (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) {
        let width = rest.prefix { $0 == byte }.count
        guard let field = Self.field(byte, width: width) else { return nil }
        parts.append(.field(field, width: width))
        rest.removeFirst(width)
      } else {
        parts.append(.text(byte))
        rest.removeFirst()
      }
    }
  }

  /// Reads text in quotes, in which a doubled quote stands for one. Returns whether the closing quote was found.
  private mutating func readQuoted(_ rest: inout ArraySlice<UInt8>) -> Bool {
    let quote = UInt8(ascii: "'")
    rest.removeFirst()
    if rest.first == quote {
      parts.append(.text(rest.removeFirst()))
      return true
    }
    while let byte = rest.popFirst() {
      if byte != quote {
        parts.append(.text(byte))
      } else if rest.first == quote {
        parts.append(.text(rest.removeFirst()))
      } else {
        return true
      }
    }
    return false
  }

  private static func field(_ letter: UInt8, width: Int) -> Field? {
    switch Unicode.Scalar(letter) {
    case "y", "u", "Y": .year
    case "M", "L": width > 2 ? .monthName : .month
    case "d": .day
    case "H": .hour
    case "k": .hourFromOne
    case "h", "K": .hourOfHalf
    case "m": .minute
    case "s": .second
    case "S": .fraction
    case "a": .half
    case "E", "c": .weekday
    case "z", "Z", "X", "x", "O", "V": .zone
    default: nil
    }
  }
}

extension DatePattern {
  /// Returns the seconds from 2001-01-01 00:00 UTC to the date of `text`, or nil if the text does not match the
  /// pattern.
  func seconds(_ text: String) -> Double? {
    var reader = DateFieldReader(text)
    for (index, part) in parts.enumerated() {
      switch part {
      case .text(let byte):
        guard reader.skip(byte) else { return nil }
      case .field(let field, let width):
        let isBounded = parts.indices.contains(index + 1) && parts[index + 1].isNumber
        guard reader.read(field, width: width, isBounded: isBounded) else { return nil }
      }
    }
    return reader.isAtEnd ? reader.seconds : nil
  }
}

extension DatePattern.Part {
  /// Whether digits follow, so that a number before them has exactly the width of its field.
  fileprivate var isNumber: Bool {
    switch self {
    case .text, .field(.monthName, _), .field(.half, _), .field(.weekday, _), .field(.zone, _): false
    case .field: true
    }
  }
}

// MARK: DateFieldReader

/// Reads the fields of a date in the format of a pattern.
struct DateFieldReader {
  private var rest: ArraySlice<UInt8>
  private var (year, month, day) = (2000, 1, 1)
  private var (hour, minute, second) = (0, 0, 0)
  private var fraction: [UInt8] = []
  private var isAfternoon: Bool?
  /// The hour fields that were read; each of them counts hours in its own way.
  private var hourFields: Set<DatePattern.Field> = []
  /// The offset of the local time from UTC, in seconds.
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

  /// Reads a field, and returns whether it was found.
  ///
  /// - Parameter isBounded: whether a number has at most as many digits as the width of the field.
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

  /// Returns the seconds from 2001-01-01 00:00 UTC to the date, or nil if the date does not exist or is outside of the
  /// years 1 to 9999.
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

  /// If the pattern has two digits, two digits mean the years 1970 to 2069.
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
  /// The offsets from UTC, in hours, of the time zones that RFC 822 allows in dates.
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
