public import HeartwoodModel
public import HeartwoodStore

extension ManagedObjectContext {
  /// The object of `objectID` if somebody holds it or it has changes, or nil.
  public func registeredObject(for objectID: ManagedObjectID) -> ManagedObject? {
    if let object = inserted[objectID] { return object }
    return try? binding(keeping: objectID).registeredObject(objectID.reference)
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
    takeWaitingArrivals()
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

  /// The object of `objectID`, or nil where there is none (any more), or where it cannot be reached.
  func objectIfPresent(_ objectID: ManagedObjectID) -> ManagedObject? {
    try? find(objectID)
  }

  /// The objects of `ids`, without those that there are not (any more), or that cannot be reached.
  func objectsIfPresent(_ ids: [ManagedObjectID]) -> [ManagedObject] {
    guard inserted.isEmpty, let first = ids.first, !first.isTemporaryID, let binding = try? binding(keeping: first),
      !binding.rowsMayMove
    else {
      return ids.compactMap { objectIfPresent($0) }
    }
    // Mostly all are of one entity and known. One copy of the table serves them all: nothing is read in between.
    let table = binding.table
    return ids.compactMap { id in
      guard id.scope === first.scope, let row = try? table.row(of: id.reference) else { return objectIfPresent(id) }
      return binding.object(row)
    }
  }

  /// Reads the records of `ids` together, where they are not known yet. One that cannot be read is found out when it is looked for.
  ///
  /// - Parameter neighbours: what will be asked for next, most likely, and is read with them.
  func readAhead(_ ids: [ManagedObjectID], with neighbours: () -> [ManagedObjectID]) {
    // What is read together is asked for the first alone: mostly there is nothing to be read.
    guard !ids[0].isTemporaryID, let first = try? binding(keeping: ids[0]), first.isPartial,
      !first.knows(ids[0].reference)
    else { return }
    let all = (ids + neighbours()).filter { !$0.isTemporaryID }
    for (_, ids) in Dictionary(grouping: all, by: { ObjectIdentifier($0.scope) }) {
      try? binding(keeping: ids[0]).read(ids.map(\.reference))
    }
  }

  /// The object of `objectID`, or nil where there is none (any more).
  ///
  /// - Throws: what reading its record throws, and ``PersistenceError/Code/storeNotOpen``.
  func find(_ objectID: ManagedObjectID) throws(PersistenceError) -> ManagedObject? {
    if let object = inserted[objectID] { return object }
    if objectID.isTemporaryID { return nil }
    do {
      return try binding(keeping: objectID).object(objectID.reference)
    } catch {
      throw .of(error, .fileReadFailed, "The store cannot be read.")
    }
  }
}
