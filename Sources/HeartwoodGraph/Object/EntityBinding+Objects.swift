import HeartwoodModel
import HeartwoodStore
import Synchronization

/// The objects of the binding: their places, and their ownership.
extension EntityBinding {
  /// Puts an object into the slot of its row. The binding then owns the object, and lives as long as its context does.
  func hold(_ object: ManagedObject, at row: RowID) {
    slots.set(object, at: row)
    object.disownBinding()
  }

  /// Takes an object out of its slot. The object then owns the binding.
  func release(_ object: ManagedObject) {
    object.ownBinding()
    slots.remove(object, at: object.rowID)
  }

  /// Detaches the objects from their context. The context calls this, on any thread, when it is deallocated or releases
  /// them: it does not touch the objects themselves, which may be in use elsewhere.
  func orphan() {
    orphaning.store(true, ordering: .releasing)
    // From now on an object that is in a slot releases the binding in its deinit.
    slots.empty { _ in _ = Unmanaged.passRetained(self) }
  }

  /// All registered objects.
  var registeredObjects: [ManagedObject] { lost.isEmpty ? slots.objects : slots.objects + lost.objectsWithoutRow }

  /// Returns the object of `reference`, or nil if none is registered.
  func registeredObject(_ reference: ReferenceID) throws -> ManagedObject? {
    if let row = try table.row(of: reference) { return slots[row] }
    return try lostObject(reference)
  }

  /// Returns the object of `reference`, a new fault if there is none yet; nil if there is no such record, and no object
  /// that read it while it existed.
  func object(_ reference: ReferenceID) throws -> ManagedObject? {
    try row(of: reference).map(object) ?? lostObject(reference)
  }

  /// Returns the registered object of a record, even if the record is gone by now and the object has never read it.
  func heldObject(_ reference: ReferenceID) throws -> ManagedObject? {
    if let row = try table.row(of: reference) ?? table.formerRow(of: reference) { return slots[row] }
    let rows = lostRows ?? findLostRows()
    lostRows = rows
    return rows[reference].flatMap { slots[$0] }
  }

  /// Returns the object that has read a record which is gone by now. The context keeps it until it is refreshed.
  private func lostObject(_ reference: ReferenceID) throws -> ManagedObject? {
    guard let object = try heldObject(reference) else { return nil }
    return object.isFault || object.state.contains(.inaccessible) ? nil : object
  }

  private func findLostRows() -> [ReferenceID: RowID] {
    var rows: [ReferenceID: RowID] = [:]
    for object in slots.objects where liveGroup(of: object.rowID) == nil {
      rows[objectID(object.rowID).reference] = object.rowID
    }
    return rows
  }

  func register(_ object: ManagedObject) {
    hold(object, at: object.rowID)
    object.state.insert(.registered)
  }

  func unregister(_ object: ManagedObject) {
    release(object)
    if !lost.isEmpty { lost.remove(object) }
  }

  /// Returns the object of `row`, a new fault if there is none yet.
  func object(_ row: RowID) -> ManagedObject {
    if let registered = slots[row] { return registered }
    return makeFault(row)
  }

  @inline(__always)
  func makeObject(_ content: ObjectContent, _ row: RowID, _ state: ObjectState) -> ManagedObject {
    objectClass.init(ManagedObjectSeed(binding: .passUnretained(self), content: content, rowID: row, state: state))
  }

  @inline(__always)
  private func makeFault(_ row: RowID) -> ManagedObject {
    let object = makeObject(.fault, row, [.registered, .held])
    slots.insert(object, at: row)
    return object
  }

  /// Writes the objects of all records to `results` from `count` on, retained; those that do not exist yet are created
  /// as faults. It leaves out those that the context has deleted. `results` must have room for as many objects as the
  /// table has records.
  func fetch(into results: UnsafeMutableBufferPointer<Unmanaged<ManagedObject>>, count: inout Int) {
    let table = table
    ProgrammerError.check(results.count - count >= table.count, "There is no room for the objects.")
    slots.tidy(andLookAt: 0)
    for (ordinal, group) in table.groups.enumerated() {
      slots.reserve(group: ordinal, rowCount: group.rowCount)
      for run in group.liveRuns {
        for row in run {
          let row = RowID(group: ordinal, row: row)
          if let registered = slots[row] {
            if registered.isDeleted { continue }
            results.initializeElement(at: count, to: Unmanaged.passRetained(registered))
          } else {
            results.initializeElement(at: count, to: Unmanaged.passRetained(makeFault(row)))
          }
          count += 1
        }
      }
    }
  }
}

// MARK: Versions

/// Comparisons of versions of a record.
extension EntityBinding {
  /// Returns the version that a change of a record is based on, which was read from a row of `group`. In a child
  /// context it is the newest version if that has the same values, since a parent assembles records again.
  func baseVersion(_ row: RowID, readFrom group: RowGroup) -> UInt64 {
    let version = group.versions[row.row]
    guard rowsMayMove, let newest = liveGroup(of: row), newest !== group,
      hasSameValues(row.row, of: group, row.row, of: newest)
    else { return version }
    return newest.versions[row.row]
  }

  /// Returns whether one version of a row is later than another. In a child context, where they are assembled again, it
  /// returns whether they differ.
  func isLater(_ row: RowID, in group: RowGroup, than former: RowGroup) -> Bool {
    let (version, formerVersion) = (group.versions[row.row], former.versions[row.row])
    if !rowsMayMove { return version > formerVersion }
    return version != formerVersion && !hasSameValues(row.row, of: group, row.row, of: former)
  }

  /// Returns whether a record has the same values in two versions of its row.
  ///
  /// - Parameter newID: returns the present id for an id of the first version, if ids have changed.
  func hasSameValues(
    _ row: Int,
    of group: RowGroup,
    _ otherRow: Int,
    of other: RowGroup,
    renamed newID: ((ManagedObjectID) -> ManagedObjectID?)? = nil
  ) -> Bool {
    traits.indices.allSatisfy { hasSameValue(at: $0, row, of: group, otherRow, of: other, renamed: newID) }
  }

  /// Returns the properties of which a record has different values in two versions of its row.
  func ordinalsOfOtherValues(
    _ row: Int,
    of group: RowGroup,
    _ otherRow: Int,
    of other: RowGroup,
    renamed newID: ((ManagedObjectID) -> ManagedObjectID?)? = nil
  ) -> [Int] {
    traits.indices.filter { !hasSameValue(at: $0, row, of: group, otherRow, of: other, renamed: newID) }
  }

  /// Returns whether a record has the same value of a property in two versions of its row.
  private func hasSameValue(
    at ordinal: Int,
    _ row: Int,
    of group: RowGroup,
    _ otherRow: Int,
    of other: RowGroup,
    renamed newID: ((ManagedObjectID) -> ManagedObjectID?)? = nil
  ) -> Bool {
    let type = traits[ordinal].attributeType
    let value = group.value(row: row, ordinal: ordinal, type: type, scopes: scopes)
    return traits[ordinal].areSame(
      newID.map { newID in value.map { newID($0) ?? $0 } } ?? value,
      other.value(row: otherRow, ordinal: ordinal, type: type, scopes: scopes)
    )
  }
}
