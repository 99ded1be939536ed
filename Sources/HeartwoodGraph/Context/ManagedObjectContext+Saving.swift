import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Writes all changes to the stores, or gives them to the parent, which then has them as changes of its own. It does nothing
  /// where there are none.
  ///
  /// Each store saves all its changes or none. Where a context changes objects of several stores and one of them fails, those
  /// before it have saved; the changes of the others stay, and saving can be tried again.
  ///
  /// - Throws: ``PersistenceError/Code/validationFailed``, ``PersistenceError/Code/saveConflict`` where another context saved the
  ///   same objects, ``PersistenceError/Code/fileChangedOnDisk`` where another process did, and what writing a file can throw. The
  ///   old file is whole then, and the changes are still in the context.
  public func save() throws {
    processPendingChanges()
    guard hasChanges else { return }
    followStores()
    try checkArrivals()
    if upstream.stagingArea != nil { try prepareForParent() }
    for save in try pendingSaves() {
      // Transient values are nothing to a store.
      let commit = save.changes.isEmpty ? nil : try save.source.save(save.changes, origin: saveOrigin)
      finish(save, commit)
    }
    parent?.takeArrivals()
  }
}

// MARK: Before a save

extension ManagedObjectContext {
  private func pendingSaves() throws(PersistenceError) -> [PendingSave] {
    var saves: [PendingSave] = []
    func index(of store: PersistentStore) -> Int {
      if let index = saves.firstIndex(where: { $0.store === store }) { return index }
      saves.append(PendingSave(store: store, source: source(for: store)))
      return saves.count - 1
    }
    var validation = SaveValidation()
    for object in inserted.objects {
      let index = index(of: try storeForNewObject(object))
      let values = valuesToSave(object)
      validation.check(values, of: object)
      saves[index].inserted.append(object)
      saves[index].changes.inserted.append(ObjectSnapshot(objectID: object.objectID, version: 0, values: values))
    }
    for object in updated.objects {
      let index = index(of: try openStore(of: object))
      let values = valuesToSave(object)
      // An object whose record is gone is a conflict, which the store tells.
      if object.group != nil { validation.check(values, of: object) }
      saves[index].updated.append(object)
      if let update = recordUpdate(object, values) { saves[index].changes.updated.append(update) }
    }
    for object in deleted.objects {
      let index = index(of: try openStore(of: object))
      validation.checkDeletion(of: object, in: self)
      saves[index].deleted.append(object)
      saves[index].changes.deleted.append(
        RecordDeletion(objectID: object.objectID, baseVersion: object.baseVersion)
      )
    }
    try validation.finish()
    return saves
  }

  private func openStore(of object: ManagedObject) throws(PersistenceError) -> PersistentStore {
    if let store = object.binding.store, persistentStoreCoordinator.isOpen(store) { return store }
    throw PersistenceError(
      .storeNotOpen,
      "The store of a changed object was removed from the coordinator. Roll the context back, or add the store again, fetch the "
        + "object anew and change that.",
      context: .init(path: object.binding.store?.path, entity: object.entity.name, objectIDs: [object.objectID])
    )
  }

  /// The values of all properties; relationships no longer lead to new objects that were deleted before they were saved.
  func valuesToSave(_ object: ManagedObject) -> [PropertyValue] {
    object.binding.traits.indices.map { ordinal in
      switch object.value(at: ordinal) {
      case .toOne(let id) where isGone(id): .null
      case .toMany(let ids) where ids.contains(where: isGone): .toMany(ids.filter { !isGone($0) })
      case let value: value
      }
    }
  }

  private func isGone(_ id: ManagedObjectID) -> Bool {
    id.isTemporaryID ? newObjects[id] == nil : lostIDs.contains(id)
  }

  /// What of the changes a store has to write; nil where only transient values have changed.
  private func recordUpdate(_ object: ManagedObject, _ values: [PropertyValue]) -> RecordUpdate? {
    guard case .changed(let changes) = object.content else { return nil }
    let ordinals = changes.unsettledOrdinals.filter { !object.binding.traits[$0].isTransient }
    guard !ordinals.isEmpty else { return nil }
    return RecordUpdate(
      objectID: object.objectID,
      baseVersion: object.baseVersion,
      values: ordinals.map { (ordinal: $0, value: values[$0]) }
    )
  }
}

// MARK: After a save

extension ManagedObjectContext {
  /// Lets the objects of a save be what the store has now. It cannot fail: the save is done.
  private func finish(_ save: PendingSave, _ commit: StoreCommit?) {
    if let commit {
      recorder?.noteSuccessors(commit.permanentIDs)
      settle(save, commit)
    }
    for object in save.updated {
      if let commit, object.hasPersistentChanges {
        object.binding.adopt(commit)
        object.endSave(in: object.binding.liveGroup(of: object.rowID), commit.permanentIDs)
      } else {
        object.endSave(in: object.group, commit?.permanentIDs ?? [:])
      }
      note(object, hasChanges: false)
    }
    for object in save.deleted {
      noteChange(object)
      detach(object)
      deleted.remove(object)
    }
  }

  /// Gives the inserted objects their rows.
  private func settle(_ save: PendingSave, _ commit: StoreCommit) {
    let rows = commit.insertedRows.mapValues { ContiguousArray($0) }
    var settled: [Int: Int] = [:]
    // Most saves insert all there is to insert.
    let isAll = save.inserted.count == newObjects.count
    if isAll { forgetInserted() }
    for object in save.inserted {
      let ordinal = object.entity.ordinal
      let place = settled[ordinal, default: 0]
      settled[ordinal] = place + 1
      guard let row = rows[ordinal]?[place] else {
        preconditionFailure("A store tells the row of every record that it inserts.")
      }
      if !isAll { forgetInserted(object) }
      settle(object, at: row, in: binding(for: object.entity, in: save.store), commit)
    }
  }

  private func settle(_ object: ManagedObject, at row: RowID, in binding: EntityBinding, _ commit: StoreCommit) {
    binding.adopt(commit)
    object.binding = binding
    object.rowID = row
    object.state.remove(.inserted)
    binding.register(object)
    object.endSave(in: binding.liveGroup(of: row), commit.permanentIDs)
  }

  private func forgetInserted() {
    inserted = ObjectList()
    newObjects = [:]
    formerIDs = [:]
    assignedStores = [:]
    changeNumber &+= 1
  }

  private func forgetInserted(_ object: ManagedObject) {
    noteChange(object)
    newObjects[object.objectID] = nil
    assignedStores[ObjectIdentifier(object)] = nil
    inserted.remove(object)
  }
}

extension ManagedObject {
  /// Whether a store has something to write for the object.
  fileprivate final var hasPersistentChanges: Bool {
    guard case .changed(let changes) = content else { return false }
    return changes.unsettledOrdinals.contains { !binding.traits[$0].isTransient }
  }

  /// Lets the object read from `group`, which has its changes now. Transient values stay.
  fileprivate final func endSave(in group: RowGroup?, _ permanentIDs: [ManagedObjectID: ManagedObjectID]) {
    guard case .changed(let changes) = content, let group else { return }
    let rest = changes.saved(in: group, keeping: binding.transientOrdinals, permanentIDs: permanentIDs)
    content = rest.map(ObjectContent.changed) ?? .read(group)
  }
}
