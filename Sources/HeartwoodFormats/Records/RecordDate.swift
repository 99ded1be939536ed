import HeartwoodModel
package import HeartwoodStore

/// Dates as ISO 8601 text in UTC: `2016-09-17T18:15:00Z`, with a fraction of a second only where there is one.
///
/// The fraction has the fewest digits from which the same date comes back. A date outside of the years 1 to 9999, or one that is
/// not finite, is the number of its seconds since 2001.
package enum RecordDate {
  /// Appends the date that is `seconds` after 2001-01-01 00:00 UTC.
  package static func append(_ seconds: Double, to output: GrowableBytes) {
    guard DateText.representable.contains(seconds) else { return output.append(text: NumberText.text(of: seconds)) }
    output.appendUnsafely(capacity: DateTextWriter.length) { buffer in
      guard let target = buffer.baseAddress else { return 0 }
      var writer = DateTextWriter(separator: UInt8(ascii: "T"))
      writer.write(seconds, to: target)
      return DateTextWriter.length
    }
    if seconds != seconds.rounded(.down) { output.append(text: DateFraction.text(of: seconds)) }
    output.append(ascii: "Z")
  }
}
