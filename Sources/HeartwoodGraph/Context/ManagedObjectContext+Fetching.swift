import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// The objects of the entity of `objectClass`, subentities included, as the stores have them now with this context's changes
  /// on top.
  ///
  /// Without `predicate` and `order` no value is read. An object that was registered already keeps the values that it has.
  ///
  /// - Parameters:
  ///   - predicate: which objects to give; nil means all.
  ///   - order: whether the first object comes before the second; nil leaves the stores' order, new objects last.
  /// - Throws: ``PersistenceError/Code/entityUnknown``; ``PersistenceError/Code/fileCorrupt`` where a file turns out to be damaged.
  public func fetch<Object: ManagedObject>(
    _ objectClass: Object.Type,
    where predicate: ((Object) throws -> Bool)? = nil,
    sortedBy order: ((Object, Object) throws -> Bool)? = nil
  ) throws -> [Object] {
    let entity = try persistentStoreCoordinator.objectClasses.entity(for: objectClass)
    var objects = try allObjects(of: entity).map { object in
      guard let object = object as? Object else {
        preconditionFailure("The objects of an entity are of the class that the coordinator was given for it.")
      }
      return object
    }
    if let predicate { objects = try objects.filter(predicate) }
    if let order { try objects.sort(by: order) }
    return objects
  }

  /// The objects of the entity called `entityName`; see ``fetch(_:where:sortedBy:)``.
  public func fetch(
    entityName: String,
    where predicate: ((ManagedObject) throws -> Bool)? = nil,
    sortedBy order: ((ManagedObject, ManagedObject) throws -> Bool)? = nil
  ) throws -> [ManagedObject] {
    var objects = try allObjects(of: try entity(named: entityName))
    if let predicate { objects = try objects.filter(predicate) }
    if let order { try objects.sort(by: order) }
    return objects
  }

  /// How many objects ``fetch(entityName:where:sortedBy:)`` would give. It makes none and reads none.
  public func count(entityName: String) throws -> Int {
    let entity = try entity(named: entityName)
    var count = 0
    for entity in persistentStoreCoordinator.managedObjectModel.concreteEntities(under: entity) {
      for store in stores(keeping: entity) { count += try store.engine.count(of: entity) }
    }
    let added = insertedObjects.count { $0.entity.isKind(of: entity) }
    let removed = deletedObjects.count { $0.entity.isKind(of: entity) }
    return count + added - removed
  }

  private func stores(keeping entity: EntityDescription) -> [PersistentStore] {
    persistentStoreCoordinator.persistentStores.filter { store in store.entities.contains { $0 === entity } }
  }

  private func allObjects(of entity: EntityDescription) throws -> [ManagedObject] {
    var objects: [ManagedObject] = []
    for concrete in persistentStoreCoordinator.managedObjectModel.concreteEntities(under: entity) {
      for store in stores(keeping: concrete) {
        let table = try store.engine.table(of: concrete)
        binding(for: concrete, in: store).appendObjects(of: table, asFaults: true, to: &objects)
      }
    }
    objects += insertedObjects.filter { $0.entity.isKind(of: entity) }
    return objects
  }
}
