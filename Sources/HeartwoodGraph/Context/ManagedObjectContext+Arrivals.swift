import HeartwoodModel
import HeartwoodStore

// What children have saved becomes changes of the parent.

/// A property that was changed since children could see it.
struct UnpublishedChange: Hashable {
  let object: ObjectIdentifier
  let ordinal: Int
}

extension ManagedObjectContext {
  /// Notes that a value is about to change: children cannot see that yet, and it may be undone.
  func recordChange(of object: ManagedObject, _ ordinal: Int) {
    if notesUnpublishedChanges { noteUnpublishedChange(of: object, ordinal) }
    recorder?.willChange(object, ordinal)
  }

  private func noteUnpublishedChange(of object: ManagedObject, _ ordinal: Int) {
    // Children see all of an object or nothing as long as they cannot name it.
    if object.isInserted, object.objectID.isTemporaryID { return }
    unpublishedChanges.insert(UnpublishedChange(object: ObjectIdentifier(object), ordinal: ordinal))
  }
}

extension ManagedObjectContext {
  /// Whether children have saved something that has not been taken in.
  var hasWaitingArrivals: Bool {
    guard let stagingArea else { return false }
    return stagingArea.arrivals.count != seenArrival
  }

  /// Whether nothing is under way that must be alone: what may be taken back as a whole, or a validation, in which objects can be neither
  /// changed nor renamed.
  var mayBeDisturbed: Bool { !takesNothingIn && !isValidating }

  /// Takes in what children have saved since the last time, unless something is under way that it would disturb.
  func takeWaitingArrivals() {
    if mayBeDisturbed { takeArrivals() }
  }

  /// Takes in what children have saved since the last time.
  func takeArrivals() {
    guard let stagingArea else { return }
    let newest = stagingArea.arrivals.count
    guard newest != seenArrival else { return }
    seenArrival = newest
    // What children have saved they can see already.
    notesUnpublishedChanges = false
    for staged in stagingArea.stagedStores {
      for arrival in staged.takeArrivals() { take(arrival, from: staged) }
    }
    notesUnpublishedChanges = true
    changeNumber &+= 1
  }

  private func take(_ arrival: StagedStore.Arrival, from staged: StagedStore) {
    let entities = persistentStoreCoordinator.managedObjectModel.entities
    // Relationships may lead to new objects.
    for (ordinal, records) in arrival.records {
      for row in records.inserted { insert(row, of: entities[ordinal], from: staged) }
    }
    for (ordinal, records) in arrival.records {
      let (scope, base) = (staged.scopes[ordinal], arrival.bases[ordinal])
      for row in records.inserted {
        let values = row.values.enumerated().map { ($0, $1) }
        take(values, of: ManagedObjectID(scope: scope, reference: row.reference), basedOn: base)
      }
      for update in records.updated {
        take(update.values, of: ManagedObjectID(scope: scope, reference: update.reference), basedOn: base)
      }
      for reference in records.deleted {
        takeDeletion(of: ManagedObjectID(scope: scope, reference: reference), basedOn: base)
      }
    }
  }

  private func insert(_ row: NodeTable.NewRow, of entity: EntityDescription, from staged: StagedStore) {
    _ = makeNewObject(
      bindingForNewObjects(of: entity),
      ManagedObjectID(scope: staged.scopes[entity.ordinal], reference: row.reference)
    )
  }

  private func take(
    _ values: [(ordinal: Int, value: PropertyValue)],
    of id: ManagedObjectID,
    basedOn base: NodeTable
  ) {
    guard let object = objectIfPresent(id), !object.isDeleted else { return noteConflict(id) }
    // What others have saved since the child did is a conflict.
    object.fireFault(in: base)
    let unpublished = unpublishedOrdinals(of: object)
    for (ordinal, value) in values where !object.binding.traits[ordinal].isTransient {
      let isOther = unpublished.contains(ordinal)
      if isOther, !object.binding.traits[ordinal].areSame(object.value(at: ordinal), value) {
        noteConflict(id)
      } else {
        take(value, at: ordinal, of: object)
      }
    }
  }

  /// Inverses are not followed: the child has saved both ends.
  private func take(_ value: PropertyValue, at ordinal: Int, of object: ManagedObject) {
    if object.binding.traits[ordinal].isToMany {
      object.changeLinks(ordinal) { $0 = ObjectIDList(value.objectIDs) }
    } else {
      object.change(ordinal, to: value)
    }
  }

  /// The changed properties of an object whose values children cannot see. What has been changed back is none of them.
  private func unpublishedOrdinals(of object: ManagedObject) -> Set<Int> {
    guard !unpublishedChanges.isEmpty, case .changed(let changes) = object.content else { return [] }
    let ordinals = changes.unsettledOrdinals.lazy.filter {
      self.unpublishedChanges.contains(UnpublishedChange(object: ObjectIdentifier(object), ordinal: $0))
    }
    return Set(ordinals)
  }

  private func takeDeletion(of id: ManagedObjectID, basedOn base: NodeTable) {
    guard let object = objectIfPresent(id) else { return }
    object.fireFault(in: base)
    if object.isFault { object.fireFault() }
    guard !object.isDeleted else { return }
    guard unpublishedOrdinals(of: object).isEmpty else { return noteConflict(id) }
    markDeleted(object)
  }

  private func noteConflict(_ id: ManagedObjectID) {
    conflictingArrivals.insert(id)
  }

  /// Tells once, before a save, where a child's changes could not be taken in.
  func checkArrivals() throws(PersistenceError) {
    if conflictingArrivals.isEmpty { return }
    let ids = conflictingArrivals.sorted { $0.description < $1.description }
    conflictingArrivals = []
    throw PersistenceError(
      .saveConflict,
      "A child context saved changes of objects that this context had changed too, or deleted, without the child being able to see "
        + "it. This context's own changes stand. Save again to keep them.",
      context: .init(objectIDs: ids)
    )
  }
}
