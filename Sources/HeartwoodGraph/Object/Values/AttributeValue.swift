import HeartwoodFoundation
public import HeartwoodModel
import HeartwoodStore

/// A Swift type of attribute values in typed accessors.
public protocol AttributeValue: Sendable {
  /// The value of a required attribute that has not been set: zero, false or empty, as for scalars in Core Data.
  static var absentValue: Self { get }
  /// Reads the attribute of `key`; nil if it has no value. Call the subscript of ``ManagedObject`` instead.
  static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Self?
  /// Reads the attribute of `key`. Call the subscript of ``ManagedObject`` instead.
  static func read(_ key: PropertyKey, of object: ManagedObject) -> Self
  /// Returns whether the type fits attributes of `type`.
  static func fits(_ type: AttributeType) -> Bool
  /// The value in the form that stores use.
  var propertyValue: PropertyValue { get }
  /// Creates a value from that of a store; nil if it is null or of another type.
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
  ///     let memo = toDo[ToDo.memoKey]
  ///
  /// Reading a fault reads its record. O(1).
  ///
  /// If a value is out of the range of the attribute, such as 70,000 for one of 16 bits, the object keeps it, and
  /// saving fails with ``PersistenceError/Code/validationFailed`` until another value is set. Setting a value of an
  /// object that is gone (deleted, released by its context, or without a record in its store, see ``isDeleted`` and
  /// ``managedObjectContext``) does nothing and logs a warning.
  @inlinable
  public final subscript<Value: AttributeValue>(key: AttributeKey<Value>) -> Value {
    get { Value.read(key, of: self) }
    set { setAttribute(key, newValue.propertyValue, fits: Value.fits) }
  }

  @usableFromInline
  final func setAttribute(_ key: PropertyKey, _ value: PropertyValue, fits: (AttributeType) -> Bool) {
    // Validation checks whether the value is in the range of the attribute.
    change(key.ordinal(in: self) { $0.attributeType.map(fits) ?? false }, to: value)
  }

  /// Reads an attribute from the columns, or from the changes if there are any.
  @inline(__always)
  final func readAttribute<Value: AttributeValue>(
    _ key: PropertyKey,
    _ stored: (ColumnView, Int) -> Value
  ) -> Value? {
    let ordinal = key.ordinal(in: self) { $0.attributeType.map(Value.fits) ?? false }
    if case .fault = content { fireFault() }
    // The object retains the group for as long as its views are used, and the row is one of the group's.
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

  /// Returns the new value of a property; nil if it has none.
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

  /// Returns whether the wrapped type fits.
  public static func fits(_ type: AttributeType) -> Bool { Wrapped.fits(type) }

  /// The value in the form that stores use; null for nil.
  public var propertyValue: PropertyValue { self?.propertyValue ?? .null }

  /// Creates a value from that of a store: null becomes nil, and for a value of another type the initializer fails.
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

/// An enumeration can be the type of an attribute, which stores its raw values:
///
///     enum Priority: Int, AttributeValue {
///       case low, high
///       static let absentValue = low
///     }
///
/// A raw value without a case, which a newer version of the application may have saved, reads as no value;
/// ``ManagedObject/propertyValue(forKey:)`` returns the stored value.
extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
  /// Returns whether the raw type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { RawValue.fits(type) }

  /// The raw value in the form that stores use.
  public var propertyValue: PropertyValue { rawValue.propertyValue }

  /// Creates a value from that of a store; nil if it is null, of another type, or without a case.
  public init?(propertyValue: PropertyValue) {
    guard let rawValue = RawValue(propertyValue: propertyValue) else { return nil }
    self.init(rawValue: rawValue)
  }

  /// Reads the attribute of `key`; nil if it has no value, or one without a case.
  @inlinable
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Self? {
    RawValue.readIfPresent(key, of: object).flatMap { Self(rawValue: $0) }
  }
}

// MARK: Integers

extension Int: AttributeValue {
  /// The value of a required attribute that has not been set.
  public static var absentValue: Int { 0 }

  /// Returns whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type.integerRange != nil }

  /// The value in the form that stores use.
  public var propertyValue: PropertyValue { .integer(Int64(self)) }

  /// Creates a value from that of a store; nil if it is null, of another type, or out of the range of this one.
  public init?(propertyValue: PropertyValue) {
    guard case .integer(let value) = propertyValue else { return nil }
    self.init(exactly: value)
  }

  /// Reads the attribute of `key`; nil if it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Int? {
    object.readAttribute(key) {
      Int(truncatingIfNeeded: $0.unsafeInteger($1))
    }
  }
}

extension Int16: AttributeValue {
  /// The value of a required attribute that has not been set.
  public static var absentValue: Int16 { 0 }

  /// Returns whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .integer16 }

  /// The value in the form that stores use.
  public var propertyValue: PropertyValue { .integer(Int64(self)) }

  /// Creates a value from that of a store; nil if it is null, of another type, or out of the range of this one.
  public init?(propertyValue: PropertyValue) {
    guard case .integer(let value) = propertyValue else { return nil }
    self.init(exactly: value)
  }

  /// Reads the attribute of `key`; nil if it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Int16? {
    object.readAttribute(key) {
      Int16(truncatingIfNeeded: $0.unsafeInteger($1))
    }
  }
}

extension Int32: AttributeValue {
  /// The value of a required attribute that has not been set.
  public static var absentValue: Int32 { 0 }

  /// Returns whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type == .integer16 || type == .integer32 }

  /// The value in the form that stores use.
  public var propertyValue: PropertyValue { .integer(Int64(self)) }

  /// Creates a value from that of a store; nil if it is null, of another type, or out of the range of this one.
  public init?(propertyValue: PropertyValue) {
    guard case .integer(let value) = propertyValue else { return nil }
    self.init(exactly: value)
  }

  /// Reads the attribute of `key`; nil if it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Int32? {
    object.readAttribute(key) {
      Int32(truncatingIfNeeded: $0.unsafeInteger($1))
    }
  }
}

extension Int64: AttributeValue {
  /// The value of a required attribute that has not been set.
  public static var absentValue: Int64 { 0 }

  /// Returns whether the type fits attributes of `type`.
  public static func fits(_ type: AttributeType) -> Bool { type.integerRange != nil }

  /// The value in the form that stores use.
  public var propertyValue: PropertyValue { .integer(Int64(self)) }

  /// Creates a value from that of a store; nil if it is null, of another type, or out of the range of this one.
  public init?(propertyValue: PropertyValue) {
    guard case .integer(let value) = propertyValue else { return nil }
    self.init(exactly: value)
  }

  /// Reads the attribute of `key`; nil if it has no value.
  public static func readIfPresent(_ key: PropertyKey, of object: ManagedObject) -> Int64? {
    object.readAttribute(key) {
      Int64(truncatingIfNeeded: $0.unsafeInteger($1))
    }
  }
}
