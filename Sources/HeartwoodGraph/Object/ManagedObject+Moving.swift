import HeartwoodModel
import HeartwoodStore

// What happens to an object of a child context whose record only the parent has: the record finds its row in the store at last, or
// it goes.

extension ManagedObject {
  /// Lets the object read its record from another row. Values that it has read already become those that the record has there, and changes
  /// of an object, or its deletion, that were made on others are a conflict from then on.
  ///
  /// - Parameter records: tells what records are called today that had other names in the row before.
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
    // It may have moved before, and then stays what it became.
    let others = binding.ordinalsOfOtherValues(rowID.row, of: group, row.row, of: newGroup, renamed: records?.newID)
    if !others.isEmpty { noteOutdated(changes, by: others) }
    changes.group = newGroup
  }

  /// Reads the newest version of the record.
  ///
  /// - Returns: why that cannot be read, if it cannot. The object stays as it is then.
  final func readNewest() -> PersistenceError? {
    do {
      try binding.synchronize()
    } catch {
      return .of(error, .fileReadFailed, "The store cannot be read.")
    }
    if let group = binding.liveGroup(of: rowID), advance(to: group) { RelationshipUpkeep.dropRefusedLinks(of: self) }
    return nil
  }

  /// Reads a later version of the record, which is in the same row. Changes of the object, or its deletion, that were made on another are a
  /// conflict from then on.
  ///
  /// - Returns: whether it has read it. Then it may lead to what the context refuses; see ``RelationshipUpkeep/dropRefusedLinks(of:)``.
  final func advance(to later: RowGroup) -> Bool {
    guard let group, binding.isLater(rowID, in: later, than: group), let context = managedObjectContext,
      !context.saveProgress.isLocked(self)
    else { return false }
    // What was done to the object before can be undone; this cannot.
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

  /// Notes that others have changed properties of the record since the changes, or the deletion, were made on it, and that it is read anew.
  final func noteOutdated(_ changes: ObjectChanges, by ordinals: [Int]) {
    // Values that no save has to write are in nobody's way.
    guard state.contains(.deleted) || hasPersistentChangedValues else { return }
    changes.isOutdated = true
    changes.outdatedOrdinals.formUnion(ordinals)
  }

  /// Lets the object be one whose record is gone, and no row leads to it. Its changes stay, and saving them is a conflict. It is there
  /// again when the record is.
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

  /// Forgets the values that the object has read and its changes. One whose record is gone stays without any.
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

// What is done to objects that are gone: deleted here or elsewhere, upserted away, or let go by their context. Others may do that at any time,
// so it is no mistake of the program: what has no effect is logged.

extension ManagedObject {
  /// Whether the object can be changed no more: it is deleted, or its record is gone, or its context is.
  final var isGone: Bool { !isPresent || managedObjectContext == nil }

  /// Why the object can be changed no more.
  private final var causeOfLeaving: String {
    if state.contains(.deleted) { return "the object was deleted" }
    if state.contains(.inaccessible) { return "the record of the object is gone" }
    return "the context of the object is gone or has let go of it"
  }

  /// Notes that the record is gone if it is, rather than when a value is read: the caller of a save or a refresh may show the object.
  final func noticeLoss() {
    guard isFault, rowID != .none else { return }
    // If that cannot be known, which is noted, reading a value finds it out.
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

  /// Says that what was asked for was not done with an object that is gone.
  final func logDropped(_ request: String) {
    DroppedWork.log(binding.logger, "\(request) was dropped, since \(causeOfLeaving)", self)
  }
}

// MARK: Relationships

extension ManagedObject {
  /// Lets a to-one relationship lead to an object, or nowhere if that is gone.
  final func relateLeavingGone(_ ordinal: Int, toOne object: ManagedObject?) {
    do throws(PersistenceError) {
      try relate(ordinal, toOne: object)
    } catch {
      // An object of another context or of another entity is a mistake that no data can cause.
      guard let object, object.isGone else { ProgrammerError.stop("\(error)") }
      logLinkLeftOut(to: object, ordinal)
      relateLeavingGone(ordinal, toOne: nil)
    }
  }

  /// Lets a relationship lead to those of `objects` that are not gone.
  final func relateLeavingGone(_ ordinal: Int, to objects: [ManagedObject]) {
    do throws(PersistenceError) {
      try relate(ordinal, to: objects)
    } catch {
      // Nothing has changed. What the relationship leads to already stays: that is a matter of the save.
      let present = objects.filter { !$0.isGone || leads(ordinal, to: $0.objectID) }
      if present.count == objects.count { ProgrammerError.stop("\(error)") }
      for object in objects where object.isGone { logLinkLeftOut(to: object, ordinal) }
      relateLeavingGone(ordinal, to: present)
    }
  }

  /// Lets a to-many relationship lead to one object more, unless that is gone. Returns whether it did not yet.
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
