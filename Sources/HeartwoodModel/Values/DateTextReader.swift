/// Reads dates: `yyyy-MM-dd HH:mm:ss ±hhmm`, with `T` for the first space, a fraction of a second, the offset as `±hh:mm` or
/// `Z`, and no space before it.
///
/// It remembers the last day, since neighbours often share it.
package struct DateTextReader {
  /// The first day that can be named, so that no other text is ever taken for one.
  private var dayText: (UInt64, UInt16) = (0x2D31_302D_3130_3030, 0x3130)
  private var day = CivilDate.days(year: 1, month: 1, day: 1)

  package init() {}

  /// The seconds since 2001-01-01 00:00 UTC, or nil where the text is no date of the years 1 to 9999.
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

  /// Whether the bytes from 19 to 24 are ` +0000`.
  @inline(__always)
  private static func isUTC(_ base: UnsafeRawPointer) -> Bool {
    base.loadUnaligned(fromByteOffset: 17, as: UInt64.self) &>> 16 == 0x3030_3030_2B20
  }

  /// The day that the first ten bytes name.
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
    // Every month has 28 days; which ones have more takes longer to tell.
    guard date <= 28 || date <= CivilDate.dayCount(month: month, year: year) else { return nil }
    dayText = text
    day = CivilDate.days(year: year, month: month, day: date)
    return day
  }

  /// The time that the bytes from 11 to 18 name.
  @inline(__always)
  private static func secondsOfDay(_ base: UnsafeRawPointer) -> Int? {
    let digits = base.loadUnaligned(fromByteOffset: 11, as: UInt64.self) ^ 0x3030_3A30_303A_3030
    guard areDigits(digits), digits & 0x0000_FF00_00FF_0000 == 0 else { return nil }
    let (hour, minute, second) = (pair(digits), pair(digits >> 24), pair(digits >> 48))
    guard hour < 24, minute < 60, second < 60 else { return nil }
    return hour &* 3600 &+ minute &* 60 &+ second
  }

  /// Whether every byte is at most 9.
  @inline(__always)
  private static func areDigits(_ bytes: UInt64) -> Bool {
    ((bytes &+ 0x0606_0606_0606_0606) | bytes) & 0xF0F0_F0F0_F0F0_F0F0 == 0
  }

  /// The number whose two digits are the lowest bytes.
  @inline(__always)
  private static func pair(_ digits: UInt64) -> Int {
    Int(truncatingIfNeeded: (digits & 0xFF) &* 10 &+ (digits &>> 8 & 0xFF))
  }

  /// The digits behind a point, none where there is no point, or nil where a point stands alone.
  private static func takeFraction(_ rest: inout Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
    guard rest.first == UInt8(ascii: ".") else { return [] }
    let digits = rest.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    rest = rest[digits.endIndex...]
    return digits.isEmpty ? nil : Array(digits)
  }

  /// The seconds that the local time is ahead of UTC.
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
