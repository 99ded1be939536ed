import HeartwoodModel
import HeartwoodStore

// Moves of an object of a child context whose record only the parent has: the record gets its row in the store at last,
// or it is removed.

extension ManagedObject {
  /// Makes the object read its record from another row. Values that it has read already are replaced by those that the
  /// record has there. From then on, changes of the object, or its deletion, that were based on other values are a
  /// conflict.
  ///
  /// - Parameter records: returns the present ids of records that had other ones in the former row.
  final func move(to row: RowID, renamed records: RenamedRecords? = nil) {
    if row == rowID { return }
    defer { rowID = row }
    if let newGroup = binding.liveGroup(of: row) { read(row, of: newGroup, renamed: records) }
  }

  /// Reads the record from a row of another group.
  private final func read(_ row: RowID, of newGroup: RowGroup, renamed records: RenamedRecords? = nil) {
    switch content {
    case .fault: break
    case .read(let group) where state.contains(.deleted):
      let changes = makeChanges(group: group)
      move(changes, from: group, to: row, of: newGroup, renamed: records)
      content = changes.isOutdated ? .changed(changes) : .read(newGroup)
    case .read: content = .read(newGroup)
    case .changed(let changes):
      guard let group = changes.group else { return }
      move(changes, from: group, to: row, of: newGroup, renamed: records)
    }
  }

  private final func move(
    _ changes: ObjectChanges,
    from group: RowGroup,
    to row: RowID,
    of newGroup: RowGroup,
    renamed records: RenamedRecords?
  ) {
    // An object that has moved before stays outdated if it was.
    let others = binding.ordinalsOfOtherValues(rowID.row, of: group, row.row, of: newGroup, renamed: records?.newID)
    if !others.isEmpty { noteOutdated(changes, by: others) }
    changes.group = newGroup
  }

  /// Reads the newest version of the record.
  ///
  /// - Returns: the reason why it cannot be read, if it cannot. Then the object stays as it is.
  final func readNewest() -> PersistenceError? {
    do {
      try binding.synchronize()
    } catch {
      return .of(error, .fileReadFailed, "The store cannot be read.")
    }
    if let group = binding.liveGroup(of: rowID), advance(to: group) { RelationshipUpkeep.dropRefusedLinks(of: self) }
    return nil
  }

  /// Reads a later version of the record, which is in the same row. From then on, changes of the object, or its
  /// deletion, that were based on another version are a conflict.
  ///
  /// - Returns: whether it has read that version. It may then refer to objects that the context has deleted or moved;
  ///   see ``RelationshipUpkeep/dropRefusedLinks(of:)``.
  final func advance(to later: RowGroup) -> Bool {
    guard let group, binding.isLater(rowID, in: later, than: group), let context = managedObjectContext,
      !context.saveProgress.isLocked(self)
    else { return false }
    // Earlier changes of the object can be undone; this cannot.
    if let recorder = context.recorder, !recorder.properties(of: self).isEmpty { context.registerPendingChanges() }
    if !isDeleted, case .changed(let changes) = content {
      let unknown = changes.outdatedOrdinals
      let formerLinks = linksBeforeChanges(changes).filter { !unknown.contains($0.ordinal) }
      read(rowID, of: later)
      for (ordinal, ids) in formerLinks { rebaseLinks(ordinal, changes, since: ids) }
      changes.outdatedOrdinals.subtract(formerLinks.map(\.ordinal))
    } else {
      read(rowID, of: later)
    }
    guard isPresent else { return true }
    context.noteChange(self)
    awake(after: .refresh)
    return true
  }

  /// Notes that others have changed properties of the record since the changes, or the deletion, were made, and that
  /// the record is read again.
  final func noteOutdated(_ changes: ObjectChanges, by ordinals: [Int]) {
    // Values that no save has to write conflict with nothing.
    guard state.contains(.deleted) || hasPersistentChangedValues else { return }
    changes.isOutdated = true
    changes.outdatedOrdinals.formUnion(ordinals)
  }

  /// Marks the record of the object as gone, and takes the object out of its row. Its changes stay, and saving them is
  /// a conflict. If the record comes back, so does the object.
  final func lose(_ id: ManagedObjectID) {
    if !state.contains(.inaccessible) { binding.noteLoss(of: self, group) }
    state.insert(.inaccessible)
    rowID = .none
    if case .changed(let changes) = content {
      changes.newID = id
      changes.group = nil
    } else {
      let changes = makeChanges(group: nil)
      changes.newID = id
      content = .changed(changes)
    }
  }

  /// Releases the values that the object has read and its changes. An object whose record is gone stays without values.
  final func becomeFault() {
    guard rowID == .none else {
      content = .fault
      return
    }
    let changes = makeChanges(group: nil)
    changes.newID = objectID
    content = .changed(changes)
  }
}

// MARK: Leaving

// Changes of objects that are gone: deleted here or elsewhere, replaced by an upsert, or released by their context.
// Others may cause that at any time, so it is no programmer error: changes without effect are logged.

extension ManagedObject {
  /// Whether the object can no longer be changed: it is deleted, or its record or its context is gone.
  final var isGone: Bool { !isPresent || managedObjectContext == nil }

  /// The reason why the object can no longer be changed.
  private final var causeOfLeaving: String {
    if state.contains(.deleted) { return "the object was deleted" }
    if state.contains(.inaccessible) { return "the record of the object is gone" }
    return "the object's context is gone, or no longer has the object"
  }

  /// Notes now whether the record is gone, instead of when a value is read: the caller of a save or a refresh may show
  /// the object.
  final func noticeLoss() {
    guard isFault, rowID != .none else { return }
    // If that cannot be determined, which is noted, it is found out when a value is read.
    if synchronize() == nil, binding.liveGroup(of: rowID) == nil { pin() }
  }
}

// MARK: Logging

extension ManagedObject {
  final func logDroppedChange(_ ordinal: Int) {
    let (name, cause) = (entity.properties[ordinal].name, causeOfLeaving)
    DroppedWork.log(binding.logger, "a change was dropped, since \(cause)", self, property: name)
  }

  final func logLinkLeftOut(to object: ManagedObject, _ name: String, because cause: String) {
    let destination = "\(object.objectID)"
    DroppedWork.log(binding.logger, "a link was left out, since \(cause)", self, property: name, to: destination)
  }

  final func logNotFollowed(_ ordinal: Int) {
    let (name, cause) = (entity.properties[ordinal].name, causeOfLeaving)
    DroppedWork.log(binding.logger, "a relationship was not followed, since \(cause)", self, property: name)
  }

  /// Logs that a request was dropped, since its object is gone.
  final func logDropped(_ request: String) {
    DroppedWork.log(binding.logger, "\(request) was dropped, since \(causeOfLeaving)", self)
  }
}

// MARK: Relationships

extension ManagedObject {
  /// Sets the destination of a to-one relationship, or nil if `object` is gone.
  final func relateLeavingGone(_ ordinal: Int, toOne object: ManagedObject?) {
    do throws(PersistenceError) {
      try relate(ordinal, toOne: object)
    } catch {
      // Data cannot cause an object of another context or entity to be passed: that is a programmer error.
      guard let object, object.isGone else { ProgrammerError.stop("\(error)") }
      logLinkLeftOut(to: object, ordinal)
      relateLeavingGone(ordinal, toOne: nil)
    }
  }

  /// Sets the destinations of a relationship to those of `objects` that are not gone.
  final func relateLeavingGone(_ ordinal: Int, to objects: [ManagedObject]) {
    do throws(PersistenceError) {
      try relate(ordinal, to: objects)
    } catch {
      // Nothing has changed. Present destinations stay even if they are gone: the save deals with them.
      let present = objects.filter { !$0.isGone || leads(ordinal, to: $0.objectID) }
      if present.count == objects.count { ProgrammerError.stop("\(error)") }
      for object in objects where object.isGone { logLinkLeftOut(to: object, ordinal) }
      relateLeavingGone(ordinal, to: present)
    }
  }

  /// Adds an object to a to-many relationship, unless the object is gone. Returns whether it was added.
  final func addLinkLeavingGone(_ ordinal: Int, to object: ManagedObject) -> Bool {
    do throws(PersistenceError) {
      return try addLink(ordinal, to: object)
    } catch {
      guard object.isGone else { ProgrammerError.stop("\(error)") }
      logLinkLeftOut(to: object, ordinal)
      return false
    }
  }

  private final func logLinkLeftOut(to object: ManagedObject, _ ordinal: Int) {
    logLinkLeftOut(to: object, entity.properties[ordinal].name, because: object.causeOfLeaving)
  }
}
