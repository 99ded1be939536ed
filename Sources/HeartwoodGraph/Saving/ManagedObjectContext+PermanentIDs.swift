import HeartwoodFoundation
import HeartwoodModel
public import HeartwoodStore

extension ManagedObjectContext {
  /// Assigns permanent ids to new objects before they are saved. Objects that have permanent ids keep them.
  ///
  /// The temporary ids stay valid until the objects are saved. An atomic store needs no I/O for this; an incremental
  /// one may write, to reserve the ids. Ids of objects that are never saved are not reused.
  ///
  /// - Throws: ``PersistenceError/Code/storeNotOpen`` or ``PersistenceError/Code/storeReadOnly`` if no open store can
  ///   keep an object, ``PersistenceError/Code/objectNotFound`` if an object is not a new one of this context, and the
  ///   errors of reading and writing an incremental store. Then no id has changed.
  public func obtainPermanentIDs(for objects: [ManagedObject]) throws(PersistenceError) {
    let objects = objects.filter { $0.objectID.isTemporaryID }
    if objects.isEmpty { return }
    var groups: [IDGroup] = []
    for object in objects {
      try checkIsNew(object)
      let store = try storeForNewObject(object)
      if let index = groups.firstIndex(where: { $0.store === store && $0.entity === object.entity }) {
        groups[index].objects.append(object)
      } else {
        groups.append(IDGroup(store: store, entity: object.entity, objects: [object]))
      }
    }
    var ids: [ManagedObjectID: ManagedObjectID] = [:]
    for group in groups {
      // If the store is converted, the binding knows the former ids.
      _ = binding(for: group.entity, in: group.store)
      namingObserver?(group.store)?(group.objects)
      try group.name(from: sources.source(for: group.store), &ids)
    }
    rename(ids)
  }

  private struct IDGroup {
    let store: PersistentStore
    let entity: EntityDescription
    var objects: [ManagedObject]

    func name(
      from source: any RecordSource,
      _ ids: inout [ManagedObjectID: ManagedObjectID]
    ) throws(PersistenceError) {
      let references = try source.newReferences(count: objects.count, for: entity)
      let scope = source.scopes[entity.ordinal]
      for (index, object) in objects.enumerated() {
        ids[object.objectID] = ManagedObjectID(scope: scope, reference: references[index])
      }
    }
  }

  private func checkIsNew(_ object: ManagedObject) throws(PersistenceError) {
    if object.isInserted, object.managedObjectContext === self { return }
    throw PersistenceError(
      .objectNotFound,
      "The object is not a new one of this context. Only new objects have temporary ids to be replaced.",
      context: .init(entity: object.entity.name, objectIDs: [object.objectID])
    )
  }

  /// Replaces the ids of new objects everywhere in the context.
  func rename(_ ids: [ManagedObjectID: ManagedObjectID]) {
    if ids.isEmpty { return }
    registerPendingChanges()
    recorder?.noteSuccessors(ids)
    for (former, id) in ids {
      guard let object = pending.inserted[former], case .changed(let changes) = object.content else { continue }
      changes.newID = id
      pending.rename(former, to: id)
    }
    for object in pending.present {
      guard case .changed(let changes) = object.content else { continue }
      changes.replaceIDs(ids, relationships: object.entity.relationshipTargets)
    }
    notes.noteChange()
    let liveResults = notifier.liveResults
    if !liveResults.isEmpty { liveResults.objectsWereRenamed(ids.values.compactMap { pending.inserted[$0] }) }
  }
}

// MARK: The stores of new objects

extension ManagedObjectContext {
  /// Sets the store in which a new object will be saved, if several stores keep its entity. By default, it is the first
  /// that can be written.
  ///
  /// - Throws: ``PersistenceError/Code/objectNotFound`` if the object is not a new one of this context or has a
  ///   permanent id, ``PersistenceError/Code/storeNotOpen``, ``PersistenceError/Code/storeReadOnly``, and
  ///   ``PersistenceError/Code/entityUnknown`` if the store does not keep the object's entity.
  public func assign(_ object: ManagedObject, to store: PersistentStore) throws(PersistenceError) {
    try checkIsNew(object)
    var context = PersistenceError.Context(
      path: store.placeName,
      entity: object.entity.name,
      objectIDs: [object.objectID]
    )
    context.storeType = store.type
    guard object.objectID.isTemporaryID else {
      throw PersistenceError(
        .objectNotFound,
        "The object has a permanent id, which names its store.",
        recovery: "Assign a new object before it gets one.",
        context: context
      )
    }
    guard persistentStoreCoordinator.isOpen(store) else { throw PersistentStoreCoordinator.notOpen(store) }
    guard store.entities.contains(where: { $0 === object.entity }) else {
      throw PersistenceError(.entityUnknown, "The store does not keep the object's entity.", context: context)
    }
    guard !store.isReadOnly else {
      throw PersistenceError(.storeReadOnly, "The store was opened for reading only.", context: context)
    }
    pending.assign(object, to: store)
    noteChange(object)
  }

  /// Returns the store in which a new object will be saved.
  func storeForNewObject(_ object: ManagedObject) throws(PersistenceError) -> PersistentStore {
    let id = object.objectID
    if !id.isTemporaryID { return try persistentStoreCoordinator.store(keeping: id) }
    guard let store = pending.assignedStore(of: object) else {
      return try persistentStoreCoordinator.storeForNewObjects(of: object.entity)
    }
    if persistentStoreCoordinator.isOpen(store.newest) { return store.newest }
    throw PersistentStoreCoordinator.notOpen(store)
  }
}

// MARK: PermanentIDs

/// The permanent ids of the new objects of a save in a store.
///
/// A temporary id is looked up by array indices: the place of its object in the context, and from there its place among
/// the objects that are inserted with it.
struct PermanentIDs {
  private let newObjects: NewObjects
  /// By place in the context.
  private let places: ContiguousArray<NewObjectPlace>
  /// The number of this save among those of the context.
  private let save: UInt32
  private let scopes: [ObjectIDScope]
  private let storeIdentifier: UUID
  /// The references of the new objects of each entity, by ordinal; nil if none is saved to the store.
  private let references: [ReferenceColumn?]
  /// The former ids of objects that were deleted before a store had them.
  private let lostIDs: Set<ManagedObjectID>

  init(
    newObjects: NewObjects,
    lostIDs: Set<ManagedObjectID>,
    places: ContiguousArray<NewObjectPlace>,
    save: PendingSave,
    index: Int
  ) {
    self.newObjects = newObjects
    self.lostIDs = lostIDs
    self.places = places
    self.save = UInt32(truncatingIfNeeded: index)
    self.scopes = save.source.scopes
    self.storeIdentifier = save.store.identifier
    var references: [ReferenceColumn?] = Array(repeating: nil, count: scopes.count)
    for insertion in save.inserted { references[insertion.entity.ordinal] = insertion.references }
    self.references = references
  }
}

extension PermanentIDs {
  /// The permanent id for the temporary one of an object that is saved, or nil if there is none.
  subscript(id: ManagedObjectID) -> ManagedObjectID? {
    guard let slot = newObjects.slot(of: id), places[slot].save == save,
      let references = references[id.entity.ordinal]
    else { return nil }
    return ManagedObjectID(scope: scopes[id.entity.ordinal], reference: references[Int(places[slot].index)])
  }

  /// Returns the reference for `id` in a column, or nil if `id` is that of a new object that is gone.
  ///
  /// - Parameter context: the place of the id, for the error.
  /// - Throws: ``PersistenceError/Code/danglingReference`` if the id is of another store.
  @inline(__always)
  func reference(
    _ id: ManagedObjectID,
    context: () -> PersistenceError.Context
  ) throws(PersistenceError) -> ReferenceID? {
    let ordinal = id.entity.ordinal
    guard id.isTemporaryID else {
      if !lostIDs.isEmpty, lostIDs.contains(id) { return nil }
      if id.scope === scopes[ordinal] || id.storeIdentifier == storeIdentifier { return id.reference }
      throw .danglingReference(id, context: context())
    }
    guard let slot = newObjects.slot(of: id) else { return nil }
    guard places[slot].save == save, let references = references[ordinal] else {
      throw .danglingReference(id, context: context())
    }
    return references[Int(places[slot].index)]
  }
}

/// The destination of a new object: the save among those of its context, and the place among the objects of its entity
/// in it.
struct NewObjectPlace {
  let save: UInt32
  let index: UInt32
}
