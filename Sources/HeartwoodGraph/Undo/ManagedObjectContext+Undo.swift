import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// What remembers how to take back the changes of this context; nil, as at first, means that they cannot be taken back.
  ///
  /// With one, the context keeps the objects that can be undone, and notes the old value of each property that changes.
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

  /// Takes back what the newest group of the undo manager did. It does nothing without an undo manager.
  public func undo() {
    undoManager?.undo()
  }

  /// Makes again what the last ``undo()`` took back. It does nothing without an undo manager.
  public func redo() {
    undoManager?.redo()
  }

  /// Ends the event: what has changed up to here is undone together, and apart from what comes, and those who listen are told; see
  /// ``objectsDidChange``.
  ///
  /// Saving, undoing and redoing do it as well.
  public func processPendingChanges() {
    registerPendingChanges()
    undoManager?.endEvent()
    tellChangeEvent()
    tidy(andLookAt: 256)
  }

  /// Tells the undo manager what has changed since it was last told.
  func registerPendingChanges() {
    guard let recorder, let event = recorder.takeEvent() else { return }
    recorder.undoManager.register(UndoAction(self, reverting: event))
  }

  /// Lets nothing that has happened in this context be undone.
  func forgetUndo() {
    guard let recorder else { return }
    recorder.forgetEvent()
    recorder.forgetIDs()
    recorder.undoManager.removeAllActions(withTarget: self)
  }
}

// MARK: Reverting

extension ManagedObjectContext {
  /// Takes back what an event did. It is an event as well, which takes this back.
  ///
  /// Values are put back as they were at both ends of each relationship, with their order. Where something that is not undone here
  /// has changed a relationship since, the ends are made to agree.
  func revert(_ event: GraphEvent) {
    guard let recorder else { return }
    revive(event.deletions, recorder)
    let edits = event.edits.filter { $0.object.isPresent }.map { $0.map(recorder.newestID) }
    // Most often nothing has come between, and there is nothing to mend.
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

  /// Whether a relationship may lead to the object of `id`: it is there, or its deletion leaves such links as they are, and so did what was
  /// saved since.
  func mayLead(_ object: ManagedObject, _ ordinal: Int, to id: ManagedObjectID) -> Bool {
    switch look(for: id) {
    case .present(let other) where other.isPresent: return true
    case .present, .gone: break
    case .unreadable(let error):
      // Whether it is there is known before the next save.
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
  /// Takes an object out without a word to those that lead to it.
  private func remove(_ object: ManagedObject) {
    if object.isFault { object.fireFault() }
    markDeleted(object)
  }

  /// Lets an object lead to none of those that would deny its deletion: before its insertion it did not. A deletion that is made again
  /// is denied as it was.
  private func unlinkDenial(of object: ManagedObject) {
    for (ordinal, property) in object.entity.properties.enumerated() where property.relationship?.deleteRule == .deny {
      // try?: leading nowhere is always allowed, and what cannot be read is postponed.
      try? object.relate(ordinal, to: [])
    }
  }

  /// Brings deleted objects back. Those whose deletion was saved are new ones with new ids, which all that lead to them learn.
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

// MARK: Doing wholly

extension ManagedObjectContext {
  /// Does something to the objects of the context, and takes all of it back where it throws, as an undo does.
  ///
  /// Its changes are recorded in a place of their own meanwhile, whether the context has an undo manager or not. That one gets them in the
  /// end where they stay, as part of the current event, and learns nothing of them where they do not. What others have saved is taken in
  /// before and after, not in between: it would be taken back too.
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
