import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// The objects of the entity of `objectClass`, subentities included, as the stores have them now with this context's changes
  /// on top.
  ///
  /// Without `predicate` and `order` no value is read. An object that has read its values already keeps them.
  ///
  /// - Parameters:
  ///   - predicate: which objects to give; nil means all.
  ///   - order: whether the first object comes before the second; nil leaves the stores' order, new objects last.
  /// - Throws: ``PersistenceError/Code/entityUnknown``; ``PersistenceError/Code/storeNotOpen`` if the store that kept the entity was removed;
  ///   ``PersistenceError/Code/fileCorrupt`` where a file turns out to be damaged; what `predicate` and `order` throw.
  @inlinable
  public func fetch<Object: ManagedObject>(
    _ objectClass: Object.Type,
    where predicate: ((Object) throws -> Bool)? = nil,
    sortedBy order: ((Object, Object) throws -> Bool)? = nil
  ) throws -> [Object] {
    var objects = try allObjects(of: objectClass)
    if let predicate { objects = try reading { try objects.filter(predicate) } }
    if let order { try reading { try objects.sort(by: order) } }
    return objects
  }

  /// The objects of the entity called `entityName`; see ``fetch(_:where:sortedBy:)``.
  public func fetch(
    entityName: String,
    where predicate: ((ManagedObject) throws -> Bool)? = nil,
    sortedBy order: ((ManagedObject, ManagedObject) throws -> Bool)? = nil
  ) throws -> [ManagedObject] {
    var objects = try allObjects(of: try entity(named: entityName), as: ManagedObject.self)
    if let predicate { objects = try reading { try objects.filter(predicate) } }
    if let order { try reading { try objects.sort(by: order) } }
    return objects
  }

  /// How many objects ``fetch(entityName:where:sortedBy:)`` would give. It makes none and reads none.
  public func count(entityName: String) throws -> Int {
    let log = persistentStoreCoordinator.log(.counted)
    let entity = try entity(named: entityName)
    try prepare()
    var count = inserted.objects.count { $0.entity.isKind(of: entity) }
    for entity in persistentStoreCoordinator.managedObjectModel.concreteEntities(under: entity) {
      for store in try persistentStoreCoordinator.storesToRead(keeping: entity) {
        count += try source(for: store).count(of: entity)
      }
    }
    for object in deleted.objects where object.entity.isKind(of: entity) {
      // Another context may have deleted it as well.
      try object.binding.synchronize()
      if object.binding.liveGroup(of: object.rowID) != nil { count -= 1 }
    }
    log?.tell(entity: entityName, count: count)
    return count
  }

  @usableFromInline
  func allObjects<Object: ManagedObject>(of objectClass: Object.Type) throws -> [Object] {
    try allObjects(of: try persistentStoreCoordinator.objectClasses.entity(for: objectClass), as: objectClass)
  }

  /// All objects of `entity`, which are all of the class `objectClass`.
  private func allObjects<Object: ManagedObject>(
    of entity: EntityDescription,
    as objectClass: Object.Type
  ) throws -> [Object] {
    let log = persistentStoreCoordinator.log(.fetched)
    let objects = try gatherObjects(of: entity, as: objectClass)
    log?.tell(entity: entity.name, count: objects.count)
    return objects
  }

  private func gatherObjects<Object: ManagedObject>(
    of entity: EntityDescription,
    as _: Object.Type
  ) throws -> [Object] {
    try prepare()
    let new = inserted.objects.filter { $0.entity.isKind(of: entity) }
    let bindings = try bindings(of: entity)
    let capacity = bindings.reduce(new.count) { $0 + $1.table.count }
    // All empty arrays share their storage, and filling one writes to it.
    if capacity == 0 { return [] }
    return [Object](unsafeUninitializedCapacity: capacity) { buffer, count in
      // An element of either type is one reference that the array owns, and the coordinator's map of classes has seen to it that
      // the objects of an entity and its subentities are of the entity's class.
      UnsafeMutableRawBufferPointer(buffer).withMemoryRebound(to: Unmanaged<ManagedObject>.self) { results in
        for binding in bindings { binding.fetch(into: results, count: &count) }
        for object in new {
          results.initializeElement(at: count, to: Unmanaged.passRetained(object))
          count += 1
        }
      }
    }
  }

  /// What the saved objects of `entity` and its subentities are found by, up to date with their stores.
  private func bindings(of entity: EntityDescription) throws -> [EntityBinding] {
    var bindings: [EntityBinding] = []
    for concrete in persistentStoreCoordinator.managedObjectModel.concreteEntities(under: entity) {
      for store in try persistentStoreCoordinator.storesToRead(keeping: concrete) {
        let binding = binding(for: concrete, in: store)
        try binding.synchronize()
        try binding.readWhole()
        bindings.append(binding)
      }
    }
    return bindings
  }

  func stores(keeping entity: EntityDescription) -> [PersistentStore] {
    persistentStoreCoordinator.persistentStores.filter { store in store.entities.contains { $0 === entity } }
  }
}
