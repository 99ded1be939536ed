import Foundation

/// Finds the class of an entity's objects by its name.
enum ManagedObjectClasses {
  /// Returns the class called `name`: with its module, or, for a class whose source has `@objc(Name)` or that is the
  /// only one of its name, without.
  ///
  /// - Throws: `CocoaError.managedObjectModelClassMissing`-like error if there is no such class.
  static func objectClass(named name: String?) throws -> NSManagedObject.Type {
    guard let name, !name.isEmpty, name != "NSManagedObject" else { return NSManagedObject.self }
    let plain = name.hasPrefix(".") ? String(name.dropFirst()) : name
    if let found = NSClassFromString(plain) as? NSManagedObject.Type { return found }
    if let found = TypeSearch.objectClass(named: plain) { return found }
    throw CocoaError.modelFault(
      "There is no class called \(plain) that inherits from NSManagedObject. Name it with its module, as in "
        + "NSStringFromClass(Person.self), or let heartwood-coredata prepare its source."
    )
  }
}
