import Foundation
import HeartwoodModel

/// The values of an object that is in no context.
final class DetachedValues {
  private var values: [String: Any] = [:]
  private var identifier: NSManagedObjectID?
  /// Reads the values of a record that is shown to a store of one's own.
  private var read: ((String) -> Any?)?
  /// Notes the keys that are read instead of giving values, to learn the name of a key path.
  let recorder: KeyRecorder?

  init(of entity: NSEntityDescription) {
    recorder = entity.isProbe ? KeyRecorder.current : nil
    for (name, attribute) in entity.attributesByName { values[name] = attribute.defaultValue }
  }

  subscript(key: String) -> Any? {
    get { values[key] ?? read?(key) }
    set { values[key] = unwrapped(newValue) }
  }

  /// The values that are there, by name.
  var all: [String: Any] { values }

  /// Makes the object show a record.
  func show(_ id: NSManagedObjectID, _ read: @escaping (String) -> Any?) {
    values = [:]
    identifier = id
    self.read = read
  }

  func objectID(of entity: NSEntityDescription) -> NSManagedObjectID {
    if let identifier { return identifier }
    let new = NSManagedObjectID(detached: entity)
    identifier = new
    return new
  }
}

// MARK: KeyRecorder

/// Learns the name of a key path: Swift does not keep it, so the key path is read on an object whose getters note the
/// key.
final class KeyRecorder {
  fileprivate(set) static var current: KeyRecorder? {
    get { Thread.current.threadDictionary["CoreData.KeyRecorder"] as? KeyRecorder }
    set { Thread.current.threadDictionary["CoreData.KeyRecorder"] = newValue }
  }

  private(set) var keys: [String] = []

  func note(_ key: String) { keys.append(key) }

  /// Returns the dotted name of a key path from a managed object; nil for another one.
  static func name(of keyPath: AnyKeyPath) -> String? {
    guard let objectClass = type(of: keyPath).rootType as? NSManagedObject.Type else { return nil }
    let outer = current
    let recorder = KeyRecorder()
    current = recorder
    defer { current = outer }
    _ = probe(of: objectClass)[keyPath: keyPath]
    return recorder.keys.isEmpty ? nil : recorder.keys.joined(separator: ".")
  }

  static func probe(of objectClass: NSManagedObject.Type) -> NSManagedObject {
    let entity = NSEntityDescription()
    entity.isProbe = true
    return objectClass.init(entity: entity, insertInto: nil)
  }
}
