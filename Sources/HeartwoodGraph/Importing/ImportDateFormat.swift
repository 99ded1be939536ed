import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How the dates of an attribute are written.
enum ImportDateFormat: Sendable {
  /// ISO 8601, a date alone or with a time, with a zone or in UTC. Numbers are seconds since 1970.
  case iso8601
  /// Numbers are milliseconds since 1970.
  case milliseconds
  /// Text is after a pattern. Numbers are seconds since 1970.
  case pattern(DatePattern)

  private static let patterns = [
    "yyyy-MM-dd'T'HH:mm:ss.S", "yyyy-MM-dd'T'HH:mm:ssZ", "yyyy-MM-dd'T'HH:mm:ss.SZ", "yyyy-MM-dd'T'HH:mm:ss",
    "yyyy-MM-dd'T'HH:mmZ", "yyyy-MM-dd'T'HH:mm", "yyyy-MM-dd", "yyyyMMdd'T'HHmmssZ", "yyyyMMdd'T'HHmmss", "yyyyMMdd",
  ].compactMap(DatePattern.init)
}

extension ImportDateFormat {
  /// The date that `text` says; nil where it is written otherwise.
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

  /// The date that a number says; nil where that is not finite.
  func date(_ number: Double) -> Date? {
    guard number.isFinite else { return nil }
    if case .milliseconds = self { return Date(timeIntervalSince1970: number / 1000) }
    return Date(timeIntervalSince1970: number)
  }
}
