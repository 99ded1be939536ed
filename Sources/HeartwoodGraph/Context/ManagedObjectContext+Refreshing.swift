import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Discards all changes: new objects are removed, and changed and deleted ones get back the values that they had when
  /// they were read. Earlier changes can no longer be undone.
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

  /// Releases all objects, and discards all changes and the undo history. Objects that are still referenced keep the
  /// values that they have read; they can neither be changed nor can their relationships be followed any more.
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

  /// Makes an object take the newest values from its store when the next value is read. It becomes a fault, unless it
  /// keeps changes. New and deleted objects are left as they are.
  ///
  /// - Parameter mergeChanges: whether the object keeps its own changes on top of the newest values; otherwise they are
  ///   lost. For a to-many relationship, the changes are the added and removed destinations: destinations that other
  ///   saves have added stay too, after the others if the relationship is ordered, unless the context has deleted them
  ///   or set them elsewhere. The inverse relationships are updated. After a save has failed with a conflict, merging
  ///   makes the object savable.
  ///
  /// Refreshing an object that the context no longer has does nothing.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) {
    guard has(object, "The object is of another context. Refresh it in its own.") else { return }
    finishSaveUnderWay()
    guard canBeRefreshed(object) else { return }
    // Earlier changes are reported separately.
    tellChangeEvent()
    if !mergeChanges, object.isUpdated { saveProgress.noteOneSided(object.objectID) }
    RelationshipUpkeep(self).refreshing(mergeChanges ? [object] : []) { unread in
      if !unread.contains(object) { reread(object, mergeChanges: mergeChanges) }
    }
  }

  /// Refreshes an object, but not the destinations of its relationships.
  func reread(_ object: ManagedObject, mergeChanges: Bool) {
    guard canBeRefreshed(object) else { return }
    // Earlier changes can be undone; the refresh cannot.
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
    // An object that is known to be gone is reported as such before a value is read.
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
