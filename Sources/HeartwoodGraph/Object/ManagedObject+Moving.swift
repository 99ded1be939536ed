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
    if let group = binding.liveGroup(of: rowID), advance(to: group) { dropRefusedLinks() }
    return nil
  }

  /// Reads a later version of the record, which is in the same row. Changes of the object, or its deletion, that were made on another are a
  /// conflict from then on.
  ///
  /// - Returns: whether it has read it. Then it may lead to what the context refuses; see ``dropRefusedLinks()``.
  final func advance(to later: RowGroup) -> Bool {
    guard let group, binding.isLater(rowID, in: later, than: group), let context = managedObjectContext,
      !context.watched.contains(self)
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
