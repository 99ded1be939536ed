public import HeartwoodModel
public import HeartwoodStore

extension ManagedObjectContext {
  /// The object of `objectID` if somebody holds it or it has changes, or nil.
  ///
  /// If the records cannot be read that tell, it is nil, and the failure is among ``readFailures``; ``existingObject(with:)`` throws it.
  public func registeredObject(for objectID: ManagedObjectID) -> ManagedObject? {
    do {
      return try findRegistered(objectID)
    } catch {
      // Of a store that is not open, nothing is registered.
      if error.code != .storeNotOpen { noteReadFailure(.unreadable([objectID], error)) }
      return nil
    }
  }

  /// The object of `objectID` if somebody holds it or it has changes, or nil.
  ///
  /// - Throws: what reading records throws, and ``PersistenceError/Code/storeNotOpen``.
  func findRegistered(_ objectID: ManagedObjectID) throws(PersistenceError) -> ManagedObject? {
    followConversions()
    if let object = pending.inserted[objectID] { return object }
    do {
      return try binding(keeping: objectID).registeredObject(objectID.reference)
    } catch {
      throw .of(error, .fileReadFailed, "The store cannot be read.")
    }
  }

  /// The object of `objectID`, as a fault where it was not registered yet.
  ///
  /// An object that has read its values is found though its record may be gone by now: to its context it is there until it is
  /// refreshed.
  ///
  /// - Throws: ``PersistenceError/Code/objectNotFound`` where there is no such record (any more),
  ///   ``PersistenceError/Code/storeNotOpen``, ``PersistenceError/Code/coordinatorClosed``, and what reading the record can throw, such as
  ///   ``PersistenceError/Code/storeBusy``.
  public func existingObject(with objectID: ManagedObjectID) throws(PersistenceError) -> ManagedObject {
    try persistentStoreCoordinator.checkNotClosed()
    takeWaitingChildSaves()
    if let object = try find(objectID) { return object }
    throw PersistenceError(
      .objectNotFound,
      objectID.isTemporaryID
        ? "The id is temporary and of another context, or its object was saved or is gone."
        : "The store has no such record, or no longer.",
      recovery: objectID.isTemporaryID ? "Save it there to get a permanent id." : nil,
      context: .init(entity: objectID.entity.name, objectIDs: [objectID])
    )
  }

  /// What is found out when a record is looked for.
  enum Finding {
    case present(ManagedObject)
    /// There is no such record, or no longer.
    case gone
    /// Nobody knows whether it is there.
    case unreadable(PersistenceError)
  }

  /// Looks for the object of `objectID`.
  func look(for objectID: ManagedObjectID) -> Finding {
    do {
      return try find(objectID).map(Finding.present) ?? .gone
    } catch {
      return .unreadable(error)
    }
  }

  /// The object of `objectID`, or nil if there is none (any more). One that cannot be read is noted, and left out: what is done with the
  /// answer must be nothing but to show it, or be done while the context is ``reading(_:)``.
  func objectIfPresent(_ objectID: ManagedObjectID) -> ManagedObject? {
    switch look(for: objectID) {
    case .present(let object): return object
    case .gone: return nil
    case .unreadable(let error):
      noteReadFailure(.unreadable([objectID], error))
      return nil
    }
  }

  /// The objects of `ids`, without those that there are not (any more), and those that cannot be read.
  ///
  /// - Parameter unread: gets the ids of these, with the reason.
  func objectsIfPresent(
    _ ids: [ManagedObjectID],
    _ unread: inout [(id: ManagedObjectID, error: PersistenceError)]
  ) -> [ManagedObject] {
    func find(_ id: ManagedObjectID) -> ManagedObject? {
      switch look(for: id) {
      case .present(let object): return object
      case .gone: return nil
      case .unreadable(let error):
        unread.append((id, error))
        return nil
      }
    }
    // try?: each is looked for by itself then, and what cannot be read is found out there.
    guard pending.inserted.isEmpty, let first = ids.first, !first.isTemporaryID,
      let binding = try? binding(keeping: first),
      !binding.rowsMayMove
    else {
      return ids.compactMap(find)
    }
    // Mostly all are of one entity and known. One copy of the table serves them all: nothing is read in between.
    let table = binding.table
    return ids.compactMap { id in
      // try?: it is looked for by itself then, and what cannot be read is found out there.
      guard id.scope === first.scope, let row = try? table.row(of: id.reference) else { return find(id) }
      return binding.object(row)
    }
  }

  /// Reads the records of `ids` together, where they are not known yet. One that cannot be read is found out when it is looked for.
  ///
  /// - Parameter neighbours: what will be asked for next, most likely, and is read with them.
  func readAhead(_ ids: [ManagedObjectID], with neighbours: () -> [ManagedObjectID]) {
    // What is read together is asked for the first alone: mostly there is nothing to be read.
    // try?: one that cannot be read is found out when it is looked for.
    guard !ids[0].isTemporaryID, let first = try? binding(keeping: ids[0]), first.isPartial,
      !first.knows(ids[0].reference)
    else { return }
    let all = (ids + neighbours()).filter { !$0.isTemporaryID }
    for (_, ids) in Dictionary(grouping: all, by: { ObjectIdentifier($0.scope) }) {
      // try?: as above. Neighbours that cannot be read are no concern of whoever asks for the others.
      try? binding(keeping: ids[0]).read(ids.map(\.reference))
    }
  }

  /// The object of `objectID`, or nil where there is none (any more).
  ///
  /// - Throws: what reading its record throws, and ``PersistenceError/Code/storeNotOpen``.
  func find(_ objectID: ManagedObjectID) throws(PersistenceError) -> ManagedObject? {
    followConversions()
    if let object = pending.inserted[objectID] { return object }
    if objectID.isTemporaryID { return nil }
    do {
      return try binding(keeping: objectID).object(objectID.reference)
    } catch {
      throw .of(error, .fileReadFailed, "The store cannot be read.")
    }
  }
}
