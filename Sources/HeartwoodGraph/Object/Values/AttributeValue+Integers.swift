public import HeartwoodModel
import HeartwoodStore

extension Int: AttributeValue {
  /// What stands for a required attribute that has no value yet.
  public static var absentValue: Int { 0 }

  /// Whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type.integerRange != nil }

  /// The value as stores take it.
  public var propertyValue: PropertyValue { .integer(Int64(self)) }

  /// Makes a value of one that stores give; nil if it is null, of another type, or out of the range of this one.
  public init?(propertyValue: PropertyValue) {
    guard case .integer(let value) = propertyValue else { return nil }
    self.init(exactly: value)
  }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Int? {
    object.readAttribute(key) {
      Int(truncatingIfNeeded: $0.unsafeInteger($1))
    }
  }
}

extension Int16: AttributeValue {
  /// What stands for a required attribute that has no value yet.
  public static var absentValue: Int16 { 0 }

  /// Whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .integer16 }

  /// The value as stores take it.
  public var propertyValue: PropertyValue { .integer(Int64(self)) }

  /// Makes a value of one that stores give; nil if it is null, of another type, or out of the range of this one.
  public init?(propertyValue: PropertyValue) {
    guard case .integer(let value) = propertyValue else { return nil }
    self.init(exactly: value)
  }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Int16? {
    object.readAttribute(key) {
      Int16(truncatingIfNeeded: $0.unsafeInteger($1))
    }
  }
}

extension Int32: AttributeValue {
  /// What stands for a required attribute that has no value yet.
  public static var absentValue: Int32 { 0 }

  /// Whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .integer16 || type == .integer32 }

  /// The value as stores take it.
  public var propertyValue: PropertyValue { .integer(Int64(self)) }

  /// Makes a value of one that stores give; nil if it is null, of another type, or out of the range of this one.
  public init?(propertyValue: PropertyValue) {
    guard case .integer(let value) = propertyValue else { return nil }
    self.init(exactly: value)
  }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Int32? {
    object.readAttribute(key) {
      Int32(truncatingIfNeeded: $0.unsafeInteger($1))
    }
  }
}

extension Int64: AttributeValue {
  /// What stands for a required attribute that has no value yet.
  public static var absentValue: Int64 { 0 }

  /// Whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type.integerRange != nil }

  /// The value as stores take it.
  public var propertyValue: PropertyValue { .integer(Int64(self)) }

  /// Makes a value of one that stores give; nil if it is null, of another type, or out of the range of this one.
  public init?(propertyValue: PropertyValue) {
    guard case .integer(let value) = propertyValue else { return nil }
    self.init(exactly: value)
  }

  /// Reads the attribute of `key`; nil where it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Int64? {
    object.readAttribute(key) {
      Int64(truncatingIfNeeded: $0.unsafeInteger($1))
    }
  }
}
