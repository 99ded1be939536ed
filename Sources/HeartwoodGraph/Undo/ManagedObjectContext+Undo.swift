import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// The undo manager of this context; nil, the default, means that changes cannot be undone.
  ///
  /// With one, the context retains the objects whose changes can be undone, and records the old value of each property
  /// that changes.
  public var undoManager: GraphUndoManager? {
    get { recorder?.undoManager }
    set {
      guard newValue !== recorder?.undoManager else { return }
      registerPendingChanges()
      recorder?.undoManager.detach(self)
      undoRecording.record(for: newValue)
      newValue?.attach(self)
    }
  }

  /// Undoes the newest group of the undo manager. Without an undo manager, it does nothing.
  public func undo() {
    undoManager?.undo()
  }

  /// Redoes what the last ``undo()`` reverted. Without an undo manager, it does nothing.
  public func redo() {
    undoManager?.redo()
  }

  /// Ends the event: changes up to here are undone together, and separately from later ones, and observers are
  /// notified; see ``objectsDidChange``.
  ///
  /// Saving, undoing and redoing do this too.
  public func processPendingChanges() {
    registerPendingChanges()
    undoManager?.endEvent()
    tellChangeEvent()
    tidy(andLookAt: 256)
  }

  /// Registers the changes since the last call with the undo manager.
  func registerPendingChanges() {
    guard let recorder, let event = recorder.takeEvent() else { return }
    recorder.undoManager.register(UndoAction(self, reverting: event))
  }

  /// Makes everything that has happened in this context so far permanent: it can no longer be undone.
  func forgetUndo() {
    guard let recorder else { return }
    recorder.forgetEvent()
    recorder.forgetIDs()
    recorder.undoManager.removeAllActions(withTarget: self)
  }
}

// MARK: Reverting

extension ManagedObjectContext {
  /// Reverts an event. This is an event too, which reverts the reversal.
  ///
  /// Values are restored at both ends of each relationship, with their order. If something that is not undone here has
  /// changed a relationship since, the ends are made consistent.
  func revert(_ event: GraphEvent) {
    guard let recorder else { return }
    revive(event.deletions, recorder)
    let edits = event.edits.filter { $0.object.isPresent }.map { $0.map(recorder.newestID) }
    // Most often nothing has changed since, and there is nothing to make consistent.
    let strays = edits.allSatisfy(\.isExpected) ? [] : edits.map { ($0, $0.movedIDs) }
    for edit in edits { edit.revert { mayLead(edit.object, edit.ordinal, to: $0) } }
    let uninserted = event.insertions.filter(\.isPresent)
    for object in uninserted { unlinkDenial(of: object) }
    let removed = uninserted + event.revivals.filter(\.isPresent)
    for object in removed { remove(object) }
    for object in uninserted { object.state.insert(.uninserted) }
    RelationshipUpkeep(self).mend(edits, strays: strays, moved: event.deletions + removed)
    awake(event, edits)
    registerPendingChanges()
  }

  /// Returns whether a relationship may refer to the object of `id`: the object exists, or its deletion leaves such
  /// references, and so did later saves.
  func mayLead(_ object: ManagedObject, _ ordinal: Int, to id: ManagedObjectID) -> Bool {
    switch look(for: id) {
    case .present(let other) where other.isPresent: return true
    case .present, .gone: break
    case .unreadable(let error):
      // Whether it exists is determined before the next save.
      postponeOtherEnd(of: object, ordinal, id, error)
      return true
    }
    if recorder?.isForgotten(id) == true { return false }
    guard let target = object.entity.relationshipTargets[ordinal], let inverse = target.inverseOrdinal else {
      return true
    }
    let destination = persistentStoreCoordinator.managedObjectModel.entities[target.entityOrdinal]
    switch destination.properties[inverse].relationship?.deleteRule {
    case .nullify, .cascade: return false
    case .noAction, .deny, nil: return true
    }
  }

  private func awake(_ event: GraphEvent, _ edits: [PropertyEdit]) {
    for object in event.deletions { object.awake(after: .undoDeletion) }
    for object in event.insertions + event.revivals { object.awake(after: .undoInsertion) }
    let moved = Set(event.deletions)
    for object in Set(edits.map(\.object)).subtracting(moved) { object.awake(after: .undoUpdate) }
  }
}

// MARK: Coming and going

extension ManagedObjectContext {
  /// Removes an object without updating the objects that refer to it.
  private func remove(_ object: ManagedObject) {
    if object.isFault { object.fireFault() }
    markDeleted(object)
  }

  /// Removes the destinations of an object that would deny its deletion: before its insertion, it did not have them. A
  /// deletion that is redone is denied as before.
  private func unlinkDenial(of object: ManagedObject) {
    for (ordinal, property) in object.entity.properties.enumerated() where property.relationship?.deleteRule == .deny {
      // try?: an empty relationship is always allowed, and work on records that cannot be read is postponed.
      try? object.relate(ordinal, to: [])
    }
  }

  /// Restores deleted objects. Those whose deletion was saved are inserted with new ids, which replace the former ones
  /// in all references.
  private func revive(_ objects: [ManagedObject], _ recorder: EventRecorder) {
    var renamed: [ManagedObjectID: ManagedObject] = [:]
    for object in objects where !object.isPresent {
      recorder.willRevive(object)
      if object.wasSaved, object.state.contains(.detached) { renamed[object.objectID] = object }
      revive(object)
    }
    recorder.noteSuccessors(renamed.mapValues(\.objectID))
    if recorder.hasSuccessors {
      for object in objects { object.renameLinks(recorder.newestID) }
    }
    for object in Referrers(self).objects(leadingTo: renamed) { object.renameLinks(recorder.newestID) }
  }

  private func revive(_ object: ManagedObject) {
    guard object.state.contains(.detached) else {
      pending.undelete(object)
      return note(object, hasChanges: object.hasUnsavedValues)
    }
    if object.wasSaved {
      pending.assign(object, to: object.binding.store)
      object.becomeNew(binding(for: object.entity, in: nil))
    } else {
      pending.assignAgain(object)
    }
    object.state.subtract([.detached, .deleted, .inaccessible, .uninserted])
    pending.insert(object, object.objectID)
    noteInsertion(of: object)
  }
}

// MARK: All or nothing

extension ManagedObjectContext {
  /// Changes objects of the context, and reverts all changes if `body` throws, as an undo does.
  ///
  /// The changes are recorded separately meanwhile, whether or not the context has an undo manager. If they stay, the
  /// undo manager gets them as part of the current event; if not, it gets none. Saves of others are merged before and
  /// after, not in between: they would be reverted too.
  package func doingWholly<Result>(_ body: () throws -> Result) throws -> Result {
    try prepare()
    registerPendingChanges()
    let formerlyPostponed = postponed.all
    let journal = GraphUndoManager()
    return try undoRecording.recordingWholly(in: EventRecorder(journal)) { outer in
      do {
        let result = try body()
        registerPendingChanges()
        for action in journal.takeActions() { outer?.undoManager.register(action) }
        return result
      } catch {
        registerPendingChanges()
        for action in journal.takeActions().reversed() { action.run() }
        postponed.replaceAll(with: formerlyPostponed)
        throw error
      }
    }
  }
}
