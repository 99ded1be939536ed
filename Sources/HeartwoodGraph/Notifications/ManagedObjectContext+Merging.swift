import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Merges the changes of another context's save: registered objects take the newest values and keep their own changes
  /// on top, and those whose records were deleted count as deleted.
  ///
  ///     for await changes in coordinator.didSaveChanges { context.mergeChanges(from: changes) }
  ///
  /// New objects need no merge: the next fetch finds them. A pinned context moves on to the newest generation. Changes
  /// of this context itself are ignored. To merge automatically, set ``automaticallyMergesChangesFromParent``.
  public func mergeChanges(from changes: ContextChanges) {
    if changes.context == notifier.identifier { return }
    finishSaveUnderWay()
    // Earlier changes are reported separately and can be undone; the merge cannot.
    tellChangeEvent()
    registerPendingChanges()
    advanceQueryGeneration()
    followStores()
    var merged = emptyChanges()
    // A fault has the newest values, but may be displayed all the same.
    let held = notifier.liveResults.isEmpty ? [] : changes.deletedObjectIDs.compactMap(heldObject)
    let ids = changes.updatedObjectIDs.union(changes.deletedObjectIDs).union(changes.refreshedObjectIDs)
    // A record that is reported as new may have been read before it was changed again, if two notifications were
    // combined.
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

  /// Returns the registered objects of records that others have changed or deleted since they were read, if the
  /// notification does not name them.
  private func outdatedObjects(besides ids: Set<ManagedObjectID>) -> [(ManagedObjectID, ManagedObject)] {
    savedBindings.flatMap { binding in
      binding.registeredObjects.compactMap { object in
        let id = object.objectID
        return ids.contains(id) || object.isFault || !object.isBehind ? nil : (id, object)
      }
    }
  }

  /// Returns the registered object of a record that may be gone by now. Failures to read are noted.
  private func heldObject(_ id: ManagedObjectID) -> ManagedObject? {
    do {
      return try binding(keeping: id).heldObject(id.reference)
    } catch {
      // Nothing is merged for a store that is not open.
      if (error as? PersistenceError)?.code != .storeNotOpen { noteReadFailure(.unreadable([id], error)) }
      return nil
    }
  }

  private func heldObjects(_ ids: Set<ManagedObjectID>) -> [(ManagedObjectID, ManagedObject)] {
    ids.compactMap { id in heldObject(id).map { (id, $0) } }
  }

  /// Returns whether there was something to merge.
  private func merge(_ object: ManagedObject) -> Bool {
    guard !object.isInserted, !object.isDeleted else { return false }
    let wasFault = object.isFault
    // The same save may have been merged before: it arrives in several ways.
    if !wasFault, object.isNewest { return false }
    if !wasFault { renew(object, mergeChanges: true) }
    // Whether the record is gone must be known now: a view that shows the object must release it.
    if object.isFault, object.binding.liveGroup(of: object.rowID) == nil { object.pin() }
    // A fault has the newest values.
    return !wasFault || object.isDeleted
  }

  /// Whether saves of others to the parent, or to the stores, are merged automatically.
  ///
  /// A ``ViewContext`` and a ``BackgroundContext`` merge soon after the save; another context merges before its next
  /// fetch, count or save, since no other code may access it.
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

  /// Merges the saves since the last call.
  func takeMerges() {
    for changes in inbox.takeNew() { mergeChanges(from: changes) }
  }

  /// Merges the saves of children and of others.
  package func catchUp() {
    guard mayBeDisturbed else { return }
    takeChildSaves()
    takeMerges()
  }
}
