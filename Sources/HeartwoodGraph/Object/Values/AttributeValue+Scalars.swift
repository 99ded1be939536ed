public import HeartwoodFoundation
public import HeartwoodModel
import HeartwoodStore

extension String: AttributeValue {
  /// The value of a required attribute that has not been set.
  public static var absentValue: String { "" }

  /// Returns whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .string }

  /// The value in the form that stores use.
  public var propertyValue: PropertyValue { .string(self) }

  /// Creates a value from that of a store; nil if it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .string(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil if it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> String? {
    object.readAttribute(key) {
      $0.unsafeString($1)
    }
  }
}

extension Bool: AttributeValue {
  /// The value of a required attribute that has not been set.
  public static var absentValue: Bool { false }

  /// Returns whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .boolean }

  /// The value in the form that stores use.
  public var propertyValue: PropertyValue { .boolean(self) }

  /// Creates a value from that of a store; nil if it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .boolean(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil if it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Bool? {
    object.readAttribute(key) {
      $0.unsafeBoolean($1)
    }
  }
}

extension Double: AttributeValue {
  /// The value of a required attribute that has not been set.
  public static var absentValue: Double { 0 }

  /// Returns whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .double }

  /// The value in the form that stores use.
  public var propertyValue: PropertyValue { .double(self) }

  /// Creates a value from that of a store; nil if it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .double(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil if it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Double? {
    object.readAttribute(key) {
      $0.unsafeDouble($1)
    }
  }
}

extension Float: AttributeValue {
  /// The value of a required attribute that has not been set.
  public static var absentValue: Float { 0 }

  /// Returns whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .float }

  /// The value in the form that stores use.
  public var propertyValue: PropertyValue { .float(self) }

  /// Creates a value from that of a store; nil if it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .float(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil if it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Float? {
    object.readAttribute(key) {
      $0.unsafeFloat($1)
    }
  }
}

extension Decimal: AttributeValue {
  /// The value of a required attribute that has not been set.
  public static var absentValue: Decimal { 0 }

  /// Returns whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .decimal }

  /// The value in the form that stores use.
  public var propertyValue: PropertyValue { .decimal(self) }

  /// Creates a value from that of a store; nil if it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .decimal(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil if it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Decimal? {
    object.readAttribute(key) {
      $0.unsafeDecimal($1)
    }
  }
}

extension UUID: AttributeValue {
  /// The value of a required attribute that has not been set.
  public static var absentValue: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }

  /// Returns whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .uuid }

  /// The value in the form that stores use.
  public var propertyValue: PropertyValue { .uuid(self) }

  /// Creates a value from that of a store; nil if it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .uuid(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil if it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> UUID? {
    object.readAttribute(key) {
      $0.unsafeUUID($1)
    }
  }
}

extension Date: AttributeValue {
  /// The value of a required attribute that has not been set.
  public static var absentValue: Date { Date(timeIntervalSinceReferenceDate: 0) }

  /// Returns whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .date }

  /// The value in the form that stores use.
  public var propertyValue: PropertyValue { .date(self) }

  /// Creates a value from that of a store; nil if it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .date(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil if it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Date? {
    object.readAttribute(key) {
      Date(timeIntervalSinceReferenceDate: $0.unsafeDouble($1))
    }
  }
}

extension Data: AttributeValue {
  /// The value of a required attribute that has not been set.
  public static var absentValue: Data { Data() }

  /// Returns whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .binary || type == .transformable }

  /// The value in the form that stores use.
  public var propertyValue: PropertyValue { .binary(self) }

  /// Creates a value from that of a store; nil if it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .binary(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil if it has no value, or one that cannot be read:
  /// ``ManagedObject/propertyValue(forKey:)`` throws the reason.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Data? {
    let data: Data? = object.readAttribute(key) { Data($0.unsafeBytes($1)) }
    // Values that cannot be read are stored as empty data.
    guard let data, data.isEmpty else { return data }
    return Data(propertyValue: object.attributeValue(key, fits: fits))
  }
}

extension URL: AttributeValue {
  /// The value of a required attribute that has not been set: `about:blank`.
  public static var absentValue: URL {
    guard let blank = URL(string: "about:blank") else { ProgrammerError.stop("about:blank is a URI.") }
    return blank
  }

  /// Returns whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .uri }

  /// The value in the form that stores use.
  public var propertyValue: PropertyValue { .uri(self) }

  /// Creates a value from that of a store; nil if it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .uri(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil if it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> URL? {
    URL(propertyValue: object.attributeValue(key, fits: fits))
  }
}

// MARK: OrderedAttributeValue

/// A Swift type of attributes whose values are ordered, so that there is a least and a greatest one.
///
/// An enumeration whose raw values imply an order may conform: `enum Priority: Int, OrderedAttributeValue { … }`.
public protocol OrderedAttributeValue: AttributeValue {
  /// The type of the least and the greatest value: the type itself, without an `Optional`.
  associatedtype Extreme: AttributeValue = Self
}

extension String: OrderedAttributeValue {}
extension Date: OrderedAttributeValue {}
extension Optional: OrderedAttributeValue where Wrapped: OrderedAttributeValue {
  /// The type of the least and the greatest value, which are optional whether or not the attribute is.
  public typealias Extreme = Wrapped.Extreme
}

/// A Swift type of attributes whose values are numbers.
public protocol NumericAttributeValue: OrderedAttributeValue {
  /// The type of a sum, wide enough for the sum of many: sums of integers are integers.
  associatedtype Sum: AttributeValue = Int
  /// The type of an average, which has a fraction.
  associatedtype Average: AttributeValue = Double
}

extension Int: NumericAttributeValue {}
extension Int16: NumericAttributeValue {}
extension Int32: NumericAttributeValue {}
extension Int64: NumericAttributeValue {}

extension Double: NumericAttributeValue {
  /// Sums are as exact as the numbers.
  public typealias Sum = Double
}

extension Float: NumericAttributeValue {
  /// Sums are taken in double precision.
  public typealias Sum = Double
}

extension Decimal: NumericAttributeValue {
  /// Sums of decimal numbers are decimal.
  public typealias Sum = Decimal
  /// Averages of decimal numbers are decimal.
  public typealias Average = Decimal
}

extension Optional: NumericAttributeValue where Wrapped: NumericAttributeValue {
  /// `nil` values are skipped.
  public typealias Sum = Wrapped.Sum
  /// `nil` values are skipped.
  public typealias Average = Wrapped.Average
}
