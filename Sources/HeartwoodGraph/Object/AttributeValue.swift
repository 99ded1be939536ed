import FoundationEssentials
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
  @inlinable
  public subscript<Value: AttributeValue>(key: AttributeKey<Value>) -> Value {
    get { Value.read(key, of: self) }
    set { setAttribute(key, newValue.propertyValue, fits: Value.fits) }
  }

  @usableFromInline
  func setAttribute(_ key: PropertyKey, _ value: PropertyValue, fits: (AttributeType) -> Bool) {
    let ordinal = key.ordinal(in: binding) { property in property.attribute.map { fits($0.type) } ?? false }
    let type = entity.properties[ordinal].attribute?.type
    precondition(type.map(value.fits) ?? false, "The value is out of the range of \(entity.name).\(key.name).")
    change(ordinal, to: value)
  }

  /// Reads an attribute from the columns, or from the changes where there are any.
  @inline(__always)
  func readAttribute<Value: AttributeValue>(
    _ key: PropertyKey,
    _ stored: (ColumnView, Int) -> Value,
    _ changed: (PropertyValue) -> Value?
  ) -> Value? {
    let ordinal = key.ordinal(in: binding) { property in property.attribute.map { Value.fits($0.type) } ?? false }
    if state.contains(.fault) { fireFault() }
    if let changes, let value = changes.values[ordinal] { return changed(value) }
    guard let group else { return nil }
    let view = group.unsafeViews[ordinal]
    // The group is held by the object for as long as the view is used.
    return view.unsafeIsNull(rowID.row) ? nil : stored(view, rowID.row)
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
}
