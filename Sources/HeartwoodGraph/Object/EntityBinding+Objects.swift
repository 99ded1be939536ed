import HeartwoodModel
import HeartwoodStore

/// The objects of the binding: how many there are, and which is where.
extension EntityBinding {
  /// Counts an object that is to have the binding, and is there with it.
  ///
  /// The count needs no atomics: the objects, like the slots that they leave in their `deinit`, are of one isolation.
  @inline(__always)
  func addObject() {
    if objectCount == 0 { _ = Unmanaged.passRetained(self) }
    objectCount += 1
  }

  /// Lets go of the binding of an object that goes or gets another.
  @inline(__always)
  static func removeObject(of reference: Unmanaged<EntityBinding>) {
    let isLast = reference._withUnsafeGuaranteedRef { binding in
      binding.objectCount -= 1
      return binding.objectCount == 0
    }
    if isLast { reference.release() }
  }

  /// All registered objects.
  var registeredObjects: [ManagedObject] { lost.isEmpty ? slots.objects : slots.objects + lost.objectsWithoutRow }

  /// The object of `reference`, or nil where none is registered.
  func registeredObject(_ reference: ReferenceID) throws -> ManagedObject? {
    if let row = try table.row(of: reference) { return slots[row] }
    return lostObject(reference)
  }

  /// The object of `reference`, made as a fault where there is none yet; nil where there is no such record, and no object that
  /// has read it while there was.
  func object(_ reference: ReferenceID) throws -> ManagedObject? {
    try row(of: reference).map(object) ?? lostObject(reference)
  }

  /// The registered object of a record, though that may be gone by now, and the object may never have read it.
  func heldObject(_ reference: ReferenceID) throws -> ManagedObject? {
    if let row = try table.row(of: reference) ?? table.formerRow(of: reference) { return slots[row] }
    let rows = lostRows ?? findLostRows()
    lostRows = rows
    return rows[reference].flatMap { slots[$0] }
  }

  /// The object that has read a record which is gone by now. To its context it is there until it is refreshed.
  private func lostObject(_ reference: ReferenceID) -> ManagedObject? {
    guard let object = try? heldObject(reference) else { return nil }
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
    slots.set(object, at: object.rowID)
    object.state.insert(.registered)
  }

  @inline(__always)
  func unregister(_ object: ManagedObject) {
    slots.remove(object, at: object.rowID)
    if !lost.isEmpty { lost.remove(object) }
  }

  /// The object of `row`, made as a fault where there is none yet.
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
    let object = makeObject(.fault, row, .registered)
    slots.set(object, at: row)
    return object
  }

  /// Writes the objects of all records to `results` from `count` on, retained, made as faults where there are none yet; those that
  /// the context has deleted are left out. There is room for as many as the table has records.
  func fetch(into results: UnsafeMutableBufferPointer<Unmanaged<ManagedObject>>, count: inout Int) {
    let table = table
    Misuse.check(results.count - count >= table.count, "There is no room for the objects.")
    for (ordinal, group) in table.groups.enumerated() {
      slots.reserve(group: ordinal, rowCount: group.rowCount)
      for run in group.liveRuns {
        for row in run {
          let row = RowID(group: ordinal, row: row)
          let registered = slots[row]
          if let registered, registered.isDeleted { continue }
          results.initializeElement(at: count, to: Unmanaged.passRetained(registered ?? makeFault(row)))
          count += 1
        }
      }
    }
  }
}
