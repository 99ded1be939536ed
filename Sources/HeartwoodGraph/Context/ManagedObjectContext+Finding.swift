public import HeartwoodModel
public import HeartwoodStore

extension ManagedObjectContext {
  /// Returns the object of `objectID` if it is registered: if it is referenced elsewhere or has changes. Otherwise nil.
  ///
  /// The result is also nil if a record that the answer depends on cannot be read; the failure is added to
  /// ``readFailures``. ``existingObject(with:)`` throws it.
  public func registeredObject(for objectID: ManagedObjectID) -> ManagedObject? {
    do {
      return try findRegistered(objectID)
    } catch {
      // Nothing is registered for a store that is not open.
      if error.code != .storeNotOpen { noteReadFailure(.unreadable([objectID], error)) }
      return nil
    }
  }

  /// Returns the object of `objectID` if it is referenced elsewhere or has changes. Otherwise nil.
  ///
  /// - Throws: the errors of reading records, and ``PersistenceError/Code/storeNotOpen``.
  func findRegistered(_ objectID: ManagedObjectID) throws(PersistenceError) -> ManagedObject? {
    followConversions()
    if let object = pending.inserted[objectID] { return object }
    do {
      return try binding(keeping: objectID).registeredObject(objectID.reference)
    } catch {
      throw .of(error, .fileReadFailed, "The store cannot be read.")
    }
  }

  /// Returns the object of `objectID`, a fault if it was not registered yet.
  ///
  /// An object that has read its values is found even if its record has been deleted since: its context keeps it until
  /// it is refreshed.
  ///
  /// - Throws: ``PersistenceError/Code/objectNotFound`` if there is no such record (any more),
  ///   ``PersistenceError/Code/storeNotOpen``, ``PersistenceError/Code/coordinatorClosed``, and the errors of reading
  ///   the record, such as ``PersistenceError/Code/storeBusy``.
  public func existingObject(with objectID: ManagedObjectID) throws(PersistenceError) -> ManagedObject {
    try persistentStoreCoordinator.checkNotClosed()
    takeWaitingChildSaves()
    if let object = try find(objectID) { return object }
    throw PersistenceError(
      .objectNotFound,
      objectID.isTemporaryID
        ? "The id is temporary and of another context, or its object was saved or is gone."
        : "The store does not have the record, or no longer has it.",
      recovery: objectID.isTemporaryID ? "Save it there to get a permanent id." : nil,
      context: .init(entity: objectID.entity.name, objectIDs: [objectID])
    )
  }

  /// The result of looking for a record.
  enum Finding {
    case present(ManagedObject)
    /// The record does not exist, or no longer.
    case gone
    /// It is unknown whether the record exists.
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

  /// Returns the object of `objectID`, or nil if there is none (any more). If the record cannot be read, the failure is
  /// noted and the result is nil: use the result only to show it, or call this inside ``reading(_:)``.
  func objectIfPresent(_ objectID: ManagedObjectID) -> ManagedObject? {
    switch look(for: objectID) {
    case .present(let object): return object
    case .gone: return nil
    case .unreadable(let error):
      noteReadFailure(.unreadable([objectID], error))
      return nil
    }
  }

  /// Returns the objects of `ids` that exist and can be read.
  ///
  /// - Parameter unread: is called with the ids of the records that cannot be read, and the error.
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
    // try?: then each is looked up by itself, which notes what cannot be read.
    guard pending.inserted.isEmpty, let first = ids.first, !first.isTemporaryID,
      let binding = try? binding(keeping: first),
      !binding.rowsMayMove
    else {
      return ids.compactMap(find)
    }
    // Usually all are of one entity and known. One copy of the table serves them all: nothing is read in between.
    let table = binding.table
    return ids.compactMap { id in
      // try?: then it is looked up by itself, which notes what cannot be read.
      guard id.scope === first.scope, let row = try? table.row(of: id.reference) else { return find(id) }
      return binding.object(row)
    }
  }

  /// Reads the records of `ids` together, as far as they are not known yet. Errors are noted later, when a record is
  /// looked up.
  ///
  /// - Parameter neighbours: the ids that are most likely asked for next, whose records are read at the same time.
  func readAhead(_ ids: [ManagedObjectID], with neighbours: () -> [ManagedObjectID]) {
    // Checking the first record is enough, since records are read together: usually there is nothing to read.
    // try?: a record that cannot be read is noted when it is looked up.
    guard !ids[0].isTemporaryID, let first = try? binding(keeping: ids[0]), first.isPartial,
      !first.knows(ids[0].reference)
    else { return }
    let all = (ids + neighbours()).filter { !$0.isTemporaryID }
    for (_, ids) in Dictionary(grouping: all, by: { ObjectIdentifier($0.scope) }) {
      // try?: as above. Neighbours that cannot be read do not concern the caller.
      try? binding(keeping: ids[0]).read(ids.map(\.reference))
    }
  }

  /// Returns the object of `objectID`, or nil if there is none (any more).
  ///
  /// - Throws: the errors of reading its record, and ``PersistenceError/Code/storeNotOpen``.
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
