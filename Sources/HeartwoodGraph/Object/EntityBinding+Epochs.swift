import HeartwoodModel
import HeartwoodStore

// A store that reads records on demand may release all that it has read. Its tables then begin a new epoch, in which
// records are in other rows: the objects of a context, which it finds by row, find theirs by reference.

extension EntityBinding {
  /// Takes a table of another epoch, with the records of all registered objects, which are read if the table lacks
  /// them.
  func takeAnew(_ newest: NodeTable) {
    guard let context else { return relocateObjects(newest) }
    context.pending.movingObjects { relocateObjects(newest) }
  }

  private func relocateObjects(_ newest: NodeTable) {
    let previous = table
    let objects = slots.takeObjects(from: RowID(group: 0, row: 0)).map { object in
      (object: object, id: newID(of: ManagedObjectID(scope: scope, reference: previous.reference(object.rowID))))
    }
    table = newest
    let failure = readMissing(objects.map(\.id.reference))
    var kept = KeptRecords(of: entity, in: table)
    for (object, id) in objects {
      // try?: if two records have the same reference, the record is ambiguous.
      if let row = try? table.row(of: id.reference), table.isLive(row) {
        object.relocate(to: row, &kept, renamed: renaming)
        hold(object, at: row)
      } else {
        object.ownBinding()
        object.lose(id)
        if failure != nil { object.becomeUnread() }
      }
    }
    for (object, group) in kept.sealed() { object.show(group) }
    renaming = nil
    if !lost.isEmpty { recoverLostObjects() }
    NodeTable.release([previous])
  }

  private func newID(of id: ManagedObjectID) -> ManagedObjectID { renaming?.newID(id) ?? id }

  /// Reads the records that the table lacks, until it has all that exist. Meanwhile the store may release what it has
  /// read again.
  ///
  /// - Returns: the reason why they cannot be read, if they cannot. It is noted too.
  private func readMissing(_ references: [ReferenceID]) -> PersistenceError? {
    guard let source, !references.isEmpty else { return nil }
    do {
      while true {
        let known = table
        guard try references.contains(where: { try known.row(of: $0) == nil }) else { return nil }
        table = try source.table(of: entity, reading: references)
        if table.epoch == known.epoch { return nil }
      }
    } catch {
      let failure = PersistenceError.unreadable(references.map { ManagedObjectID(scope: scope, reference: $0) }, error)
      context?.noteReadFailure(failure)
      return failure
    }
  }

  /// Returns the object of a record that was found in a table of a former epoch, or in another version. It reads what
  /// is not known of the record; if that fails, it is tried again when the object is used.
  func object(named reference: ReferenceID) -> ManagedObject {
    do {
      if let row = try row(of: reference), table.isLive(row) { return object(row) }
    } catch {
      if isPartial { return unreadObject(reference) }
    }
    return lostObject(of: reference)
  }

  /// Notes how many objects the context holds of the store's records, after it has released those that are no longer
  /// referenced.
  func noteHeldObjects() {
    guard let held = (source as? PersistentStore)?.engine.heldRecords else { return }
    slots.tidyAll()
    held.note(slots.objects.count, by: ObjectIdentifier(self))
  }

  /// Notes that the context no longer holds any objects.
  func noteNothingHeld() {
    (source as? PersistentStore)?.engine.heldRecords?.note(0, by: ObjectIdentifier(self))
  }
}

// MARK: KeptRecords

/// Records of which objects have read other versions than a table has. They are combined with a group of the table, in
/// their rows.
struct KeptRecords {
  private struct Record {
    let object: ManagedObject
    let row: RowID
    let former: RowGroup
    let formerRow: Int
  }

  private let entity: EntityDescription
  private let table: NodeTable
  private var records: [Int: [Record]] = [:]

  init(of entity: EntityDescription, in table: NodeTable) {
    self.entity = entity
    self.table = table
  }

  /// Notes that `object`, whose record is in `row` now, has read it from `formerRow` of `former`.
  mutating func keep(_ object: ManagedObject, at row: RowID, from former: RowGroup, _ formerRow: Int) {
    records[row.group, default: []].append(Record(object: object, row: row, former: former, formerRow: formerRow))
  }

  /// Returns the objects with the groups that they read from. O(rows of the groups).
  func sealed() -> [(object: ManagedObject, group: RowGroup)] {
    records.flatMap { ordinal, records in
      let group = group(ordinal, with: records.sorted { $0.row.row < $1.row.row })
      return records.map { ($0.object, group) }
    }
  }

  private func group(_ ordinal: Int, with records: [Record]) -> RowGroup {
    let newest = table.groups[ordinal]
    let builder = RowGroupBuilder(entity: entity)
    var next = 0
    for record in records {
      if next < record.row.row { builder.append(next..<record.row.row, of: newest) }
      builder.append(record.formerRow..<(record.formerRow + 1), of: record.former)
      next = record.row.row + 1
    }
    return builder.sealed()
  }
}

extension ManagedObject {
  /// Makes the object find its record in `row`. It keeps the values that it has read, even of another version.
  fileprivate final func relocate(to row: RowID, _ kept: inout KeptRecords, renamed records: RenamedRecords?) {
    defer { rowID = row }
    guard let group, let newest = binding.liveGroup(of: row) else { return }
    let isSame =
      group.versions[rowID.row] == newest.versions[row.row]
      && binding.hasSameValues(rowID.row, of: group, row.row, of: newest, renamed: records?.newID)
    if isSame { return show(newest) }
    kept.keep(self, at: row, from: group, rowID.row)
  }

  /// Makes the object take the values that its row has in `group`.
  fileprivate final func show(_ group: RowGroup) {
    switch content {
    case .fault: break
    case .read: content = .read(group)
    case .changed(let changes): changes.group = group
    }
  }

  /// Marks an object that was lost as one whose record could not be read.
  fileprivate final func becomeUnread() {
    state.remove(.inaccessible)
    state.insert(.unread)
  }
}
