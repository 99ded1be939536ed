public import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension AttributeType {
  /// From the one that is meant for a Swift type to those that can hold its values too.
  private static let byPreference: [AttributeType] = [
    .integer64, .integer32, .integer16, .double, .float, .decimal, .string, .boolean, .date, .binary, .uuid, .uri,
    .transformable,
  ]

  /// The type of the attributes that keep values of a Swift type: the widest integer that it takes, `transformable` for a
  /// ``CodableAttributeValue``; nil where it fits none.
  public init?(of valueType: any AttributeValue.Type) {
    let type = (valueType as? any OptionalAttributeValue.Type)?.wrappedType ?? valueType
    if type is any CodableAttributeValue.Type {
      self = .transformable
      return
    }
    guard let fitting = Self.byPreference.first(where: type.fits) else { return nil }
    self = fitting
  }
}

/// A type whose values may be nil.
protocol OptionalAttributeValue {
  static var wrappedType: any AttributeValue.Type { get }
}

extension Optional: OptionalAttributeValue where Wrapped: AttributeValue {
  static var wrappedType: any AttributeValue.Type { Wrapped.self }
}
