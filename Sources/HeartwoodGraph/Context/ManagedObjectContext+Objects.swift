public import HeartwoodModel
public import HeartwoodStore

extension ManagedObjectContext {
  /// The object of `objectID`, as a fault where it was not registered yet. A record of an incremental store is read where it was not before.
  ///
  /// If there is no such record (any more), or its store is not open, the object is one that counts as deleted and has no values. If the record
  /// cannot be read now, the object has no values for the time being, and the failure is among ``readFailures``: they are read as soon as
  /// they can be, and a save of its changes fails until then. ``existingObject(with:)`` throws in these cases, and says why. The entity of the
  /// id must be one of the model.
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

  /// The object of a record that cannot be read; nil if the store is not open that keeps it.
  private func unreadObject(_ id: ManagedObjectID) -> ManagedObject? {
    // try?: the failure has been noted; without an open store there is nothing that could be read later.
    guard let store = try? persistentStoreCoordinator.store(keeping: id),
      let entity = try? entity(named: id.entity.name)
    else { return nil }
    return binding(for: entity, in: store).unreadObject(id.reference)
  }

  /// Lets all objects that stores have take the newest values, with their own changes on top; see ``refresh(_:mergeChanges:)``. A
  /// pinned context moves on to the newest version.
  public func refreshAllObjects() {
    finishSaveUnderWay()
    // What was done before is told apart, and can be undone; what this does cannot.
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

  /// Lets the next save fail where somebody else has saved `object` since it was read, also where the save does not change it.
  ///
  /// They are compared at the moment of the save, as the store makes its changes: no other save comes between. Only where nothing of
  /// the object's store is saved, they are compared just before. Merge policies do not resolve it. Objects that the save changes
  /// are checked anyway. New objects and faults have nothing to compare.
  public func detectConflicts(for object: ManagedObject) {
    if has(object, "The object is of another context. Detect conflicts in its own.") {
      saveProgress.lock(object)
    }
  }

  /// Compares the objects that ``detectConflicts(for:)`` was called for with the newest records.
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

  /// What a save to `store` expects of objects that it does not change.
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
  /// Makes a new object of the entity of `objectClass`, with the model's default values.
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown`` where the class is not one of the coordinator's, or its entity is abstract;
  ///   ``PersistenceError/Code/coordinatorClosed``.
  public func insert<Object: ManagedObject>(_ objectClass: Object.Type) throws(PersistenceError) -> Object {
    let entity = try persistentStoreCoordinator.objectClasses.entity(for: objectClass)
    guard let object = try insert(entity) as? Object else {
      ProgrammerError.stop("The object of an entity is of the class that the coordinator was given for it.")
    }
    return object
  }

  /// Makes a new object of the entity called `entityName`, with the model's default values.
  ///
  /// - Throws: ``PersistenceError/Code/entityUnknown`` where there is no such entity, or it is abstract;
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
  /// How often objects may change each other while they are told that they will be saved.
  private static var mostRounds: Int { 1000 }

  /// Tells the objects with changes that they will be saved, and those that this changes as well, until nothing changes any more.
  /// What children have saved is among them.
  ///
  /// - Throws: ``PersistenceError/Code/saveNeverSettles``.
  func tellObjectsWillSave() throws(PersistenceError) {
    finishSaveUnderWay()
    takeWaitingChildSaves()
    guard hasChanges else { return }
    ProgrammerError.check(
      !notes.isGathering,
      "An object saves its context in its willSave(). Leave saving to the save that is under way."
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
  /// Tells the objects of a save that it is done.
  func tellDidSave() {
    for insertion in inserted { for object in insertion.objects { object.didSave() } }
    for object in updated + deleted { object.didSave() }
  }
}
