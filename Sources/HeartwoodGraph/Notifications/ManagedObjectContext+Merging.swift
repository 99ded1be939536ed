import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Takes in what another context has saved, as one of its notices tells: objects that are registered here take the newest
  /// values, with their own changes on top, and those whose records are gone count as deleted.
  ///
  /// New objects need nothing: the next fetch finds them. A pinned context moves on to the newest generation. Changes of this context
  /// itself are left out.
  public func mergeChanges(from changes: ContextChanges) {
    if changes.context == notifier.identifier { return }
    finishSaveUnderWay()
    // What was done before is told apart, and can be undone; what this does cannot.
    tellChangeEvent()
    registerPendingChanges()
    advanceQueryGeneration()
    followStores()
    var merged = emptyChanges()
    // A fault is as new as its record, and may be shown for all that.
    let held = notifier.liveResults.isEmpty ? [] : changes.deletedObjectIDs.compactMap(heldObject)
    let ids = changes.updatedObjectIDs.union(changes.deletedObjectIDs).union(changes.refreshedObjectIDs)
    // A record that is told as new may have been read before it was changed again, where two notices have become one.
    let outdated = heldObjects(changes.insertedObjectIDs).filter { !$0.1.isFault && $0.1.isBehind }
    let objects = heldObjects(ids) + outdated + (changes.mayBeAny ? outdatedObjects(besides: ids) : [])
    RelationshipUpkeep(self).refreshing(objects.map(\.1)) { unread in
      for (id, object) in objects where !unread.contains(object) && merge(object) {
        if object.isDeleted { merged.records.deleted.insert(id) } else { merged.refreshedObjectIDs.insert(id) }
      }
    }
    merged.records.inserted = changes.insertedObjectIDs.filter { registeredObject(for: $0) != nil }
    notifier.forget(objects.lazy.map(\.1))
    notifier.liveResults.tell(
      LiveEvent(
        objects: held,
        ids: changes.presentObjectIDs,
        isRenewal: true,
        isMerge: true,
        isPartial: changes.mayHaveMore,
        mayBeAny: changes.mayBeAny
      )
    )
    notifier.tellObjectChanges(merged)
    if !merged.isEmpty { children.stagingArea?.saveBroadcast.send(merged) }
  }

  /// The registered objects of records that others have changed or deleted since they were read, where nobody has told which these are.
  private func outdatedObjects(besides ids: Set<ManagedObjectID>) -> [(ManagedObjectID, ManagedObject)] {
    savedBindings.flatMap { binding in
      binding.registeredObjects.compactMap { object in
        let id = object.objectID
        return ids.contains(id) || object.isFault || !object.isBehind ? nil : (id, object)
      }
    }
  }

  /// The registered object of a record that may be gone by now. What cannot be read is noted.
  private func heldObject(_ id: ManagedObjectID) -> ManagedObject? {
    do {
      return try binding(keeping: id).heldObject(id.reference)
    } catch {
      // Of a store that is not open, nothing is merged.
      if (error as? PersistenceError)?.code != .storeNotOpen { noteReadFailure(.unreadable([id], error)) }
      return nil
    }
  }

  private func heldObjects(_ ids: Set<ManagedObjectID>) -> [(ManagedObjectID, ManagedObject)] {
    ids.compactMap { id in heldObject(id).map { (id, $0) } }
  }

  /// Whether there was something to merge.
  private func merge(_ object: ManagedObject) -> Bool {
    guard !object.isInserted, !object.isDeleted else { return false }
    let wasFault = object.isFault
    // The same save may have been merged before: it comes by several ways.
    if !wasFault, object.isNewest { return false }
    if !wasFault { renew(object, mergeChanges: true) }
    // Whether the record is gone is to be known now: whoever shows the object must let it go.
    if object.isFault, object.binding.liveGroup(of: object.rowID) == nil { object.pin() }
    // A fault is as new as its record.
    return !wasFault || object.isDeleted
  }

  /// Whether what others save to the parent, or to the stores, is merged by itself.
  ///
  /// A ``ViewContext`` and a ``BackgroundContext`` merge soon after the save; another context before its next fetch, count or save,
  /// since nobody else may touch it.
  public var automaticallyMergesChangesFromParent: Bool {
    get { inbox.isOpen }
    set {
      if newValue == inbox.isOpen { return }
      if newValue {
        inbox.open(sources.saveBroadcast(persistentStoreCoordinator), wake: notifier.wake)
      } else {
        inbox.close()
      }
    }
  }

  /// Merges what has come since the last time.
  func takeMerges() {
    for changes in inbox.takeNew() { mergeChanges(from: changes) }
  }

  /// Takes in what children have saved and others have changed.
  func catchUp() {
    guard mayBeDisturbed else { return }
    takeChildSaves()
    takeMerges()
  }
}
