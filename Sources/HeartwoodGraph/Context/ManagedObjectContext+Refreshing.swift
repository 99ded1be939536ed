import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Forgets all changes: new objects vanish, changed and deleted ones are again what they were when they were read. Nothing that
  /// was done before can be undone.
  public func rollback() {
    finishSaveUnderWay()
    takeWaitingChildSaves()
    children.dropWaitingSaves()
    for object in pending.inserted.objects {
      noteChange(object)
      detach(object)
    }
    for object in pending.updated.objects + pending.deleted.objects {
      noteChange(object)
      object.state.subtract([.updated, .deleted])
      object.revert()
    }
    clearChanges()
    forgetUndo()
    tellChangeEvent()
  }

  /// Forgets all objects and all changes, and what could be undone. Objects that somebody still holds keep the values that they have read;
  /// they can neither be changed nor followed any more.
  public func reset() {
    finishSaveUnderWay()
    takeWaitingChildSaves()
    children.dropWaitingSaves()
    for object in registeredObjects { detach(object) }
    clearChanges()
    forgetUndo()
    bindings.forgetAll()
    notifier.forgetEvent()
    advanceQueryGeneration()
    notifier.liveResults.contextWasReset()
  }

  /// Takes the newest values of an object from its store, as soon as one is read. It becomes a fault, unless it has changes that
  /// stay. New and deleted objects are left as they are.
  ///
  /// - Parameter mergeChanges: whether the object's own changes stay on top of them; otherwise they are lost. Of a to-many relationship
  ///   they are what has come to it and gone from it: what others have added stays too, behind the rest where there is an order, unless
  ///   the context has deleted it or let it lead elsewhere. The other ends follow. Merging makes an object fit to be saved whose save was a
  ///   conflict.
  ///
  /// Refreshing an object that its context has let go of does nothing.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    guard has(object, "The object is of another context. Refresh it in its own.") else { return }
    finishSaveUnderWay()
    guard canBeRefreshed(object) else { return }
    // What was done before is told apart.
    tellChangeEvent()
    if !mergeChanges, object.isUpdated { saveProgress.noteOneSided(object.objectID) }
    RelationshipUpkeep(self).refreshing(mergeChanges ? [object] : []) { unread in
      if !unread.contains(object) { reread(object, mergeChanges: mergeChanges) }
    }
  }

  /// Refreshes an object, and leaves the objects alone that it leads to.
  func reread(_ object: ManagedObject, mergeChanges: Bool) {
    guard canBeRefreshed(object) else { return }
    // What was done before can be undone; what this does cannot.
    registerPendingChanges()
    renew(object, mergeChanges: mergeChanges)
    notifier.forget(CollectionOfOne(object))
    guard notifier.areObjectChangesHeard else { return }
    notifier.liveResults.tell(LiveEvent(objects: [object], isRenewal: true))
    var refreshed = emptyChanges()
    refreshed.refreshedObjectIDs = [object.objectID]
    notifier.tellObjectChanges(refreshed)
  }

  func canBeRefreshed(_ object: ManagedObject) -> Bool {
    object.state.isDisjoint(with: [.inserted, .deleted])
  }

  func renew(_ object: ManagedObject, mergeChanges: Bool) {
    if mergeChanges, object.isUpdated { return object.rebaseChanges() }
    note(object, hasChanges: false)
    if object.isFault { return }
    let wasLost = object.state.contains(.inaccessible)
    object.willTurnIntoFault()
    if object.rowID != .none { object.state.remove(.inaccessible) }
    object.becomeFault()
    object.didTurnIntoFault()
    // What is known to be gone does not seem to be there until a value is read.
    if wasLost { object.noticeLoss() }
  }

  func detach(_ object: ManagedObject) {
    object.state.insert(.detached)
    object.state.subtract([.inserted, .updated])
    if object.state.contains(.registered) {
      object.state.remove(.registered)
      object.binding.unregister(object)
    }
  }

  private func clearChanges() {
    pending.clear()
    children.forgetConflicts()
    postponed.replaceAll(with: [])
    saveProgress.clear()
    notes.noteChange()
  }
}
