public import HeartwoodFoundation
public import HeartwoodModel
import HeartwoodStore

extension String: AttributeValue {
  /// What stands for a required attribute that has no value yet.
  public static var absentValue: String { "" }

  /// Whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .string }

  /// The value as stores take it.
  public var propertyValue: PropertyValue { .string(self) }

  /// Makes a value of one that stores give; nil where it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .string(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> String? {
    object.readAttribute(key) {
      $0.unsafeString($1)
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

  /// Makes a value of one that stores give; nil where it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .boolean(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Bool? {
    object.readAttribute(key) {
      $0.unsafeBoolean($1)
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

  /// Makes a value of one that stores give; nil where it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .double(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Double? {
    object.readAttribute(key) {
      $0.unsafeDouble($1)
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

  /// Makes a value of one that stores give; nil where it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .float(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Float? {
    object.readAttribute(key) {
      $0.unsafeFloat($1)
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

  /// Makes a value of one that stores give; nil where it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .decimal(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Decimal? {
    object.readAttribute(key) {
      $0.unsafeDecimal($1)
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

  /// Makes a value of one that stores give; nil where it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .uuid(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> UUID? {
    object.readAttribute(key) {
      $0.unsafeUUID($1)
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

  /// Makes a value of one that stores give; nil where it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .date(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Date? {
    object.readAttribute(key) {
      Date(timeIntervalSinceReferenceDate: $0.unsafeDouble($1))
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

  /// Makes a value of one that stores give; nil where it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .binary(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil where it has no value, or one that cannot be read: ``ManagedObject/propertyValue(forKey:)`` says why.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Data? {
    let data: Data? = object.readAttribute(key) { Data($0.unsafeBytes($1)) }
    // What cannot be read is empty.
    guard let data, data.isEmpty else { return data }
    return Data(propertyValue: object.attributeValue(key, fits: fits))
  }
}

extension URL: AttributeValue {
  /// What stands for a required attribute that has no value yet: `about:blank`.
  public static var absentValue: URL {
    guard let blank = URL(string: "about:blank") else { Misuse.stop("about:blank is a URI.") }
    return blank
  }

  /// Whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .uri }

  /// The value as stores take it.
  public var propertyValue: PropertyValue { .uri(self) }

  /// Makes a value of one that stores give; nil where it is null or of another type.
  public init?(propertyValue: PropertyValue) {
    guard case .uri(let value) = propertyValue else { return nil }
    self = value
  }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> URL? {
    URL(propertyValue: object.attributeValue(key, fits: fits))
  }
}

// MARK: OrderedAttributeValue

/// A Swift type of attributes whose values have a least and a greatest one.
///
/// An enumeration whose raw values mean an order may say so: `enum Priority: Int, OrderedAttributeValue { … }`.
public protocol OrderedAttributeValue: AttributeValue {
  /// The type of the least and the greatest value: the type itself, without an `Optional`.
  associatedtype Extreme: AttributeValue = Self
}

extension String: OrderedAttributeValue {}
extension Date: OrderedAttributeValue {}
extension Optional: OrderedAttributeValue where Wrapped: OrderedAttributeValue {
  /// The least and the greatest value are there or not, whether the attribute is optional or not.
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
