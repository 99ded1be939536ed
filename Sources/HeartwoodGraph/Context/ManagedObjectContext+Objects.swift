public import HeartwoodModel
public import HeartwoodStore

extension ManagedObjectContext {
  /// Returns the object of `objectID`, a fault if it was not registered yet. A record of an incremental store is read
  /// if it was not read before.
  ///
  /// If there is no such record (any more), or its store is not open, the result is an object that counts as deleted
  /// and has no values. If the record cannot be read now, the object has no values for the time being, and the failure
  /// is added to ``readFailures``: the values are read as soon as that is possible, and a save of the object's changes
  /// fails until then. ``existingObject(with:)`` throws in these cases. The entity of the id must belong to the model.
  public func object(with objectID: ManagedObjectID) -> ManagedObject {
    takeWaitingChildSaves()
    switch look(for: objectID) {
    case .present(let object): return object
    case .gone: break
    case .unreadable(let error):
      noteReadFailure(.unreadable([objectID], error))
      if let object = unreadObject(objectID) { return object }
    }
    guard let entity = persistentStoreCoordinator.managedObjectModel.entity(named: objectID.entity.name) else {
      ProgrammerError.stop(
        "The model has no entity called \(objectID.entity.name). Use the id with a coordinator of its own model."
      )
    }
    let binding = binding(for: entity, in: nil)
    let changes = ObjectChanges(
      newID: objectID,
      group: nil,
      values: Array(repeating: nil, count: binding.traits.count)
    )
    return binding.makeObject(.changed(changes), .none, .inaccessible)
  }

  /// Returns an object for a record that cannot be read; nil if its store is not open.
  private func unreadObject(_ id: ManagedObjectID) -> ManagedObject? {
    // try?: the failure has been noted; without an open store nothing could be read later.
    guard let store = try? persistentStoreCoordinator.store(keeping: id),
      let entity = try? entity(named: id.entity.name)
    else { return nil }
    return binding(for: entity, in: store).unreadObject(id.reference)
  }

  /// Refreshes all objects that have records in stores: they take the newest values and keep their own changes on top;
  /// see ``refresh(_:mergeChanges:)``. A pinned context moves on to the newest version.
  public func refreshAllObjects() {
    finishSaveUnderWay()
    // Earlier changes are reported separately and can be undone; the refresh cannot.
    tellChangeEvent()
    registerPendingChanges()
    advanceQueryGeneration()
    followStores()
    var refreshed = emptyChanges()
    let objects = registeredObjects.filter(canBeRefreshed)
    RelationshipUpkeep(self).refreshing(objects) { unread in
      for object in objects where !unread.contains(object) { renew(object, mergeChanges: true) }
    }
    refreshed.refreshedObjectIDs.formUnion(objects.map(\.objectID))
    notifier.forget(objects)
    notifier.liveResults.tell(LiveEvent(objects: objects, isRenewal: true, isMerge: true))
    notifier.tellObjectChanges(refreshed)
  }

  /// Makes the next save fail if `object` was saved elsewhere since it was read, even if the save does not change it.
  ///
  /// The store compares the records at the moment of the save, as it makes its changes: no other save comes between. If
  /// the save changes nothing in the object's store, they are compared just before. Merge policies do not resolve this
  /// conflict. Objects that the save changes are always checked. New objects and faults have nothing to compare.
  public func detectConflicts(for object: ManagedObject) {
    if has(object, "The object is of another context. Detect conflicts in its own.") {
      saveProgress.lock(object)
    }
  }

  /// Compares the objects for which ``detectConflicts(for:)`` was called with the newest records, and throws if there
  /// are conflicts.
  func checkWatchedObjects() throws {
    var conflicts: [ManagedObject] = []
    for object in comparableObjects {
      guard let store = object.binding.store else { continue }
      try object.binding.synchronize()
      let reference = object.objectID.reference
      let table = try sources.newestSource(for: store).table(of: object.entity, reading: [reference])
      let row = try table.row(of: reference)
      if row.map(table.version) != object.baseVersion { conflicts.append(object) }
    }
    guard conflicts.isEmpty else {
      throw PersistenceError(
        .saveConflict,
        "Objects were changed or deleted by another save since they were read.",
        recovery: "Refresh them and save again.",
        context: .init(objectIDs: conflicts.map(\.objectID))
      )
    }
  }

  /// Returns the preconditions of a save to `store` for objects that it does not change.
  func preconditions(of store: PersistentStore) -> [RecordPrecondition] {
    comparableObjects.filter { $0.binding.store === store && !$0.hasChanges }.map { object in
      RecordPrecondition(objectID: object.objectID, version: object.baseVersion)
    }
  }

  private var comparableObjects: [ManagedObject] {
    saveProgress.lockedObjects.filter { !$0.isInserted && !$0.isFault && $0.managedObjectContext === self }
  }
}

// MARK: Inserting

extension ManagedObjectContext {
  /// Inserts a new object of the entity of `objectClass`, with the model's default values. It does no I/O; the next
  /// ``save()`` writes the object.
  ///
  ///     let book = try context.insert(Book.self)
  ///     book.title = "Emma"
  ///     try context.save()
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown`` if the class is not one of the coordinator's, or its entity is
  ///   abstract; ``PersistenceError/Code/coordinatorClosed``.
  public func insert<Object: ManagedObject>(_ objectClass: Object.Type) throws(PersistenceError) -> Object {
    let entity = try persistentStoreCoordinator.objectClasses.entity(for: objectClass)
    guard let object = try insert(entity) as? Object else {
      ProgrammerError.stop("The object of an entity is of the class that the coordinator was given for it.")
    }
    return object
  }

  /// Inserts a new object of the entity called `entityName`, with the model's default values.
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown`` if there is no such entity, or it is abstract;
  ///   ``PersistenceError/Code/coordinatorClosed``.
  public func insert(entityName: String) throws(PersistenceError) -> ManagedObject {
    try insert(try entity(named: entityName))
  }

  private func insert(_ entity: EntityDescription) throws(PersistenceError) -> ManagedObject {
    try persistentStoreCoordinator.checkNotClosed()
    guard !entity.isAbstract else {
      throw PersistenceError(
        .entityUnknown,
        "The entity is abstract.",
        recovery: "Make an object of one of its subentities.",
        context: .init(entity: entity.name)
      )
    }
    let binding = bindingForNewObjects(of: entity)
    let object = makeNewObject(binding, .temporary(in: binding.scope))
    object.awakeFromInsert()
    return object
  }

  /// Registers a new object that has the model's default values.
  func makeNewObject(_ binding: EntityBinding, _ id: ManagedObjectID) -> ManagedObject {
    let changes = ObjectChanges(newID: id, group: nil, values: binding.initialValues)
    let object = binding.makeObject(.changed(changes), RowID(rawValue: 0), .inserted)
    recorder?.willInsert(object)
    pending.insert(object, id)
    noteInsertion(of: object)
    return object
  }
}

// MARK: Life cycle

extension ManagedObjectContext {
  /// How many rounds of `willSave` may change further objects.
  private static var mostRounds: Int { 1000 }

  /// Calls `willSave` on the objects with changes, and on those that this changes, until nothing changes any more. It
  /// includes the objects that children have saved.
  ///
  /// - Throws: ``PersistenceError/Code/saveNeverSettles``.
  func tellObjectsWillSave() throws(PersistenceError) {
    finishSaveUnderWay()
    takeWaitingChildSaves()
    guard hasChanges else { return }
    ProgrammerError.check(
      !notes.isGathering,
      "An object saves its context in its willSave(). Do not save there: a save is under way already."
    )
    notes.beginGathering()
    defer { notes.endGathering() }
    var objects = pending.objects
    for _ in 0..<Self.mostRounds {
      for object in objects where object.hasChanges { object.willSave() }
      objects = notes.takeGathered().filter(\.hasChanges)
      if objects.isEmpty { return }
    }
    throw PersistenceError(
      .saveNeverSettles,
      "Objects were still changing in willSave() after \(Self.mostRounds) rounds.",
      recovery: "Set there only what differs, or use the primitive subscript.",
      context: .init(entity: objects.first?.entity.name, objectIDs: objects.map(\.objectID))
    )
  }
}

extension PendingSave {
  /// Calls `didSave` on the objects of a save.
  func tellDidSave() {
    for insertion in inserted { for object in insertion.objects { object.didSave() } }
    for object in updated + deleted { object.didSave() }
  }
}
