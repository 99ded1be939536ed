public import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension String: AttributeValue {
  /// What stands for a required attribute that has no value yet.
  public static var absentValue: String { "" }

  /// Whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .string }

  /// The value as stores take it.
  public var propertyValue: PropertyValue { .string(self) }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> String? {
    object.readAttribute(key) {
      $0.unsafeString($1)
    } _: { value in
      if case .string(let value) = value { value } else { nil }
    }
  }
}

extension Bool: AttributeValue {
  /// What stands for a required attribute that has no value yet.
  public static var absentValue: Bool { false }

  /// Whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .boolean }

  /// The value as stores take it.
  public var propertyValue: PropertyValue { .boolean(self) }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Bool? {
    object.readAttribute(key) {
      $0.unsafeBoolean($1)
    } _: { value in
      if case .boolean(let value) = value { value } else { nil }
    }
  }
}

extension Double: AttributeValue {
  /// What stands for a required attribute that has no value yet.
  public static var absentValue: Double { 0 }

  /// Whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .double }

  /// The value as stores take it.
  public var propertyValue: PropertyValue { .double(self) }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Double? {
    object.readAttribute(key) {
      $0.unsafeDouble($1)
    } _: { value in
      if case .double(let value) = value { value } else { nil }
    }
  }
}

extension Float: AttributeValue {
  /// What stands for a required attribute that has no value yet.
  public static var absentValue: Float { 0 }

  /// Whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .float }

  /// The value as stores take it.
  public var propertyValue: PropertyValue { .float(self) }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Float? {
    object.readAttribute(key) {
      $0.unsafeFloat($1)
    } _: { value in
      if case .float(let value) = value { value } else { nil }
    }
  }
}

extension Decimal: AttributeValue {
  /// What stands for a required attribute that has no value yet.
  public static var absentValue: Decimal { 0 }

  /// Whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .decimal }

  /// The value as stores take it.
  public var propertyValue: PropertyValue { .decimal(self) }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Decimal? {
    object.readAttribute(key) {
      $0.unsafeDecimal($1)
    } _: { value in
      if case .decimal(let value) = value { value } else { nil }
    }
  }
}

extension UUID: AttributeValue {
  /// What stands for a required attribute that has no value yet.
  public static var absentValue: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }

  /// Whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .uuid }

  /// The value as stores take it.
  public var propertyValue: PropertyValue { .uuid(self) }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> UUID? {
    object.readAttribute(key) {
      $0.unsafeUUID($1)
    } _: { value in
      if case .uuid(let value) = value { value } else { nil }
    }
  }
}

extension Date: AttributeValue {
  /// What stands for a required attribute that has no value yet.
  public static var absentValue: Date { Date(timeIntervalSinceReferenceDate: 0) }

  /// Whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .date }

  /// The value as stores take it.
  public var propertyValue: PropertyValue { .date(self) }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Date? {
    object.readAttribute(key) {
      Date(timeIntervalSinceReferenceDate: $0.unsafeDouble($1))
    } _: { value in
      if case .date(let value) = value { value } else { nil }
    }
  }
}

extension Data: AttributeValue {
  /// What stands for a required attribute that has no value yet.
  public static var absentValue: Data { Data() }

  /// Whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .binary || type == .transformable }

  /// The value as stores take it.
  public var propertyValue: PropertyValue { .binary(self) }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Data? {
    object.readAttribute(key) {
      Data($0.unsafeBytes($1))
    } _: { value in
      if case .binary(let value) = value { value } else { nil }
    }
  }
}

extension URL: AttributeValue {
  /// What stands for a required attribute that has no value yet: `about:blank`.
  public static var absentValue: URL {
    guard let blank = URL(string: "about:blank") else { preconditionFailure("about:blank is a URI.") }
    return blank
  }

  /// Whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .uri }

  /// The value as stores take it.
  public var propertyValue: PropertyValue { .uri(self) }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> URL? {
    guard case .uri(let value) = object.attributeValue(key, fits: fits) else { return nil }
    return value
  }
}
