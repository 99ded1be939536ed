import HeartwoodModel
import HeartwoodStore

/// What the objects of one entity in one store and one context have in common, and where they are found by row.
final class EntityBinding {
  /// The context clears this when it goes, so it never dangles.
  unowned(unsafe) var context: ManagedObjectContext?
  /// The store that keeps the objects; nil for new ones.
  let store: PersistentStore?
  let entity: EntityDescription
  let entitySerialNumber: UInt32
  let scope: ObjectIDScope
  let objectClass: ManagedObject.Type
  /// The registered objects, by group and row. An object that goes takes itself out, so it is not held here.
  private var slots: [ContiguousArray<Unmanaged<ManagedObject>?>] = []

  init(
    context: ManagedObjectContext,
    store: PersistentStore?,
    entity: EntityDescription,
    scope: ObjectIDScope,
    objectClass: ManagedObject.Type
  ) {
    self.context = context
    self.store = store
    self.entity = entity
    self.entitySerialNumber = entity.serialNumber
    self.scope = scope
    self.objectClass = objectClass
  }
}

extension EntityBinding {
  /// The object of `row`, or nil where none is registered.
  @inline(__always)
  func registeredObject(_ row: RowID) -> ManagedObject? {
    guard row.group < slots.count, row.row < slots[row.group].count else { return nil }
    return slots[row.group][row.row]?.takeUnretainedValue()
  }

  func register(_ object: ManagedObject, at row: RowID) {
    reserve(groups: row.group + 1)
    let missing = row.row + 1 - slots[row.group].count
    if missing > 0 { slots[row.group].append(contentsOf: repeatElement(nil, count: missing)) }
    slots[row.group][row.row] = Unmanaged.passUnretained(object)
  }

  @inline(__always)
  func unregister(_ row: RowID) {
    guard row.group < slots.count, row.row < slots[row.group].count else { return }
    slots[row.group][row.row] = nil
  }

  private func reserve(groups: Int) {
    while slots.count < groups { slots.append([]) }
  }

  /// All registered objects.
  var registeredObjects: [ManagedObject] {
    slots.flatMap { group in group.compactMap { $0?.takeUnretainedValue() } }
  }

  /// Appends the objects of all records of `table` to `objects`, made where there is none yet, but for those that the context has
  /// deleted.
  func appendObjects(of table: NodeTable, asFaults: Bool, to objects: inout [ManagedObject]) {
    objects.reserveCapacity(objects.count + table.count)
    reserve(groups: table.groups.count)
    for (ordinal, group) in table.groups.enumerated() {
      let missing = group.rowCount - slots[ordinal].count
      if missing > 0 { slots[ordinal].append(contentsOf: repeatElement(nil, count: missing)) }
      for run in group.liveRuns {
        for row in run { appendObject(RowID(group: ordinal, row: row), group, asFaults, &objects) }
      }
    }
  }

  @inline(__always)
  private func appendObject(_ row: RowID, _ group: RowGroup, _ asFault: Bool, _ objects: inout [ManagedObject]) {
    if let registered = slots[row.group][row.row]?.takeUnretainedValue() {
      if !registered.isDeleted { objects.append(registered) }
      return
    }
    let object = make(row, group, asFault: asFault)
    slots[row.group][row.row] = Unmanaged.passUnretained(object)
    objects.append(object)
  }

  /// The object of `row`, made as a fault where there is none yet.
  func object(_ row: RowID, in table: NodeTable) -> ManagedObject {
    if let registered = registeredObject(row) { return registered }
    let object = make(row, table.groups[row.group], asFault: true)
    register(object, at: row)
    return object
  }

  @inline(__always)
  private func make(_ row: RowID, _ group: RowGroup, asFault: Bool) -> ManagedObject {
    objectClass.init(
      ManagedObjectSeed(binding: self, group: group, rowID: row, changes: nil, state: asFault ? .fault : [])
    )
  }
}
