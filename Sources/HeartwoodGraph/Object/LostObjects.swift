import HeartwoodModel
import HeartwoodStore

/// The registered objects of one entity whose records are gone, with the values that they had read. A record comes back
/// if a parent that has deleted it is rolled back, or if a context that has gone back to an older version moves on.
///
/// The objects are not retained.
struct LostObjects {
  /// The state of an object at the time its record was lost.
  struct Former {
    let rowID: RowID
    /// The group that it had read; nil if it was a fault.
    let group: RowGroup?
    /// The present ids of the records that it had read, if these have changed since.
    var records: RenamedRecords?
  }

  private struct Entry {
    weak var object: ManagedObject?
    var former: Former
  }

  /// Entries of deallocated objects are skipped, and removed when the number of entries has doubled.
  private var entries: [ObjectIdentifier: Entry] = [:]
  private var limit = 16
}

extension LostObjects {
  var isEmpty: Bool { entries.isEmpty }

  var all: [(object: ManagedObject, former: Former)] {
    entries.values.compactMap { entry in entry.object.map { ($0, entry.former) } }
  }

  /// The objects that have no row.
  var objectsWithoutRow: [ManagedObject] { all.map(\.object).filter { $0.rowID == .none } }

  mutating func insert(_ object: ManagedObject, _ former: Former) {
    if entries.count >= limit {
      entries = entries.filter { $0.value.object != nil }
      limit = max(16, 2 * entries.count)
    }
    entries[ObjectIdentifier(object)] = Entry(object: object, former: former)
  }

  mutating func remove(_ object: ManagedObject) {
    entries[ObjectIdentifier(object)] = nil
  }
}

// MARK: Coming back

extension EntityBinding {
  /// Notes that the record of an object is gone, which had read `group` of it.
  func noteLoss(of object: ManagedObject, _ group: RowGroup?) {
    guard object.state.contains(.registered) else { return }
    lost.insert(object, .init(rowID: object.rowID, group: group))
  }

  /// Returns the object of a record that exists, but not in the older version to which the context has gone back.
  func lostObject(of reference: ReferenceID) -> ManagedObject {
    let id = ManagedObjectID(scope: scope, reference: reference)
    if let object = lost.objectsWithoutRow.first(where: { $0.objectID == id }) { return object }
    let object = makeObject(.fault, .none, .registered)
    object.lose(id)
    return object
  }

  /// Notes that the records have got other ids.
  func takeNamesOfLostObjects(_ records: RenamedRecords) {
    for (object, var former) in lost.all {
      if case .changed(let changes) = object.content { changes.newID = changes.newID.map { records.newID($0) ?? $0 } }
      former.records = records
      lost.insert(object, former)
    }
  }

  /// Restores the objects whose records the table has again. What was unlinked from them while they were lost is
  /// unlinked at their end too.
  func recoverLostObjects() {
    var recovered: [ManagedObject] = []
    for (object, former) in lost.all {
      guard !object.state.isDisjoint(with: [.inaccessible, .unread]) else {
        lost.remove(object)
        continue
      }
      guard let row = presentRow(of: object) else { continue }
      lost.remove(object)
      object.recover(at: row, former)
      register(object)
      recovered.append(object)
    }
    context?.pending.settle(recovered)
  }

  private func presentRow(of object: ManagedObject) -> RowID? {
    // try?: errors of the table are thrown when the record is looked up. The object stays as it was.
    if object.rowID == .none { return try? table.row(of: object.objectID.reference) }
    return liveGroup(of: object.rowID) == nil ? nil : object.rowID
  }
}

extension ManagedObject {
  /// Restores the object, whose record is back in `row`. Its changes keep their base, and transient values that a save
  /// has left in place stay too; without any, the object is a fault.
  fileprivate final func recover(at row: RowID, _ former: LostObjects.Former) {
    // Values that were set without reading apply to whatever record is there.
    let wasRead = !state.contains(.unread)
    state.subtract([.inaccessible, .unread])
    let isToBeSaved = !state.isDisjoint(with: [.updated, .deleted])
    guard case .changed(let changes) = content, isToBeSaved || !changes.isEmpty else {
      content = .fault
      rowID = row
      return
    }
    changes.newID = nil
    guard let group = former.group else {
      changes.group = binding.liveGroup(of: row)
      changes.isOutdated = isToBeSaved && wasRead
      rowID = row
      return
    }
    changes.group = group
    rowID = former.rowID
    if let records = former.records, row == rowID { rebase(changes, on: records) }
    move(to: row, renamed: former.records)
  }
}
