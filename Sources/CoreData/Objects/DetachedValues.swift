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
  /// The type of the property that was read last.
  private var lastType: Any.Type?

  func note(_ key: String, _ type: Any.Type) {
    keys.append(key)
    lastType = type
  }

  /// Notes that the property that was read last has its values as cases of an enumeration.
  func noteType(_ type: Any.Type) { lastType = type }

  /// Returns the dotted name of a key path from a managed object, or of one through stored properties; nil for others.
  static func name(of keyPath: AnyKeyPath) -> String? {
    let root = type(of: keyPath).rootType
    guard let objectClass = root as? NSManagedObject.Type else {
      return (root as? any KeyPathNaming.Type)?.keyPathNames[keyPath] ?? written(keyPath)
    }
    return recorded(keyPath, objectClass) ?? objectClass.keyPathNames[keyPath] ?? written(keyPath)
  }

  private static func recorded(_ keyPath: AnyKeyPath, _ objectClass: NSManagedObject.Type) -> String? {
    let outer = current
    let recorder = KeyRecorder()
    current = recorder
    defer { current = outer }
    _ = probe(of: objectClass)[keyPath: keyPath]
    // A path that goes on behind the last property, such as \ToDo.tags[0], has no name.
    guard let last = recorder.lastType, plain(last) == plain(type(of: keyPath).valueType) else { return nil }
    return recorder.keys.joined(separator: ".")
  }

  private static func plain(_ type: Any.Type) -> ObjectIdentifier {
    (type as? any ProbedOptional.Type).map { plain($0.wrappedType) } ?? ObjectIdentifier(type)
  }

  /// Returns the name in the key path's description, which has it for stored properties that cannot be overridden.
  private static func written(_ keyPath: AnyKeyPath) -> String? {
    let (text, prefix) = ("\(keyPath)", "\\\(type(of: keyPath).rootType).")
    guard text.hasPrefix(prefix), !text.contains("<") else { return nil }
    return text.dropFirst(prefix.count).filter { $0 != "?" && $0 != "!" }
  }

  static func probe(of objectClass: NSManagedObject.Type) -> NSManagedObject {
    let entity = NSEntityDescription()
    entity.isProbe = true
    return objectClass.init(entity: entity, insertInto: nil)
  }
}

// MARK: Names of key paths

/// A class whose properties have names for key-value coding. The command heartwood-coredata writes this for subclasses
/// of `NSObject` with properties that are declared with `@objc`.
public protocol KeyPathNaming: AnyObject {
  /// The names of properties, by the key paths that read them.
  static var keyPathNames: [AnyKeyPath: String] { get }
}

extension AnyKeyPath {
  /// The name that key-value coding has for the property that the key path reads, dotted if there are several; nil if
  /// it cannot be learnt. The standard library's own member of this name is always nil on this system.
  public var _kvcKeyPathString: String? { KeyRecorder.name(of: self) }
}
