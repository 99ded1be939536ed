import Foundation

/// Finds the class of an entity's objects by its name.
enum ManagedObjectClasses {
  /// Returns the class called `name`: with its module, or, for a class whose source has `@objc(Name)` or that is the
  /// only one of its name, without. If there is none, it says so on the standard error and returns NSManagedObject, as
  /// Core Data does.
  static func objectClass(named name: String?, ofEntity entity: String) -> NSManagedObject.Type {
    guard let name, !name.isEmpty, name != "NSManagedObject" else { return NSManagedObject.self }
    let plain = name.hasPrefix(".") ? String(name.dropFirst()) : name
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
