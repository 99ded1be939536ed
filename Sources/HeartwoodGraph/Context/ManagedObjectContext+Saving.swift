import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Writes all changes to the stores, or gives them to the parent, which then has them as changes of its own. It does nothing
  /// where there are none.
  ///
  /// Each store saves all its changes or none. Where a context changes objects of several stores and one of them fails, those
  /// before it have saved; the changes of the others stay, and saving can be tried again.
  ///
  /// - Throws: ``PersistenceError/Code/saveNeverSettles``, ``PersistenceError/Code/validationFailed``,
  ///   ``PersistenceError/Code/saveConflict`` where another context saved the
  ///   same objects, ``PersistenceError/Code/fileChangedOnDisk`` where another process did, and what writing a file can throw. The
  ///   old file is whole then, and the changes are still in the context.
  public func save() throws {
    try tellObjectsWillSave()
    processPendingChanges()
    guard hasChanges else { return }
    try prepare()
    tellWillSave()
    try checkArrivals()
    try checkWatchedObjects()
    if upstream.stagingArea != nil { try prepareForParent() }
    try write(try SaveBuilder.saves(of: self))
    watched = ObjectList()
    advanceQueryGeneration()
  }

  private func write(_ saves: [PendingSave]) throws {
    var changes = isSaveHeard ? emptyChanges() : nil
    var done: [PendingSave] = []
    // That objects are saved is no change of them.
    let notesEvents = notesChangeEvents
    notesChangeEvents = false
    // All is as the stores have it then, also where a later store has failed: what has been saved is told.
    defer {
      notesChangeEvents = notesEvents
      parent?.takeArrivals()
      if let changes, !changes.isEmpty { tellSave(changes) }
      for save in done { save.tellDidSave() }
    }
    for save in saves {
      // Transient values are nothing to a store.
      let commit = save.changes.isEmpty ? nil : try save.source.save(save.changes, origin: saveOrigin)
      finish(save, commit)
      changes?.note(save)
      done.append(save)
    }
  }
}

extension ContextChanges {
  /// Adds what a save has done.
  fileprivate mutating func note(_ save: PendingSave) {
    insertedObjectIDs.formUnion(save.inserted.lazy.flatMap(\.objects).map(\.objectID))
    updatedObjectIDs.formUnion(save.updated.lazy.map(\.objectID))
    deletedObjectIDs.formUnion(save.deleted.lazy.map(\.objectID))
  }
}

// MARK: After a save

extension ManagedObjectContext {
  /// Lets the objects of a save be what the store has now. It cannot fail: the save is done.
  private func finish(_ save: PendingSave, _ commit: StoreCommit?) {
    if let commit {
      recorder?.noteSuccessors(save.successors)
      settleInserted(save, commit)
    }
    settleUpdated(save, commit)
    for object in save.deleted {
      noteChange(object)
      detach(object)
      deleted.remove(object)
    }
  }

  /// Gives the inserted objects their rows.
  private func settleInserted(_ save: PendingSave, _ commit: StoreCommit) {
    // Most saves insert all there is to insert.
    let isAll = save.insertedCount == inserted.count
    if isAll {
      inserted = NewObjects()
      assignedStores = [:]
      changeNumber &+= 1
    } else {
      for insertion in save.inserted { insertion.objects.forEach(forgetInserted) }
    }
    for insertion in save.inserted {
      let binding = binding(for: insertion.entity, in: save.store)
      binding.adopt(commit)
      guard let rows = commit.insertedRows[insertion.entity.ordinal], rows.count == insertion.objects.count else {
        preconditionFailure("A store tells the row of every record that it inserts.")
      }
      for (object, row) in zip(insertion.objects, rows) {
        object.binding = binding
        object.rowID = row
        object.state.remove(.inserted)
        binding.register(object)
        object.endSave(in: binding.liveGroup(of: row), save.permanentIDs)
      }
    }
  }

  private func forgetInserted(_ object: ManagedObject) {
    noteChange(object)
    assignedStores[ObjectIdentifier(object)] = nil
    inserted.remove(object)
  }

  private func settleUpdated(_ save: PendingSave, _ commit: StoreCommit?) {
    let isAll = save.updated.count == updated.count
    if isAll { updated = ChangedObjects() }
    for object in save.updated {
      if let commit, object.hasPersistentChangedValues {
        object.binding.adopt(commit)
        object.endSave(in: object.binding.liveGroup(of: object.rowID), save.permanentIDs)
      } else {
        object.endSave(in: object.group, save.permanentIDs)
      }
      noteChange(object)
      object.state.remove(.updated)
      if !isAll { updated.remove(object) }
    }
  }
}

extension ManagedObject {
  /// Lets the object read from `group`, which has its changes now. Transient values stay.
  fileprivate final func endSave(in group: RowGroup?, _ permanentIDs: PermanentIDs?) {
    guard case .changed(let changes) = content, let group else { return }
    if binding.transientOrdinals.isEmpty {
      content = .read(group)
      return
    }
    let rest = changes.saved(in: group, keeping: binding.transientOrdinals) { permanentIDs?[$0] ?? $0 }
    content = rest.map(ObjectContent.changed) ?? .read(group)
  }
}
