internal import CCoreDataRuntime
import Foundation

/// A name for a class that is not its own. The command heartwood-coredata makes a type that conforms to this, called
/// `CoreDataName_Person`, for a class that is declared with `@objc(Person)`.
public protocol ManagedObjectClassName {
  /// The class that is meant.
  static var objectClass: AnyClass { get }
}

/// Finds classes by their names without modules, among all types of the program.
enum TypeSearch {
  /// Returns the class called `name`; nil if there is none, or several are called so. O(types of the program).
  static func objectClass(named name: String) -> NSManagedObject.Type? {
    objectClass(named: name, NSManagedObject.self)
  }

  /// Returns the class called `name` that inherits from `base`.
  static func objectClass<Base: AnyObject>(named name: String, _ base: Base.Type) -> Base.Type? {
    let given = types(named: "CoreDataName_" + name).compactMap {
      (($0 as? any ManagedObjectClassName.Type)?.objectClass) as? Base.Type
    }
    if let first = given.first { return first }
    // A name with dots is of a nested class or has a module.
    let last = name.split(separator: ".").last.map(String.init) ?? name
    let found = types(named: last).compactMap { $0 as? Base.Type }.filter {
      name == last || String(reflecting: $0) == name || String(reflecting: $0).hasSuffix("." + name)
    }
    return found.count == 1 ? found[0] : nil
  }

  private static func types(named name: String) -> [Any.Type] {
    final class Found {
      var types: [Any.Type] = []
    }
    let found = Found()
    CoreDataEnumerateTypes(
      name,
      { metadata, context in
        guard let context else { return false }
        // The pointer is to the metadata of a type, and that is what a metatype is.
        Unmanaged<Found>.fromOpaque(context).takeUnretainedValue().types.append(
          unsafeBitCast(metadata, to: Any.Type.self)
        )
        return true
      },
      Unmanaged.passUnretained(found).toOpaque()
    )
    return found.types
  }
}
