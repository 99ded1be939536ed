import Foundation
import HeartwoodGraph
import HeartwoodModel

// Key-value coding knows the properties of the model. Accessors that a class defines for other keys are not found:
// Swift has no way to call them by name on this system.

extension NSManagedObject {
  /// Returns the value of a property: numbers as `NSNumber`, to-many relationships as `NSSet` or `NSOrderedSet`.
  public final func value(forKey key: String) -> Any? {
    if let record {
      return keyedValue(record, key)
    }
    return detachedValue(forKey: key)
  }

  private func keyedValue(_ record: CoreObject, _ key: String) -> Any? {
    if record.entity.ordinal(ofProperty: key) != nil { return object(stored(record, key), record, key) }
    if let composite = composite(key) { return composite.dictionary { keyedValue(record, $0) } }
    return fetchedObjects(record, key) ?? object(stored(record, key), record, key)
  }

  /// Returns the composite attribute called `key`; nil if it is a property of another kind.
  final func composite(_ key: String) -> NSCompositeAttributeDescription? {
    entity.propertiesByName[key] as? NSCompositeAttributeDescription
  }

  /// Returns the objects of a fetched property; nil for a property of another kind. If they cannot be read, the next
  /// save throws the reason.
  private func fetchedObjects(_ record: CoreObject, _ key: String) -> [NSManagedObject]? {
    guard let owner,
      record.entity.fetchedProperties.contains(where: { $0.name == key })
    else { return nil }
    return owner.hold {
      do {
        return try record.fetchedValue(forKey: key).map { owner.facade(of: $0) }
      } catch {
        owner.noteFailure(error)
        return []
      }
    }
  }

  private func detachedValue(forKey key: String) -> Any? {
    if let value = detached?[key] { return value }
    guard let relationship = property(key) as? NSRelationshipDescription, relationship.isToMany else { return nil }
    return relationship.isOrdered ? NSOrderedSet() : NSSet()
  }

  /// Sets the value of a property. `NSNull` stands for no value.
  public final func setValue(_ value: Any?, forKey key: String) {
    leaveLostContext()
    if let record { return change(record, key, to: value) }
    _ = property(key)
    detached?[key] = value
  }

  /// Returns the value at a dotted path: `list.title`, `items.memo`, `items.@count`, `items.@sum.price`.
  public final func value(forKeyPath keyPath: String) -> Any? {
    KeyValueCoding.value(of: self, keyPath.split(separator: ".").map(String.init))
  }

  /// Sets the value at a dotted path, whose keys but the last name to-one relationships.
  public final func setValue(_ value: Any?, forKeyPath keyPath: String) {
    let keys = keyPath.split(separator: ".").map(String.init)
    guard let last = keys.last else { return }
    guard keys.count > 1 else { return setValue(value, forKey: last) }
    for place in keys.indices.dropLast().reversed() {
      let target = KeyValueCoding.value(of: self, Array(keys[..<place])) as? NSManagedObject
      if let composite = target?.composite(keys[place]) {
        target?.setPart(of: composite, Array(keys[(place + 1)...]), to: value)
        return
      }
    }
    let target = KeyValueCoding.value(of: self, Array(keys.dropLast()))
    (target as? NSManagedObject)?.setValue(value, forKey: last)
  }

  /// Sets one part of a composite attribute.
  private func setPart(of composite: NSCompositeAttributeDescription, _ path: [String], to value: Any?) {
    if record != nil, let name = composite.attributeName(ofPart: path) { return setValue(value, forKey: name) }
    let whole = self.value(forKey: composite.name) as? [String: Any] ?? [:]
    setValue(Self.setting(path, in: whole, to: value), forKey: composite.name)
  }

  private static func setting(_ path: [String], in whole: [String: Any], to value: Any?) -> [String: Any] {
    var whole = whole
    guard let key = path.first else { return whole }
    whole[key] =
      path.count == 1
      ? unwrapped(value) : setting(Array(path.dropFirst()), in: whole[key] as? [String: Any] ?? [:], to: value)
    return whole
  }

  /// Returns the values of several properties; `NSNull` stands for no value.
  public final func dictionaryWithValues(forKeys keys: [String]) -> [String: Any] {
    Dictionary(keys.map { ($0, value(forKey: $0) ?? NSNull()) }) { first, _ in first }
  }

  /// Sets the values of several properties.
  public final func setValuesForKeys(_ keyedValues: [String: Any]) {
    for (key, value) in keyedValues { setValue(value, forKey: key) }
  }

  // MARK: Primitive values

  /// Returns the value of a property, for accessors of one's own.
  public final func primitiveValue(forKey key: String) -> Any? { value(forKey: key) }

  /// Sets the value of a property, for accessors of one's own. The inverse of a relationship is set with it.
  public final func setPrimitiveValue(_ value: Any?, forKey key: String) {
    if let record { return change(record, key, to: value, quietly: true) }
    setValue(value, forKey: key)
  }

  /// Reads the values of a fault, for accessors of one's own.
  public final func willAccessValue(forKey key: String?) {
    guard let record, record.isFault else { return }
    if let owner { owner.hold { record.willAccessValue() } } else { record.willAccessValue() }
  }

  /// The end of an access, for accessors of one's own. There is nothing to do here.
  public final func didAccessValue(forKey key: String?) {}

  /// The beginning of a change, for accessors of one's own. Foundation has no key-value observing on this system, so
  /// there are no observers to notify; the change itself is recorded when the primitive value is set.
  public final func willChangeValue(forKey key: String) {}

  /// The end of a change; see ``willChangeValue(forKey:)``.
  public final func didChangeValue(forKey key: String) {}

  // MARK: Changes

  /// The values that differ from the stored ones; `NSNull` stands for no value.
  public final func changedValues() -> [String: Any] {
    guard let record else { return [:] }
    return objects(record.changedValues(), record) { self.value(forKey: $0) }
  }

  /// Returns the values as they were read or saved last; nil stands for all properties.
  public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
    guard let record else { return [:] }
    if record.isFault { willAccessValue(forKey: nil) }
    let committed = record.committedValues()
    let values = objects(committed, record) { name in
      composite(name)?.dictionary { part in committed[part].flatMap { object($0, record, part) } }
    }
    return keys.map { keys in values.filter { keys.contains($0.key) } } ?? values
  }

  private func objects(
    _ values: [String: PropertyValue],
    _ record: CoreObject,
    _ whole: (String) -> Any?
  ) -> [String: Any] {
    var objects: [String: Any] = [:]
    for (key, value) in values { objects[key] = object(value, record, key) ?? NSNull() }
    if record.entity.compositeAttributes.isEmpty { return objects }
    for case let composite as NSCompositeAttributeDescription in entity.attributesByName.values {
      composite.gather(&objects, whole)
    }
    return objects
  }
}

// MARK: KeyValueCoding

/// Key paths over managed objects, dictionaries and collections.
enum KeyValueCoding {
  static func value(of object: Any?, _ keys: [String]) -> Any? {
    guard let object = unwrapped(object), let key = keys.first else { return unwrapped(object) }
    if key.hasPrefix("@") { return collected(object, key, Array(keys.dropFirst())) }
    if let elements = elements(of: object) {
      let values = elements.map { value(of: $0, keys) ?? NSNull() }
      return object is NSSet ? NSSet(array: values) : NSArray(array: values)
    }
    return value(of: member(key, of: object), Array(keys.dropFirst()))
  }

  private static func member(_ key: String, of object: Any) -> Any? {
    switch object {
    case let object as NSManagedObject: object.value(forKey: key)
    case let dictionary as [String: Any]: dictionary[key]
    case let dictionary as NSDictionary: dictionary[key]
    default: storedProperty(key, of: object)
    }
  }

  /// Returns the value of a stored property of an object that has no other key-value coding on this system.
  private static func storedProperty(_ key: String, of object: Any) -> Any? {
    var mirror: Mirror? = Mirror(reflecting: object)
    while let current = mirror {
      if let child = current.children.first(where: { $0.label == key }) { return unwrapped(child.value) }
      mirror = current.superclassMirror
    }
    ProgrammerError.stop(
      "The class \(type(of: object)) has no stored property called \(key). No other can be read by key on this system."
    )
  }

  /// Returns the elements of a collection; nil for anything else.
  static func elements(of object: Any) -> [Any]? {
    switch object {
    case let set as NSSet: set.allObjects
    case let set as NSOrderedSet: set.array
    case let array as [Any]: array
    case let set as Set<AnyHashable>: set.map(\.base)
    default: nil
    }
  }

  private static func collected(_ object: Any, _ symbol: String, _ keys: [String]) -> Any? {
    let elements = elements(of: object) ?? [object]
    if symbol == "@count" { return NSNumber(value: elements.count) }
    let values = elements.compactMap { value(of: $0, keys) }.filter { !($0 is NSNull) }
    let numbers = values.compactMap { $0 as? NSNumber }
    switch symbol {
    case "@sum": return NSNumber(value: numbers.reduce(0) { $0 + $1.doubleValue })
    case "@avg":
      return numbers.isEmpty ? nil : NSNumber(value: numbers.reduce(0) { $0 + $1.doubleValue } / Double(numbers.count))
    case "@min": return values.min(by: isLess)
    case "@max": return values.max(by: isLess)
    case "@unionOfObjects": return NSArray(array: values)
    case "@distinctUnionOfObjects": return NSOrderedSet(array: values).array as NSArray
    default: ProgrammerError.stop("Key-value coding has no collection operator \(symbol).")
    }
  }

  private static func isLess(_ left: Any, _ right: Any) -> Bool {
    switch (left, right) {
    case (let left as NSNumber, let right as NSNumber): left.compare(right) == .orderedAscending
    case (let left as String, let right as String): left < right
    case (let left as Date, let right as Date): left < right
    default: false
    }
  }
}
