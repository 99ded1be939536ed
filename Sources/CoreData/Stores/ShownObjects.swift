import Foundation

/// Objects in no context that show records to a store of one's own.
final class ShownObjects {
  private var objects: [NSManagedObjectID: NSManagedObject] = [:]
  /// Returns the value of a property of a record as key-value coding gives it, with ids for objects.
  private let read: (NSManagedObjectID, String) -> Any?

  init(_ read: @escaping (NSManagedObjectID, String) -> Any?) { self.read = read }

  func object(with id: NSManagedObjectID) -> NSManagedObject {
    if let object = objects[id] { return object }
    let object = id.entity.objectClass.init(entity: id.entity, insertInto: nil)
    objects[id] = object
    object.detached?.show(id) { [weak self] in self?.value($0, of: id) }
    return object
  }

  private func value(_ key: String, of id: NSManagedObjectID) -> Any? {
    guard let value = unwrapped(read(id, key)) else { return nil }
    guard let relationship = id.entity.relationshipsByName[key] else { return value }
    let related = Self.ids(in: value).map(object)
    if !relationship.isToMany { return related.first }
    return relationship.isOrdered ? NSOrderedSet(array: related) : NSSet(array: related)
  }

  /// Returns the ids in the value of a relationship: an id, or a collection of them.
  static func ids(in value: Any) -> [NSManagedObjectID] {
    if let id = value as? NSManagedObjectID { return [id] }
    return (KeyValueCoding.elements(of: value) ?? []).compactMap {
      $0 as? NSManagedObjectID ?? ($0 as? NSManagedObject)?.objectID
    }
  }
}

/// The context that a store of one's own is given. It makes the objects of ids, and no more.
final class StoreContext: NSManagedObjectContext, @unchecked Sendable {
  // `@unchecked Sendable`: as its superclass. A store uses it within one call.

  private var coordinator: NSPersistentStoreCoordinator?

  convenience init(_ coordinator: NSPersistentStoreCoordinator?, showing objects: ShownObjects) {
    self.init(concurrencyType: .confinementConcurrencyType)
    self.coordinator = coordinator
    shownObjects = objects
  }

  override var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
    get { coordinator }
    set { coordinator = newValue }
  }
}
