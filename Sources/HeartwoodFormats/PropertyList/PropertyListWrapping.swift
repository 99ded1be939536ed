import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Values of metadata that a property list cannot hold as they are: each is a dictionary with one key that tells what it is.
enum PropertyListWrapping {
  private static let prefix = "Heartwood."
  /// Seconds since 2001, of a date that XML property lists would round.
  static let date = "Heartwood.date"
  /// UTF-8, of a string with characters that XML cannot hold.
  static let string = "Heartwood.string"
  /// A dictionary whose only key would be taken for one of these.
  static let dictionary = "Heartwood.dictionary"

  /// Whether a dictionary would be taken for a wrapping.
  static func needsWrapping(_ members: [String: MetadataValue]) -> Bool {
    members.count == 1 && members.keys.allSatisfy { $0.hasPrefix(prefix) }
  }

  /// The value with all wrapped ones in it as what they are; nil where a wrapping is not as it should be.
  ///
  /// It goes from the outside in: what a wrapping of a dictionary holds is no wrapping itself, whatever it looks like.
  static func unwrapped(_ value: MetadataValue) -> MetadataValue? {
    switch value {
    case .array(let values):
      let plain = values.compactMap(unwrapped)
      return plain.count == values.count ? .array(plain) : nil
    case .dictionary(let members):
      return needsWrapping(members) ? content(members) : unwrapped(members)
    default: return value
    }
  }

  private static func unwrapped(_ members: [String: MetadataValue]) -> MetadataValue? {
    let plain = members.compactMapValues(unwrapped)
    return plain.count == members.count ? .dictionary(plain) : nil
  }

  private static func content(_ members: [String: MetadataValue]) -> MetadataValue? {
    switch members.first {
    case (date, .double(let seconds))?: .date(Date(timeIntervalSinceReferenceDate: seconds))
    case (string, .binary(let data))?: String(data: data, encoding: .utf8).map(MetadataValue.string)
    case (dictionary, .dictionary(let members))?: unwrapped(members)
    default: nil
    }
  }
}
