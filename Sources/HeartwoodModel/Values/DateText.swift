/// Dates as text, in UTC, from which the same date comes back.
///
/// A date is a number of seconds since 2001-01-01 00:00 UTC. The text holds as many digits of a second as it takes.
package enum DateText {
  static let secondsPerDay = 86_400

  /// The dates that have a text: those of the years 1 to 9999.
  package static let representable: Range<Double> =
    Double(
      CivilDate.days(year: 1, month: 1, day: 1) * secondsPerDay
    )..<Double(
      CivilDate.days(year: 10_000, month: 1, day: 1) * secondsPerDay
    )

  /// `2016-09-17T18:15:00Z`, or nil for a date that has no text.
  package static func iso8601(_ seconds: Double) -> String? {
    guard representable.contains(seconds) else { return nil }
    var writer = DateTextWriter(separator: UInt8(ascii: "T"))
    let whole = [UInt8](unsafeUninitializedCapacity: DateTextWriter.length) { buffer, count in
      guard let base = buffer.baseAddress else { return }
      writer.write(seconds, to: UnsafeMutableRawPointer(base))
      count = DateTextWriter.length
    }
    return String(decoding: whole, as: UTF8.self) + DateFraction.text(of: seconds) + "Z"
  }

  /// The seconds of a date as ``iso8601(_:)`` or a CSV file writes it, with a time and a zone, or of a day alone, which begins at midnight UTC; nil
  /// where the text is neither.
  package static func seconds(_ text: String) -> Double? {
    let time = text.utf8.count == dayLength ? "T00:00:00Z" : ""
    var (reader, whole) = (DateTextReader(), text + time)
    return whole.withUTF8 { reader.seconds(UnsafeRawBufferPointer($0)) }
  }

  /// `2016-09-17`.
  private static let dayLength = 10
}
