import HeartwoodModel
import HeartwoodStore

/// The changes that the next save of a context writes: which objects are new, changed and deleted.
///
/// An object is in at most one of the three lists, and its ``ManagedObject/state`` says in which one: list and state
/// change together, only here. A permanent id is lost if its object was removed before a store had a record of it; no
/// new object has a lost id.
final class PendingChanges {
  private(set) var inserted = NewObjects()
  private(set) var updated = ChangedObjects()
  private(set) var deleted = ChangedObjects()
  /// The permanent ids of objects that were removed before a store had them. Nothing that is saved refers to them.
  private(set) var lostIDs: Set<ManagedObjectID> = []
  /// The stores to which new objects were assigned.
  private var assignedStores: [ObjectIdentifier: PersistentStore] = [:]
  /// How many calls of ``movingObjects(_:)`` are under way, one within the other.
  private var moveDepth = 0
  /// Objects whose records have come back meanwhile.
  private var recovered: [ManagedObject] = []
}

extension PendingChanges {
  var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

  /// The objects that the next save inserts and updates.
  var present: [ManagedObject] { inserted.objects + updated.objects }

  /// All objects with changes.
  var objects: [ManagedObject] { inserted.objects + updated.objects + deleted.objects }

  /// Returns whether a relationship to `id` refers to a new object that is gone.
  func isGone(_ id: ManagedObjectID) -> Bool {
    id.isTemporaryID ? inserted[id] == nil : lostIDs.contains(id)
  }

  /// Whether each object is in the list that its state names. O(objects with changes); for assertions.
  var isConsistent: Bool {
    inserted.objects.allSatisfy { $0.isInserted && $0.state.isDisjoint(with: [.updated, .deleted, .detached]) }
      && updated.objects.allSatisfy { $0.isUpdated && $0.state.isDisjoint(with: [.inserted, .deleted, .detached]) }
      && deleted.objects.allSatisfy {
        $0.state.contains(.deleted) && $0.state.isDisjoint(with: [.inserted, .updated, .detached])
      }
      && lostIDs.allSatisfy { inserted[$0] == nil }
  }
}

// MARK: New objects

extension PendingChanges {
  /// Adds a new object, or a restored one.
  func insert(_ object: ManagedObject, _ id: ManagedObjectID) {
    object.state.insert(.inserted)
    if !lostIDs.isEmpty { lostIDs.remove(id) }
    inserted.append(object, id)
  }

  /// Removes a new object that is deleted before a store has it. The object remembers its assigned store, in case it is
  /// restored.
  func vanish(_ object: ManagedObject) {
    object.state.insert([.deleted, .detached])
    object.state.remove(.inserted)
    let id = object.objectID
    inserted.remove(object)
    let store = assignedStores.removeValue(forKey: ObjectIdentifier(object))
    if let store, case .changed(let changes) = object.content { changes.formerStore = store }
    if !id.isTemporaryID { lostIDs.insert(id) }
  }

  /// Gives a new object another id. It is found by both until it is saved.
  func rename(_ former: ManagedObjectID, to id: ManagedObjectID) {
    inserted.rename(former, to: id)
  }

  /// Replaces all permanent ids.
  func replaceIDs(_ newID: (ManagedObjectID) -> ManagedObjectID) {
    inserted.replaceIDs(newID)
    lostIDs = Set(lostIDs.map(newID))
  }

  /// Removes all new objects after a save. Call ``endInsertion(of:)`` for each of them too.
  func endInsertions() {
    inserted = NewObjects()
    assignedStores = [:]
  }

  /// Removes a new object that a save has inserted.
  func endInsertion(of object: ManagedObject) {
    if !assignedStores.isEmpty { assignedStores[ObjectIdentifier(object)] = nil }
    inserted.remove(object)
    object.state.remove(.inserted)
  }
}

// MARK: The stores of new objects

extension PendingChanges {
  /// Whether new objects were assigned to stores.
  var hasAssignedStores: Bool { !assignedStores.isEmpty }

  /// Returns the store to which a new object was assigned, or nil.
  func assignedStore(of object: ManagedObject) -> PersistentStore? { assignedStores[ObjectIdentifier(object)] }

  /// Assigns a new object to a store.
  func assign(_ object: ManagedObject, to store: PersistentStore?) {
    assignedStores[ObjectIdentifier(object)] = store
  }

  /// Assigns a restored new object to the store that it had before its removal.
  func assignAgain(_ object: ManagedObject) {
    guard case .changed(let changes) = object.content, let store = changes.formerStore else { return }
    changes.formerStore = nil
    assignedStores[ObjectIdentifier(object)] = store
  }
}

// MARK: Changed and deleted objects

extension PendingChanges {
  /// Notes whether an object with a record in a store has changes.
  func note(_ object: ManagedObject, hasChanges: Bool) {
    if hasChanges == object.isUpdated { return }
    if hasChanges {
      object.state.insert(.updated)
      updated.insert(object)
    } else {
      endUpdate(of: object)
    }
  }

  /// Notes that an object with a record in a store is to be deleted, or that an object was deleted while a save was
  /// inserting it.
  func delete(_ object: ManagedObject) {
    if object.isUpdated { endUpdate(of: object) }
    object.state.subtract([.detached, .uninserted])
    object.state.insert(.deleted)
    if !lostIDs.isEmpty { lostIDs.remove(object.knownID) }
    deleted.insert(object)
  }

  /// Undoes the deletion of an object with a record in a store.
  func undelete(_ object: ManagedObject) {
    deleted.remove(object)
    object.state.subtract([.deleted, .uninserted])
  }

  /// Removes all changed objects after a save. Call ``endUpdate(of:)`` for each of them too.
  func endUpdates() { updated = ChangedObjects() }

  /// Removes a changed object that has no changes any more.
  func endUpdate(of object: ManagedObject) {
    object.state.remove(.updated)
    updated.remove(object)
  }

  /// Removes a deleted object whose record is gone. It stays deleted.
  func endDeletion(of object: ManagedObject) { deleted.remove(object) }

  /// Calls `body`, which may give changed objects other rows, and updates the lists that find them by rows.
  func movingObjects(_ body: () -> Void) {
    let (changed, gone) = (updated.objects, deleted.objects)
    (updated, deleted) = (ChangedObjects(), ChangedObjects())
    moveDepth += 1
    body()
    moveDepth -= 1
    for object in changed where object.isUpdated { updated.insert(object) }
    for object in gone where object.state.contains(.deleted) { deleted.insert(object) }
    if moveDepth == 0 { settleRecovered() }
  }

  /// Takes from objects whose records have come back what was taken from them while they were lost. If objects are
  /// being moved, this waits until all have their rows.
  func settle(_ objects: [ManagedObject]) {
    recovered += objects
    if moveDepth == 0 { settleRecovered() }
  }

  private func settleRecovered() {
    let objects = recovered
    recovered = []
    for object in objects where object.isPresent && !object.isFault { RelationshipUpkeep.dropRefusedLinks(of: object) }
  }

  /// Removes all changes after the objects have reverted them. The ids of new objects are lost: children may still
  /// refer to them.
  func clear() {
    lostIDs.formUnion(inserted.objects.map(\.objectID).filter { !$0.isTemporaryID })
    endInsertions()
    updated = ChangedObjects()
    deleted = ChangedObjects()
  }
}
