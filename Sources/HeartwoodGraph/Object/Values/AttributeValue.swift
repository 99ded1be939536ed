import HeartwoodFoundation
public import HeartwoodModel
import HeartwoodStore

/// A Swift type that the values of attributes can have in typed accessors.
public protocol AttributeValue: Sendable {
  /// What stands for a required attribute that has no value yet: zero, false or empty, as for scalars in Core Data.
  static var absentValue: Self { get }
  /// Reads the attribute of `key`; nil where it has no value. Call the subscript of ``ManagedObject`` instead.
  static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Self?
  /// Reads the attribute of `key`. Call the subscript of ``ManagedObject`` instead.
  static func read(_ key: PropertyKey, of object: ManagedObject) -> Self
  /// Whether the type fits attributes of `type`.
  static func fits(_ type: AttributeType) -> Bool
  /// The value as stores take it.
  var propertyValue: PropertyValue { get }
  /// Makes a value of one that stores give; nil where it is null or of another type.
  init?(propertyValue: PropertyValue)
}

extension AttributeValue {
  /// Reads the attribute of `key`. Call the subscript of ``ManagedObject`` instead.
  @inlinable
  public static func read(_ key: PropertyKey, of object: ManagedObject) -> Self {
    readIfPresent(key, of: object) ?? absentValue
  }
}

extension ManagedObject {
  /// The value of an attribute.
  ///
  /// Reading fires a fault. O(1).
  ///
  /// A value that is out of the range of the attribute, such as 70,000 for one of 16 bits, is kept by the object, and the save fails with
  /// ``PersistenceError/Code/validationFailed`` until it is another. Setting a value of an object that is gone (deleted, let go by its context,
  /// or gone from its store, as ``isDeleted`` and ``managedObjectContext`` tell) does nothing and is logged as a warning.
  @inlinable
  public final subscript<Value: AttributeValue>(key: AttributeKey<Value>) -> Value {
    get { Value.read(key, of: self) }
    set { setAttribute(key, newValue.propertyValue, fits: Value.fits) }
  }

  @usableFromInline
  final func setAttribute(_ key: PropertyKey, _ value: PropertyValue, fits: (AttributeType) -> Bool) {
    // Whether the value is in the range of the attribute is a matter of validation.
    change(key.ordinal(in: self) { $0.attributeType.map(fits) ?? false }, to: value)
  }

  /// Reads an attribute from the columns, or from the changes where there are any.
  @inline(__always)
  final func readAttribute<Value: AttributeValue>(
    _ key: PropertyKey,
    _ stored: (ColumnView, Int) -> Value
  ) -> Value? {
    let ordinal = key.ordinal(in: self) { $0.attributeType.map(Value.fits) ?? false }
    if case .fault = content { fireFault() }
    // The object holds the group for as long as its views are used, and the row is one of the group's.
    if let views = readViews {
      return views[ordinal].unsafeIsNull(rowID.row) ? nil : stored(views[ordinal], rowID.row)
    }
    if let value = changedValue(at: ordinal) { return Value(propertyValue: value) }
    guard let views = committedViews, !views[ordinal].unsafeIsNull(rowID.row) else { return nil }
    return stored(views[ordinal], rowID.row)
  }

  /// The columns of an object that has read its values and changed none; nil for others.
  @inline(__always)
  private final var readViews: UnsafePointer<ColumnView>? {
    if case .read(let group) = content { group.unsafeViews } else { nil }
  }

  /// The new value of a property; nil where it has none.
  @inline(never)
  private final func changedValue(at ordinal: Int) -> PropertyValue? {
    if case .changed(let changes) = content, let value = changes.value(at: ordinal) { return value }
    if state.contains(.unread) { _ = readAgain() }
    return nil
  }

  final func attributeValue(_ key: PropertyKey, fits: (AttributeType) -> Bool) -> PropertyValue {
    let ordinal = key.ordinal(in: self) { $0.attributeType.map(fits) ?? false }
    return readable(value(at: ordinal), at: ordinal)
  }
}

extension Optional: AttributeValue where Wrapped: AttributeValue {
  /// Nil.
  public static var absentValue: Wrapped? { nil }

  /// Reads the attribute of `key`. Call the subscript of ``ManagedObject`` instead.
  @inlinable
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Wrapped?? {
    Wrapped.readIfPresent(key, of: object)
  }

  /// Reads the attribute of `key`. Call the subscript of ``ManagedObject`` instead.
  @inlinable
  public static func read(_ key: PropertyKey, of object: ManagedObject) -> Wrapped? {
    Wrapped.readIfPresent(key, of: object)
  }

  /// Whether the wrapped type fits.
  public static func fits(_ type: AttributeType) -> Bool { Wrapped.fits(type) }

  /// The value as stores take it; null for nil.
  public var propertyValue: PropertyValue { self?.propertyValue ?? .null }

  /// Makes a value of one that stores give: null makes nil, and a value of another type makes none.
  public init?(propertyValue: PropertyValue) {
    if propertyValue.isNull {
      self = nil
    } else if let value = Wrapped(propertyValue: propertyValue) {
      self = value
    } else {
      return nil
    }
  }
}

// MARK: Raw representable

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

// MARK: Integers

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
