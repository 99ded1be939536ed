import Foundation
public import HeartwoodGraph
import HeartwoodModel

// What the command heartwood-coredata makes of `@NSManaged var memo: String?`:
//
//     var memo: String? { get { managedValue(forKey: "memo") } set { setManagedValue(newValue, forKey: "memo") } }

extension NSManagedObject {
  /// Returns the value of an attribute.
  public final func managedValue<Value: AttributeValue>(forKey key: String) -> Value {
    guard let record else { return typedValue(forKey: key) ?? detachedValue(forKey: key, else: Value.absentValue) }
    let value = stored(record, key)
    if !isTransformed(value, record, key), let value = Value(propertyValue: value) { return value }
    return object(value, record, key).flatMap { $0 as? Value } ?? Value.absentValue
  }

  /// Whether a stored value is the data of a transformable attribute.
  private final func isTransformed(_ value: PropertyValue, _ record: CoreObject, _ key: String) -> Bool {
    guard case .binary = value else { return false }
    return record.entity.property(named: key)?.attribute?.type == .transformable
  }

  /// Sets the value of an attribute.
  public final func setManagedValue<Value: AttributeValue>(_ value: Value, forKey key: String) {
    leaveLostContext()
    guard let record, let ordinal = record.entity.ordinal(ofProperty: key),
      let attribute = record.entity.properties[ordinal].attribute
    else { return setValue(value, forKey: key) }
    let stored = value.propertyValue
    guard attribute.type != .transformable, stored.fits(attribute.type) else { return change(record, key, to: value) }
    change(record, attribute, ordinal, to: stored)
  }

  /// Returns the value of an attribute as a case of an enumeration.
  public final func managedValue<Value: RawRepresentable>(forKey key: String) -> Value
  where Value.RawValue: AttributeValue {
    let raw: Value.RawValue = managedValue(forKey: key)
    detached?.recorder?.noteType(Value.self)
    if let value = Value(rawValue: raw) { return value }
    ProgrammerError.stop("The value of \(key) is not one of \(Value.self).")
  }

  /// Sets the value of an attribute to a case of an enumeration.
  public final func setManagedValue<Value: RawRepresentable>(_ value: Value, forKey key: String)
  where Value.RawValue: AttributeValue {
    setManagedValue(value.rawValue, forKey: key)
  }

  /// Returns the value of a property: a related object, a set of them, or an object of Foundation.
  public final func managedValue<Value>(forKey key: String) -> Value {
    if detached?.recorder != nil { return detachedValue(forKey: key, else: nil) }
    return Self.cast(value(forKey: key), key)
  }

  /// Sets the value of a property.
  public final func setManagedValue<Value>(_ value: Value, forKey key: String) {
    setValue(unwrapped(value), forKey: key)
  }

  private static func cast<Value>(_ value: Any?, _ key: String) -> Value {
    if let value = value as? Value, unwrapped(value) != nil { return value }
    if let empty = (Value.self as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) as? Value, value == nil {
      return empty
    }
    if let value, let converted = converted(value) as? Value { return converted }
    ProgrammerError.stop(
      "The value of \(key) is \(value.map { "of type \(type(of: $0))" } ?? "nil"), and the property is declared as "
        + "\(Value.self)."
    )
  }

  /// Returns the same value in the form of Foundation's classes.
  private static func converted(_ value: Any) -> Any {
    switch value {
    case let text as String: text as NSString
    case let date as Date: date as NSDate
    case let data as Data: data as NSData
    case let uuid as UUID: uuid as NSUUID
    case let url as URL: url as NSURL
    case let set as NSOrderedSet: set.array
    default: value
    }
  }

  /// Returns the value of an attribute of an object in no context, whatever type it was set with; nil if there is none.
  private final func typedValue<Value: AttributeValue>(forKey key: String) -> Value? {
    guard detached?.recorder == nil, let value = value(forKey: key),
      let attribute = property(key) as? NSAttributeDescription
    else { return nil }
    if attribute.attributeType == .transformableAttributeType { return value as? Value }
    return StoredValue.propertyValue(value, AttributeType(attribute.attributeType)).flatMap(Value.init(propertyValue:))
  }

  private final func detachedValue<Value>(forKey key: String, else absent: Value?) -> Value {
    guard let recorder = detached?.recorder else {
      if let value = value(forKey: key) as? Value { return value }
      return absent ?? Self.cast(nil, key)
    }
    recorder.note(key, Value.self)
    return absent ?? Probes.value(key)
  }
}

// MARK: Probes

/// The values that an object gives while the name of a key path is learnt.
private enum Probes {
  static func value<Value>(_ key: String) -> Value {
    let type: Any.Type = (Value.self as? any ProbedOptional.Type)?.wrappedType ?? Value.self
    if let objectClass = type as? NSManagedObject.Type, let probe = KeyRecorder.probe(of: objectClass) as? Value {
      return probe
    }
    if let value = (Value.self as? any ExpressibleByNilLiteral.Type)?.init(nilLiteral: ()) as? Value { return value }
    if let values = (Value.self as? any ProbedValues.Type)?.probe as? Value { return values }
    if let objects = (Value.self as? any ProbedObjects.Type)?.probe as? Value { return objects }
    if let list = Value.self as? any ExpressibleByArrayLiteral.Type, let value = empty(list) as? Value { return value }
    for empty: Any in [
      NSSet(), NSOrderedSet(), NSNumber(value: 0), NSDecimalNumber.zero, NSString(), NSDate(), NSData(),
    ] {
      if let value = empty as? Value { return value }
    }
    ProgrammerError.stop("The name of the key path that reads \(key), of type \(Value.self), cannot be learnt.")
  }
}

/// Returns an array or set without elements.
private func empty<List: ExpressibleByArrayLiteral>(_ type: List.Type) -> List { [] }

protocol ProbedOptional {
  static var wrappedType: Any.Type { get }
}

extension Optional: ProbedOptional {
  static var wrappedType: Any.Type { Wrapped.self }
}

/// Arrays that have elements, which a key path may read: `\ToDo.tags[0]`.
private protocol ProbedValues {
  static var probe: Self { get }
}

extension Array: ProbedValues where Element: AttributeValue {
  static var probe: [Element] { Array(repeating: Element.absentValue, count: probedElements) }
}

private protocol ProbedObjects {
  static var probe: Self { get }
}

extension Array: ProbedObjects where Element: NSManagedObject {
  static var probe: [Element] {
    let object = KeyRecorder.probe(of: Element.self) as? Element
    return object.map { Array(repeating: $0, count: probedElements) } ?? []
  }
}

/// Key paths with greater indexes than this end the program.
private let probedElements = 16

// MARK: To-many relationships

// What the command makes of `@NSManaged func addToItems(_ value: ToDo)`.

extension NSManagedObject {
  /// Adds an object, or all of a set, to a to-many relationship.
  public final func addManagedValues(_ values: Any, forKey key: String) {
    let (former, added) = (Self.objects(in: value(forKey: key)), Self.objects(in: values))
    setValue(former + added.filter { !former.contains($0) }, forKey: key)
  }

  /// Removes an object, or all of a set, from a to-many relationship.
  public final func removeManagedValues(_ values: Any, forKey key: String) {
    let removed = Self.objects(in: values)
    setValue(Self.objects(in: value(forKey: key)).filter { !removed.contains($0) }, forKey: key)
  }
}
