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

  /// How many days before 2001 days are counted from.
  private static let leadDays = 1_000_000
  private static let lead = leadDays * DateText.secondsPerDay

  /// `00:00:00`, lowest byte first.
  private static let timeFrame: UInt64 = 0x3030_3A30_303A_3030

  /// The two digits of each number in `numbers`, the tens in the byte where the number stood and the ones in the next.
  ///
  /// - Parameters:
  ///   - numbers: numbers below 100, each in a byte and with a byte of zero above it.
  ///   - places: 0x0F in the bytes where the numbers stand.
  @inline(__always)
  private static func digits(of numbers: UInt64, at places: UInt64) -> UInt64 {
    // 103 / 1024 is near enough to a tenth.
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
