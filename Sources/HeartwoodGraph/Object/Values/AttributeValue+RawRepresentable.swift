public import HeartwoodModel

/// An enumeration becomes the type of an attribute by its raw values:
///
///     enum Priority: Int, AttributeValue {
///       case low, high
///       static let absentValue = low
///     }
///
/// A raw value that has no case, which a newer version of the application may have saved, reads as no value;
/// ``ManagedObject/propertyValue(forKey:)`` gives it as it is.
extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
  /// Whether the raw type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { RawValue.fits(type) }

  /// The raw value as stores take it.
  public var propertyValue: PropertyValue { rawValue.propertyValue }

  /// Makes a value of one that stores give; nil where it is null, of another type, or without a case.
  public init?(propertyValue: PropertyValue) {
    guard let rawValue = RawValue(propertyValue: propertyValue) else { return nil }
    self.init(rawValue: rawValue)
  }

  /// Reads the attribute of `key`; nil where it has no value, or one without a case.
  @inlinable
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Self? {
    RawValue.readIfPresent(key, of: object).flatMap { Self(rawValue: $0) }
  }
}
