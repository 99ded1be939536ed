import HeartwoodModel
import HeartwoodStore

/// What one save does in one store.
struct PendingSave {
  let store: PersistentStore
  var inserted: [ManagedObject] = []
  var updated: [ManagedObject] = []
  var deleted: [ManagedObject] = []
}

extension ManagedObjectContext {
  /// Writes all changes to the stores. It does nothing where there are none.
  ///
  /// Each store saves all its changes or none. Where a context changes objects of several stores and one of them fails, those
  /// before it have saved; the changes of the others stay, and saving can be tried again.
  ///
  /// - Throws: ``PersistenceError/Code/validationFailed``, ``PersistenceError/Code/saveConflict`` where another context saved the
  ///   same objects, ``PersistenceError/Code/fileChangedOnDisk`` where another process did, and what writing a file can throw. The
  ///   old file is whole then, and the changes are still in the context.
  public func save() throws {
    guard hasChanges else { return }
    try validate()
    for save in try pendingSaves() {
      try finish(save, try save.store.engine.save(changeSet(save)))
    }
  }

  private func pendingSaves() throws(PersistenceError) -> [PendingSave] {
    var saves: [PendingSave] = []
    func index(of store: PersistentStore) -> Int {
      if let index = saves.firstIndex(where: { $0.store === store }) { return index }
      saves.append(PendingSave(store: store))
      return saves.count - 1
    }
    for object in insertedObjects {
      let store = try persistentStoreCoordinator.storeForNewObjects(of: object.entity)
      saves[index(of: store)].inserted.append(object)
    }
    for object in updatedObjects {
      let store = try persistentStoreCoordinator.store(keeping: object.objectID)
      saves[index(of: store)].updated.append(object)
    }
    for object in deletedObjects {
      let store = try persistentStoreCoordinator.store(keeping: object.objectID)
      saves[index(of: store)].deleted.append(object)
    }
    return saves
  }

  private func changeSet(_ save: PendingSave) -> ChangeSet {
    ChangeSet(
      inserted: save.inserted.map { object in
        let values = object.entity.properties.indices.map { object.value(at: $0) }
        return ObjectSnapshot(objectID: object.objectID, version: 0, values: values)
      },
      updated: save.updated.map { object in
        let values = (object.changes?.ordinals ?? []).map { (ordinal: $0, value: object.value(at: $0)) }
        return RecordUpdate(objectID: object.objectID, baseVersion: object.baseVersion, values: values)
      },
      deleted: save.deleted.map { RecordDeletion(objectID: $0.objectID, baseVersion: $0.baseVersion) }
    )
  }

  private func validate() throws(PersistenceError) {
    var faults: [String] = []
    var objects: [ManagedObjectID] = []
    for object in insertedObjects + updatedObjects {
      let values = object.entity.properties.indices.map { object.value(at: $0) }
      let found = RecordValidation.faults(in: values, of: object.entity)
      faults += found
      if !found.isEmpty { objects.append(object.objectID) }
    }
    for object in deletedObjects {
      let found = denials(of: object)
      faults += found
      if !found.isEmpty { objects.append(object.objectID) }
    }
    guard !faults.isEmpty else { return }
    throw PersistenceError(
      .validationFailed,
      faults.count == 1 ? faults[0] : "There are \(faults.count) faults: \(faults.joined(separator: " "))",
      context: .init(objectIDs: objects)
    )
  }

  /// The relationships that forbid the deletion of `object`.
  private func denials(of object: ManagedObject) -> [String] {
    object.entity.properties.indices.compactMap { ordinal in
      guard let relationship = object.entity.properties[ordinal].relationship, relationship.deleteRule == .deny,
        object.value(at: ordinal).objectIDs.contains(where: { id in
          (try? existingObject(with: id)).map { !$0.isDeleted } ?? false
        })
      else { return nil }
      return "\(object.entity.name).\(relationship.name) denies the deletion of an object while it leads to others."
    }
  }
}
