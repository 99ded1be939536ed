import HeartwoodModel
package import HeartwoodStore

extension ManagedObjectContext {
  /// Writes all changes to the stores, or passes them to the parent, where they become unsaved changes. If there are
  /// none, nothing is written.
  ///
  ///     do {
  ///       try context.save()
  ///     } catch let error as PersistenceError where error.code == .validationFailed {
  ///       show(error)
  ///     }
  ///
  /// Each store saves all its changes or none. If a context changes objects of several stores and one of them fails,
  /// the stores before it have saved; the changes of the others stay, and saving can be tried again.
  ///
  /// Conflicts with other saves are resolved by ``mergePolicy``, and the save is tried again. After two conflicts, it
  /// is tried while no other context of the coordinator saves, so that it succeeds however many contexts save at the
  /// same time.
  ///
  /// - Throws: ``PersistenceError/Code/saveNeverSettles``, ``PersistenceError/Code/validationFailed``,
  ///   ``PersistenceError/Code/saveConflict`` if another context has saved the same objects,
  ///   ``PersistenceError/Code/constraintConflict`` if values are not unique,
  ///   ``PersistenceError/Code/fileChangedOnDisk`` if another process has saved,
  ///   ``PersistenceError/Code/storeReadOnly``, ``PersistenceError/Code/storeNotOpen``,
  ///   ``PersistenceError/Code/coordinatorClosed``, ``PersistenceError/Code/valueUnsupported`` for values that the
  ///   store's format cannot hold, and the errors of writing a file. The file is intact then: it is the old one, or the
  ///   new one if only the flush of its directory has failed. The changes are still in the context, to be saved again.
  ///
  /// If a change depends on records that cannot be read, such as a deletion with an unreadable cascade, or a
  /// relationship whose other end could not be updated, the save throws and writes nothing to that store. The ids of
  /// the records are in the context of the error. The next save tries again; ``rollback()`` and ``reset()`` discard
  /// such changes.
  public func save() throws {
    try settlePostponedChanges()
    try reading { try tellObjectsWillSave() }
    try checkChildSavesAreTaken()
    processPendingChanges()
    // The context may have rejected all changes of a child's save.
    guard hasChanges else { return try checkChildSaves() }
    try prepareToSave()
    try deriveAndTellAll()
    let left = leaveOwnRows()
    defer { endLeaving(left) }
    try writeInTurn(after: nil)
    endSaving()
  }

  /// Computes the derived attributes of the objects to be saved, and notifies observers.
  func deriveAndTellAll() throws {
    try deriveAndTell()
    let toldNumber = notes.changeNumber
    tellWillSave()
    if notes.changeNumber != toldNumber { try deriveAndTell() }
  }

  /// Notes that all changes are saved, except those that were made since they were written.
  ///
  /// - Parameter compared: the objects that the save has compared with the store's; nil for all that it was to compare.
  func endSaving(comparing compared: [ManagedObject]? = nil) {
    saveProgress.end(comparing: compared)
    recorder?.noteSave()
    advanceQueryGeneration()
  }

  /// Writes all changes and resolves their conflicts.
  ///
  /// - Parameter conflict: the conflict of earlier attempts.
  func writeInTurn(after conflict: ConflictingSave?) throws {
    var conflict = conflict
    if conflict == nil {
      conflict = try attempt(Self.attemptsTogether, after: nil)
      if conflict == nil { return }
    }
    // Other saves were faster, and would be again. Without other saves, resolved conflicts stay resolved.
    try persistentStoreCoordinator.saveTurns.alone {
      guard let conflict = try attempt(Self.mostAttempts, after: conflict) else { return }
      try checkWatchedObjects()
      throw conflict.error
    }
  }

  /// Tries to write all changes, at most `count` times; returns the conflict of the last attempt, if there was one.
  private func attempt(_ count: Int, after conflict: ConflictingSave?) throws -> ConflictingSave? {
    var conflict = conflict
    for _ in 0..<count {
      if let conflict { try resolve(conflict) }
      conflict = hasChanges ? try writeFollowingMoves() : nil
      if conflict == nil { return nil }
    }
    return conflict
  }

  /// Writes all changes, and tries again if records have only moved: a parent of another isolation may assemble them
  /// again at any time.
  private func writeFollowingMoves() throws -> ConflictingSave? {
    for _ in 0..<Self.mostMoves {
      guard let conflict = try write() else { return nil }
      if try !hasMerelyMoved(conflict.error) { return conflict }
    }
    return try write()
  }

  /// Prepares a save that had a conflict to be tried again.
  func resolve(_ conflict: ConflictingSave) throws {
    try checkWatchedObjects()
    try ConflictResolver(self, conflict.save).resolve(conflict.error)
    registerPendingChanges()
    undoManager?.endEvent()
    try deriveAndTell()
  }

  /// Notifies live results of a save, in which new objects get their permanent ids.
  private func tellLiveResults(_ save: PendingSave) {
    if notifier.liveResults.isEmpty { return }
    notifier.liveResults.objectsWereSaved(inserted: save.inserted.flatMap(\.objects), updated: save.updated)
  }

  /// The number of attempts while other contexts save too.
  static let attemptsTogether = 2
  /// The number of attempts while no other context of the coordinator saves: resolving one conflict may cause another,
  /// and other processes save at any time.
  private static let mostAttempts = 10
  /// The number of attempts of a save to a parent if records have only moved.
  private static let mostMoves = 1_000

  /// A save that had a conflict.
  struct ConflictingSave {
    let save: PendingSave
    let error: PersistenceError
  }

  /// Writes all changes; returns the save that had a conflict, if there was one.
  private func write() throws -> ConflictingSave? {
    for _ in 0..<Self.mostRenewals {
      do {
        return try writeOnce()
      } catch is RecordsHaveMoved {
        // Others have saved since the context has looked. The records that it has changed are read again.
        continue
      }
    }
    let keepers = persistentStoreCoordinator.keepRows()
    defer { withExtendedLifetime(keepers) {} }
    return try writeOnce()
  }

  /// The number of attempts if the store has released the records that were read.
  private static let mostRenewals = 3

  private func writeOnce() throws -> ConflictingSave? {
    let (saves, conflict) = try gatherKeepingRows()
    if let save = saves.first, let conflict { return ConflictingSave(save: save, error: conflict) }
    return try settle(saves) { save in
      try persistentStoreCoordinator.write(save.changes, of: save.counts, to: save.source, origin: saveOrigin)
    }
  }

  /// Returns the saves of all stores, whose records stay in their rows while the changes are collected.
  private func gatherKeepingRows() throws -> (saves: [PendingSave], conflict: PersistenceError?) {
    let keepers = persistentStoreCoordinator.keepRows()
    defer { withExtendedLifetime(keepers) {} }
    for binding in savedBindings { try binding.synchronize() }
    return try gatherSaves()
  }

  /// Returns the saves of all stores, and the conflict that is already known before anything is written.
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

  /// Returns all changes for a copy of a store. Merge policies are not asked, since they would change the context.
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

  /// Updates the context to the state in which its saves have left the stores, one after the other.
  ///
  /// - Parameters:
  ///   - written: the changes when they were written, if others may have been made since.
  ///   - commit: writes a save, or returns its result.
  /// - Returns: the save that had a conflict, if there was one.
  func settle(
    _ saves: [PendingSave],
    _ written: WrittenChanges? = nil,
    _ commit: (PendingSave) throws -> StoreCommit
  ) throws -> ConflictingSave? {
    var changes = isSaveHeard ? emptyChanges() : nil
    var done: [PendingSave] = []
    // Updating the objects of a save is not a change of them.
    let notesEvents = notes.notesChangeEvents
    notes.noteEvents(false)
    // All saved changes are reported, even if a later store has failed.
    defer {
      notes.noteEvents(notesEvents)
      parent?.takeWaitingChildSaves()
      if !done.isEmpty {
        // Observers of the save must not read the records before it, nor what children could see then.
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
        // Transient values are not sent to a store.
        let made = save.changes.isEmpty ? nil : try commit(save)
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
  /// Adds the changes of a save.
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
  /// Updates the objects of a save to the state of the store. It cannot fail: the save is done.
  private func finish(_ save: PendingSave, _ commit: StoreCommit?, _ written: WrittenChanges?) {
    if let commit {
      recorder?.noteSuccessors(save.successors)
      settleInserted(save, commit, written)
    }
    settleUpdated(save, commit, written)
    save.deleted.forEach(finishDeletion)
  }

  /// Releases an object whose record has been deleted.
  func finishDeletion(of object: ManagedObject) {
    noteChange(object)
    detach(object)
    pending.endDeletion(of: object)
  }

  /// Assigns rows to the inserted objects.
  private func settleInserted(_ save: PendingSave, _ commit: StoreCommit, _ written: WrittenChanges?) {
    // Most saves insert all new objects.
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
    // Most saves write all changed objects: then they need not be looked up one by one.
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
  /// Makes the object read from `group`, which contains its changes now. Transient values stay, even if the version
  /// that the context reads lacks the record.
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
