import Heartwood

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Dates between 1900 and 2100, which every format with dates can hold.
enum NearDates {
  /// Seconds since 2001.
  private static let range: ClosedRange<Double> = -3_187_296_000...3_155_760_000

  static func contain(_ value: PropertyValue) -> Bool {
    guard case .date(let date) = value else { return true }
    return range.contains(date.timeIntervalSinceReferenceDate)
  }

  /// A date with a fraction of a second.
  static func random(_ generator: inout SeededGenerator) -> PropertyValue {
    .date(Date(timeIntervalSinceReferenceDate: .random(in: range, using: &generator)))
  }
}
