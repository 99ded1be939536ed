public import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A type of the application's own that a transformable (or binary) attribute keeps as JSON.
///
///     struct Place: CodableAttributeValue {
///       var latitude = 0.0
///       var longitude = 0.0
///       static let absentValue = Place()
///     }
///     static let placeKey = AttributeKey<Place?>("place")
///
/// The JSON has sorted keys, so equal values have equal bytes. Each read decodes it: keep the value where it is needed often. What
/// cannot be decoded, since a newer version of the application has written it, reads as no value: that is among the context's
/// ``ManagedObjectContext/readFailures``, ``ManagedObject/read(_:)-(AttributeKey<Value>)`` throws it, and
/// ``ManagedObject/propertyValue(forKey:)`` gives the bytes. A value that cannot be encoded reads as no value, and the save fails with
/// ``PersistenceError/Code/validationFailed`` until another is set.
public protocol CodableAttributeValue: AttributeValue, Codable {}

extension CodableAttributeValue {
  /// Whether the attribute keeps bytes.
  public static func fits(_ type: AttributeType) -> Bool { Data.fits(type) }

  /// The value as JSON.
  public var propertyValue: PropertyValue {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: Self.infinity,
      negativeInfinity: "-" + Self.infinity,
      nan: Self.nan
    )
    // try?: a value that cannot be encoded is kept as one that no save takes.
    return (try? encoder.encode(self)).map(PropertyValue.binary) ?? .unencodable(Self.self)
  }

  /// Makes a value of JSON; nil where there is none, or it is of another form.
  public init?(propertyValue: PropertyValue) {
    // try?: nil says that it is of another form.
    guard let data = Data(propertyValue: propertyValue), let value = try? Self.decoded(data) else { return nil }
    self = value
  }

  private static func decoded(_ data: Data) throws -> Self {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: Self.infinity,
      negativeInfinity: "-" + Self.infinity,
      nan: Self.nan
    )
    return try decoder.decode(Self.self, from: data)
  }

  /// Reads the attribute of `key`; nil where it has no value, or one that cannot be decoded.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Self? {
    guard let data = Data.readIfPresent(key, of: object) else { return nil }
    do {
      return try decoded(data)
    } catch {
      object.noteUnreadableValue(key, error)
      return nil
    }
  }

  private static var infinity: String { "Infinity" }
  private static var nan: String { "NaN" }
}

extension PropertyValue {
  /// What stands for a value that cannot be turned into bytes. It fits no attribute that keeps bytes, so validation finds it.
  static func unencodable(_ type: Any.Type) -> PropertyValue { .string("\(type)") }
}
