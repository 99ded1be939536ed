import Foundation

/// How numbers are written in the tables.
enum Figures {
  /// Seconds with three digits that count: `1.23 s`, `45.6 ms`, `789 µs`.
  static func duration(_ seconds: Double) -> String {
    guard seconds.isFinite else { return "–" }
    if seconds < 0.001 { return significant(seconds * 1_000_000) + " µs" }
    if seconds < 1 { return significant(seconds * 1000) + " ms" }
    return significant(seconds) + " s"
  }

  /// The median, and the range that the runs were in.
  static func spread(_ spread: Spread) -> String {
    "\(duration(spread.median)) (\(duration(spread.lowest))–\(duration(spread.highest)))"
  }

  static func megabytes(_ bytes: Int) -> String {
    "\((bytes + 500_000) / 1_000_000) MB"
  }

  static func ratio(_ ratio: Double) -> String {
    fixed(ratio, digits: 3)
  }

  /// A number with three digits that count, no more than two of them after the point.
  static func significant(_ value: Double) -> String {
    fixed(value, digits: value < 10 ? 2 : value < 100 ? 1 : 0)
  }

  private static func fixed(_ value: Double, digits: Int) -> String {
    String(format: "%.\(digits)f", value)
  }
}
