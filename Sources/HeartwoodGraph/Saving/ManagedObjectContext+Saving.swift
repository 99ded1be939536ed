import HeartwoodModel
package import HeartwoodStore

extension ManagedObjectContext {
  /// Writes all changes to the stores, or gives them to the parent, which then has them as changes of its own. It does nothing
  /// where there are none.
  ///
  /// Each store saves all its changes or none. Where a context changes objects of several stores and one of them fails, those
  /// before it have saved; the changes of the others stay, and saving can be tried again.
  ///
  /// Conflicts with other saves are resolved by ``mergePolicy``, and the save is tried again. One that comes to conflicts twice is then made
  /// while no other context of the coordinator saves, so that it succeeds however many save at once.
  ///
  /// - Throws: ``PersistenceError/Code/saveNeverSettles``, ``PersistenceError/Code/validationFailed``,
  ///   ``PersistenceError/Code/saveConflict`` where another context saved the same objects,
  ///   ``PersistenceError/Code/constraintConflict`` where values are not unique, ``PersistenceError/Code/fileChangedOnDisk`` where
  ///   another process saved, ``PersistenceError/Code/storeReadOnly``, ``PersistenceError/Code/storeNotOpen``,
  ///   ``PersistenceError/Code/coordinatorClosed``, ``PersistenceError/Code/valueUnsupported`` for what the store's format cannot hold, and what
  ///   writing a file can throw. The file is whole then: the old one, or the new one where nothing
  ///   but the flush of its directory has failed. The changes are still in the context, to be saved again.
  ///
  /// A save that depends on what cannot be read fails, and writes nothing to that store: a deletion that takes along what could not be
  /// read, a relationship whose other end could not be changed. The ids of the records are in the context of the error. Such changes are tried again by
  /// the next save, and forgotten by ``rollback()`` and ``reset()``.
  public func save() throws {
    try settlePostponedChanges()
    try reading { try tellObjectsWillSave() }
    try checkChildSavesAreTaken()
    processPendingChanges()
    // What a child has saved may not have been taken in, and leave no change.
    guard hasChanges else { return try checkChildSaves() }
    try prepareToSave()
    try deriveAndTellAll()
    let left = leaveOwnRows()
    defer { endLeaving(left) }
    try writeInTurn(after: nil)
    endSaving()
  }

  /// Computes what is derived from what is about to be saved, and tells it.
  func deriveAndTellAll() throws {
    try deriveAndTell()
    let toldNumber = notes.changeNumber
    tellWillSave()
    if notes.changeNumber != toldNumber { try deriveAndTell() }
  }

  /// Notes that all is as the stores have it, but for what has been changed since it was written.
  ///
  /// - Parameter compared: the objects that the save has compared with the store's; nil for all that it was to compare.
  func endSaving(comparing compared: [ManagedObject]? = nil) {
    saveProgress.end(comparing: compared)
    recorder?.noteSave()
    advanceQueryGeneration()
  }

  /// Writes all changes and resolves the conflicts that this comes to.
  ///
  /// - Parameter conflict: the one that the attempts so far have come to.
  func writeInTurn(after conflict: ConflictingSave?) throws {
    var conflict = conflict
    if conflict == nil {
      conflict = try attempt(Self.attemptsTogether, after: nil)
      if conflict == nil { return }
    }
    // Others were faster, and would be again. While nobody else saves, what is resolved stays so.
    try persistentStoreCoordinator.saveTurns.alone {
      guard let conflict = try attempt(Self.mostAttempts, after: conflict) else { return }
      try checkWatchedObjects()
      throw conflict.error
    }
  }

  /// Tries to write all changes, `count` times at most; returns the conflict that the last attempt came to, if it did.
  private func attempt(_ count: Int, after conflict: ConflictingSave?) throws -> ConflictingSave? {
    var conflict = conflict
    for _ in 0..<count {
      if let conflict { try resolve(conflict) }
      conflict = hasChanges ? try writeFollowingMoves() : nil
      if conflict == nil { return nil }
    }
    return conflict
  }

  /// Writes all changes, again while records have merely moved: a parent of another isolation may put them together anew whenever it likes.
  private func writeFollowingMoves() throws -> ConflictingSave? {
    for _ in 0..<Self.mostMoves {
      guard let conflict = try write() else { return nil }
      if try !hasMerelyMoved(conflict.error) { return conflict }
    }
    return try write()
  }

  /// Prepares a save that came to a conflict to be tried again.
  func resolve(_ conflict: ConflictingSave) throws {
    try checkWatchedObjects()
    try ConflictResolver(self, conflict.save).resolve(conflict.error)
    registerPendingChanges()
    undoManager?.endEvent()
    try deriveAndTell()
  }

  /// Lets live results know what is saved, and of new objects that have their permanent ids.
  private func tellLiveResults(_ save: PendingSave) {
    if notifier.liveResults.isEmpty { return }
    notifier.liveResults.objectsWereSaved(inserted: save.inserted.flatMap(\.objects), updated: save.updated)
  }

  /// How often a save is tried while other contexts save too.
  static let attemptsTogether = 2
  /// How often a save is tried while no other context of the coordinator saves: a conflict may come out of the resolution of another one, and other
  /// processes save when they like.
  private static let mostAttempts = 10
  /// How often a save to a parent is tried again because records have merely moved.
  private static let mostMoves = 1_000

  /// A save that came to a conflict.
  struct ConflictingSave {
    let save: PendingSave
    let error: PersistenceError
  }

  /// Writes all changes; returns the save at which it came to a conflict, where it did.
  private func write() throws -> ConflictingSave? {
    for _ in 0..<Self.mostRenewals {
      do {
        return try writeOnce()
      } catch is RecordsHaveMoved {
        // Others have saved since the context has looked. What it has changed is read again.
        continue
      }
    }
    let keepers = persistentStoreCoordinator.keepRows()
    defer { withExtendedLifetime(keepers) {} }
    return try writeOnce()
  }

  /// How often a save is made anew because the store has forgotten what was read.
  private static let mostRenewals = 3

  private func writeOnce() throws -> ConflictingSave? {
    let (saves, conflict) = try gatherKeepingRows()
    if let save = saves.first, let conflict { return ConflictingSave(save: save, error: conflict) }
    return try settle(saves) { save in
      try persistentStoreCoordinator.saveTurns.together {
        try save.source.save(save.changes, origin: saveOrigin)
      }
    }
  }

  /// The saves of all stores, whose records stay in their rows while these are gathered.
  private func gatherKeepingRows() throws -> (saves: [PendingSave], conflict: PersistenceError?) {
    let keepers = persistentStoreCoordinator.keepRows()
    defer { withExtendedLifetime(keepers) {} }
    for binding in savedBindings { try binding.synchronize() }
    return try gatherSaves()
  }

  /// The saves of all stores, and the conflict that they would come to before anything is written.
  func gatherSaves() throws -> (saves: [PendingSave], conflict: PersistenceError?) {
    followStores()
    assert(pending.isConsistent, "An object with changes is in another list than its state says.")
    try settlePostponedChanges()
    try checkChildSaves()
    try checkWatchedObjects()
    if sources.upstream.stagingArea != nil { try prepareForParent() }
    let saves = try reading { try SaveBuilder.saves(of: self) }
    return (saves, try RelationshipUpkeep(self).conflict(in: saves))
  }

  /// All changes, as a copy of a store is to have them. Merge policies are not asked, since they would change the context.
  ///
  /// - Returns: the changes of `store`.
  package func changesForCopy(of store: PersistentStore) throws -> ChangeSet {
    try tellObjectsWillSave()
    processPendingChanges()
    try prepare()
    try updateDerivedAttributes()
    tellChangeEvent()
    let (saves, conflict) = try gatherSaves()
    if let conflict { throw conflict }
    return saves.first { $0.store === store }?.changes ?? ChangeSet()
  }

  /// Lets the context be as its saves have left the stores, one after the other.
  ///
  /// - Parameters:
  ///   - written: what the changes were when they were written, where others may have been made since.
  ///   - commit: makes a save, or gives what became of it.
  /// - Returns: the save that came to a conflict, if one did.
  func settle(
    _ saves: [PendingSave],
    _ written: WrittenChanges? = nil,
    _ commit: (PendingSave) throws -> StoreCommit
  ) throws -> ConflictingSave? {
    var changes = isSaveHeard ? emptyChanges() : nil
    var done: [PendingSave] = []
    // That objects are saved is no change of them.
    let notesEvents = notes.notesChangeEvents
    notes.noteEvents(false)
    // All is as the stores have it then, also where a later store has failed: what has been saved is told.
    defer {
      notes.noteEvents(notesEvents)
      parent?.takeWaitingChildSaves()
      if !done.isEmpty {
        // Who is told of the save must not read what was there before it, nor what children could see then.
        advanceQueryGeneration()
        publishChanges()
      }
      persistentStoreCoordinator.tellRemoteChanges()
      if let changes, !changes.isEmpty { tellSave(changes) }
      for save in done {
        tellLiveResults(save)
        save.tellDidSave()
      }
    }
    for save in saves {
      do {
        // Transient values are nothing to a store.
        let log = save.changes.isEmpty ? nil : persistentStoreCoordinator.log(.saved)
        let made = save.changes.isEmpty ? nil : try commit(save)
        log?.tell(save)
        finish(save, made, written)
      } catch let error as PersistenceError where error.isConflict {
        return ConflictingSave(save: save, error: error)
      }
      changes?.note(save)
      done.append(save)
      saveProgress.noteWritten()
    }
    return nil
  }
}

extension ContextChanges {
  /// Adds what a save has done.
  fileprivate mutating func note(_ save: PendingSave) {
    records.inserted.formUnion(save.inserted.lazy.flatMap(\.objects).map(\.objectID))
    records.updated.formUnion(save.updated.lazy.map(\.objectID))
    records.deleted.formUnion(save.deleted.lazy.map(\.objectID))
  }
}

extension PersistenceError {
  /// Whether a merge policy may resolve it.
  fileprivate var isConflict: Bool { code == .saveConflict || code == .constraintConflict }
}

// MARK: After a save

extension ManagedObjectContext {
  /// Lets the objects of a save be what the store has now. It cannot fail: the save is done.
  private func finish(_ save: PendingSave, _ commit: StoreCommit?, _ written: WrittenChanges?) {
    if let commit {
      recorder?.noteSuccessors(save.successors)
      settleInserted(save, commit, written)
    }
    settleUpdated(save, commit, written)
    save.deleted.forEach(finishDeletion)
  }

  /// Lets go of an object whose record is gone as it was to be.
  func finishDeletion(of object: ManagedObject) {
    noteChange(object)
    detach(object)
    pending.endDeletion(of: object)
  }

  /// Gives the inserted objects their rows.
  private func settleInserted(_ save: PendingSave, _ commit: StoreCommit, _ written: WrittenChanges?) {
    // Most saves insert all there is to insert.
    let isAll = written == nil && save.insertedCount == pending.inserted.count
    if isAll {
      pending.endInsertions()
      notes.noteChange()
    } else {
      for object in save.inserted.lazy.flatMap(\.objects) where object.isInserted { noteChange(object) }
    }
    for insertion in save.inserted {
      let binding = binding(for: insertion.entity, in: save.store)
      binding.adopt(commit)
      guard let rows = commit.insertedRows[insertion.entity.ordinal], rows.count == insertion.objects.count else {
        ProgrammerError.stop("A store tells the row of every record that it inserts.")
      }
      for (object, row) in zip(insertion.objects, rows) {
        pending.endInsertion(of: object)
        object.binding = binding
        object.rowID = row
        binding.register(object)
        let group = binding.liveGroup(of: row)
        guard let written else {
          object.endSave(in: group, save.permanentIDs)
          continue
        }
        written.restoreDeletion(of: object, in: self)
        written.endSave(of: object, in: group)
      }
    }
  }

  private func settleUpdated(_ save: PendingSave, _ commit: StoreCommit?, _ written: WrittenChanges?) {
    if let written {
      for object in save.updated { settleUpdated(object, commit, written) }
      return
    }
    // Most saves write all changed objects: then they need not be looked for one by one.
    if save.updated.count == pending.updated.count { pending.endUpdates() }
    for object in save.updated {
      if let commit, object.hasPersistentChangedValues {
        object.binding.adopt(commit)
        object.endSave(in: object.binding.liveGroup(of: object.rowID), save.permanentIDs)
      } else {
        object.endSave(in: object.group, save.permanentIDs)
      }
      noteChange(object)
      pending.endUpdate(of: object)
    }
  }

  private func settleUpdated(_ object: ManagedObject, _ commit: StoreCommit?, _ written: WrittenChanges) {
    noteChange(object)
    pending.endUpdate(of: object)
    guard let commit, written.hasValues(of: object) else { return object.endSave(in: object.group, nil) }
    object.binding.adopt(commit)
    written.endSave(of: object, in: object.binding.liveGroup(of: object.rowID))
  }
}

extension ManagedObject {
  /// Lets the object read from `group`, which has its changes now. Transient values stay, also where the version that the context reads
  /// lacks the record.
  final func endSave(in group: RowGroup?, _ permanentIDs: PermanentIDs?) {
    guard case .changed(let changes) = content else { return }
    if let group, binding.transientOrdinals.isEmpty {
      content = .read(group)
      return
    }
    let rest = changes.saved(in: group, keeping: binding.transientOrdinals) { permanentIDs?[$0] ?? $0 }
    if let rest {
      content = .changed(rest)
    } else if let group {
      content = .read(group)
    }
  }
}
