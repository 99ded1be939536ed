import Foundation
import Synchronization

/// Finds the class of an entity's objects by its name.
enum ManagedObjectClasses {
  /// Returns the class called `name`: with its module, or, for a class whose source has `@objc(Name)` or that is the
  /// only one of its name, without. If there is none, it says so on the standard error and returns NSManagedObject, as
  /// Core Data does.
  static func objectClass(named name: String?, ofEntity entity: String) -> NSManagedObject.Type {
    guard let name, !name.isEmpty, name != "NSManagedObject" else { return NSManagedObject.self }
    let plain = name.hasPrefix(".") ? String(name.dropFirst()) : name
    if let noted = NamedClasses[plain] as? NSManagedObject.Type { return noted }
    if let found = NSClassFromString(plain) as? NSManagedObject.Type { return found }
    if let found = TypeSearch.objectClass(named: plain) { return found }
    let message = """
      CoreData: There is no class called \(plain) for the entity \(entity); its objects are of the class NSManagedObject. \
      Name the class with its module, as in NSStringFromClass(Person.self), or let heartwood-coredata prepare its source.

      """
    FileHandle.standardError.write(Data(message.utf8))
    return NSManagedObject.self
  }
}

extension ManagedObjectClasses {
  /// Returns the class called `name`, with its module or without, that inherits from `base`; nil if there is none.
  static func objectClass<Base: AnyObject>(named name: String, _ base: Base.Type) -> Base.Type? {
    let plain = name.hasPrefix(".") ? String(name.dropFirst()) : name
    if let noted = NamedClasses[plain] as? Base.Type { return noted }
    if let found = NSClassFromString(plain) as? Base.Type { return found }
    return TypeSearch.objectClass(named: plain, base)
  }
}

// MARK: Names of classes

/// Returns the name by which a model finds a class. Foundation's function of this name ends the program for classes in
/// other types and in functions; the command heartwood-coredata makes sources call this one.
public func NSStringFromClass(_ aClass: AnyClass) -> String {
  let name = String(reflecting: aClass)
  if name.split(separator: ".").count == 2, !name.contains("(") { return Foundation.NSStringFromClass(aClass) }
  NamedClasses.note(aClass, name)
  return name
}

/// The classes that have been asked for their names, and that no search finds by them.
private enum NamedClasses {
  // `@unchecked Sendable`: a class does not change.
  private struct Noted: @unchecked Sendable {
    let objectClass: AnyClass
  }

  private static let classes = Mutex<[String: Noted]>([:])

  static func note(_ aClass: AnyClass, _ name: String) {
    let noted = Noted(objectClass: aClass)
    classes.withLock { $0[name] = noted }
  }

  static subscript(name: String) -> AnyClass? {
    classes.withLock { $0[name] }?.objectClass
  }
}
