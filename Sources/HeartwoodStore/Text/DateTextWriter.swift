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
