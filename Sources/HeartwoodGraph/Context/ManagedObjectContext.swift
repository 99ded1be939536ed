public import HeartwoodModel
public import HeartwoodStore

/// A graph of objects that are read from stores, changed, and saved together.
///
/// A context has one object for each record. It belongs to the isolation that it was made in, and so do its objects. It holds the
/// objects that have changes; the others live as long as somebody holds them.
public final class ManagedObjectContext {
  /// What the context reads from and saves to.
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  /// A name for people.
  public var name: String?

  private var bindings: [BindingKey: EntityBinding] = [:]
  private var inserted = ObjectList()
  private var updated = ObjectList()
  private var deleted = ObjectList()
  private var newObjects: [ManagedObjectID: ManagedObject] = [:]

  /// Makes a context without objects.
  public init(_ persistentStoreCoordinator: PersistentStoreCoordinator) {
    self.persistentStoreCoordinator = persistentStoreCoordinator
  }

  deinit {
    for binding in bindings.values { binding.context = nil }
  }

  private struct BindingKey: Hashable {
    let store: ObjectIdentifier?
    let entityOrdinal: Int
  }
}

@available(*, unavailable, message: "A context belongs to the isolation that it was made in. Make another one there.")
extension ManagedObjectContext: Sendable {}

// MARK: Changes

extension ManagedObjectContext {
  /// The objects that the next save will insert, in the order of their insertion.
  public var insertedObjects: [ManagedObject] { inserted.objects }

  /// The objects whose changes the next save will write.
  public var updatedObjects: [ManagedObject] { updated.objects }

  /// The objects that the next save will delete.
  public var deletedObjects: [ManagedObject] { deleted.objects }

  /// All objects that somebody holds, or that have changes.
  public var registeredObjects: [ManagedObject] {
    bindings.values.flatMap(\.registeredObjects) + newObjects.values
  }

  /// Whether the next save has something to do.
  public var hasChanges: Bool { !inserted.isEmpty || !updated.isEmpty || !deleted.isEmpty }

  func noteChange(of object: ManagedObject) {
    if object.changes?.ordinals.isEmpty ?? true {
      object.changes = nil
      object.state.remove(.updated)
      updated.remove(object)
    } else if !object.isUpdated {
      object.state.insert(.updated)
      updated.append(object)
    }
  }
}

// MARK: Inserting and deleting

extension ManagedObjectContext {
  /// Makes a new object of the entity of `objectClass`, with the model's default values.
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown`` where the class is not one of the coordinator's.
  public func insert<Object: ManagedObject>(_ objectClass: Object.Type) throws(PersistenceError) -> Object {
    let entity = try persistentStoreCoordinator.objectClasses.entity(for: objectClass)
    guard let object = try insert(entity) as? Object else {
      preconditionFailure("The object of an entity is of the class that the coordinator was given for it.")
    }
    return object
  }

  /// Makes a new object of the entity called `entityName`, with the model's default values.
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown`` where there is no such entity, or it is abstract.
  public func insert(entityName: String) throws(PersistenceError) -> ManagedObject {
    try insert(try entity(named: entityName))
  }

  private func insert(_ entity: EntityDescription) throws(PersistenceError) -> ManagedObject {
    guard !entity.isAbstract else {
      throw PersistenceError(
        .entityUnknown,
        "The entity is abstract; make an object of one of its subentities.",
        context: .init(entity: entity.name)
      )
    }
    let binding = binding(for: entity, in: nil)
    let id = ManagedObjectID.temporary(in: binding.scope)
    let changes = ObjectChanges(temporaryID: id, values: entity.properties.map(\.initialValue))
    let seed = ManagedObjectSeed(
      binding: binding,
      group: nil,
      rowID: RowID(rawValue: 0),
      changes: changes,
      state: .inserted
    )
    let object = binding.objectClass.init(seed)
    newObjects[id] = object
    inserted.append(object)
    object.awakeFromInsert()
    return object
  }

  /// Deletes an object, and does with the objects that its relationships lead to what their delete rules say.
  ///
  /// The record goes with the next save. An object that was never saved is gone at once.
  public func delete(_ object: ManagedObject) {
    precondition(object.managedObjectContext === self, "The object is of another context. Delete it there.")
    guard !object.isDeleted else { return }
    object.prepareForDeletion()
    markDeleted(object)
    for (ordinal, property) in object.entity.properties.enumerated() {
      guard let relationship = property.relationship else { continue }
      let destinations = object.value(at: ordinal).objectIDs.compactMap { try? existingObject(with: $0) }
      apply(relationship.deleteRule, ordinal, of: object, to: destinations)
    }
  }

  private func markDeleted(_ object: ManagedObject) {
    let wasInserted = object.isInserted
    object.state.subtract([.inserted, .updated])
    object.state.insert(.deleted)
    updated.remove(object)
    if wasInserted {
      inserted.remove(object)
      newObjects[object.objectID] = nil
    } else {
      deleted.append(object)
    }
  }

  private func apply(
    _ rule: DeleteRule,
    _ ordinal: Int,
    of object: ManagedObject,
    to destinations: [ManagedObject]
  ) {
    switch rule {
    case .noAction, .deny: break
    case .cascade: for destination in destinations { delete(destination) }
    case .nullify:
      guard let inverse = object.entity.relationshipTargets[ordinal]?.inverseOrdinal else { break }
      for destination in destinations { destination.unlink(inverse, from: object.objectID) }
    }
  }
}

// MARK: Finding objects

extension ManagedObjectContext {
  /// The object of `objectID` if somebody holds it or it has changes, or nil. It does no I/O.
  public func registeredObject(for objectID: ManagedObjectID) -> ManagedObject? {
    if objectID.isTemporaryID { return newObjects[objectID] }
    guard let (binding, record) = try? locate(objectID), let record else { return nil }
    return binding.registeredObject(record.row)
  }

  /// The object of `objectID`, as a fault where it was not registered yet.
  ///
  /// - Throws: ``PersistenceError/Code/objectNotFound`` where there is no such record (any more), or
  ///   ``PersistenceError/Code/storeNotOpen``.
  public func existingObject(with objectID: ManagedObjectID) throws(PersistenceError) -> ManagedObject {
    if objectID.isTemporaryID, let object = newObjects[objectID] { return object }
    if !objectID.isTemporaryID {
      let (binding, record) = try locate(objectID)
      if let record { return binding.object(record.row, in: record.table) }
    }
    throw PersistenceError(
      .objectNotFound,
      objectID.isTemporaryID
        ? "The id is temporary and of another context, or the object was rolled back. Save it there to get a permanent id."
        : "The store has no such record, or no longer.",
      context: .init(entity: objectID.entity.name, objectIDs: [objectID])
    )
  }

  private func locate(_ objectID: ManagedObjectID) throws(PersistenceError) -> (EntityBinding, TableRow?) {
    let store = try persistentStoreCoordinator.store(keeping: objectID)
    let entity = try entity(named: objectID.entity.name)
    do {
      return (binding(for: entity, in: store), try store.engine.record(objectID.reference, of: entity))
    } catch {
      throw error as? PersistenceError
        ?? PersistenceError(.fileReadFailed, "The store cannot be read.", underlyingError: error)
    }
  }

  func entity(named name: String) throws(PersistenceError) -> EntityDescription {
    if let entity = persistentStoreCoordinator.managedObjectModel.entity(named: name) { return entity }
    throw PersistenceError(
      .entityUnknown,
      "The model has no entity called \(name).",
      context: .init(entity: name)
    )
  }

  func binding(for entity: EntityDescription, in store: PersistentStore?) -> EntityBinding {
    let key = BindingKey(store: store.map { ObjectIdentifier($0) }, entityOrdinal: entity.ordinal)
    if let binding = bindings[key] { return binding }
    let binding = EntityBinding(
      context: self,
      store: store,
      entity: entity,
      scope: store?.engine.scopes[entity.ordinal] ?? ObjectIDScope(storeIdentifier: nil, entity: entity),
      objectClass: persistentStoreCoordinator.objectClasses.objectClass(for: entity)
    )
    bindings[key] = binding
    return binding
  }
}

// MARK: Rolling back

extension ManagedObjectContext {
  /// Forgets all changes: new objects vanish, changed and deleted ones are again what they were when they were read.
  public func rollback() {
    for object in inserted.objects { detach(object) }
    for object in updated.objects + deleted.objects {
      object.changes = nil
      object.state.subtract([.updated, .deleted])
    }
    clearChanges()
  }

  /// Forgets all objects and all changes. Objects that somebody still holds must not be used any more.
  public func reset() {
    for object in registeredObjects { detach(object) }
    clearChanges()
    for binding in bindings.values { binding.context = nil }
    bindings = [:]
  }

  /// Takes the newest values of an object from its store, as soon as one is read.
  ///
  /// - Parameter mergeChanges: whether the object's own changes stay on top of them; otherwise they are lost.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    precondition(object.managedObjectContext === self, "The object is of another context. Refresh it there.")
    guard object.group != nil, !object.isDeleted else { return }
    if mergeChanges, object.isUpdated {
      object.repin()
    } else {
      object.changes = nil
      noteChange(of: object)
      object.state.insert(.fault)
    }
  }

  private func detach(_ object: ManagedObject) {
    object.state.insert(.detached)
    if object.group != nil { object.binding.unregister(object.rowID) }
  }

  private func clearChanges() {
    inserted = ObjectList()
    updated = ObjectList()
    deleted = ObjectList()
    newObjects = [:]
  }
}

// MARK: After a save

extension ManagedObjectContext {
  /// Lets the objects of a save be what the store has now.
  func finish(_ save: PendingSave, _ result: SaveResult) throws {
    for object in save.inserted {
      try settle(object, permanentID: result.permanentIDs[object.objectID], in: save.store)
    }
    for object in save.updated {
      object.changes = nil
      object.state.remove(.updated)
      object.repin()
      updated.remove(object)
    }
    for object in save.deleted {
      detach(object)
      deleted.remove(object)
    }
  }

  private func settle(_ object: ManagedObject, permanentID: ManagedObjectID?, in store: PersistentStore) throws {
    guard let permanentID, let record = try store.engine.record(permanentID.reference, of: object.entity) else {
      throw PersistenceError(
        .objectNotFound,
        "The store has lost an object that it has just saved.",
        context: .init(path: store.path)
      )
    }
    newObjects[object.objectID] = nil
    inserted.remove(object)
    object.binding = binding(for: object.entity, in: store)
    object.group = record.table.groups[record.row.group]
    object.rowID = record.row
    object.changes = nil
    object.state.remove(.inserted)
    object.binding.register(object, at: record.row)
  }
}
