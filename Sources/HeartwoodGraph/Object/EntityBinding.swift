import HeartwoodModel
import HeartwoodStore

/// What the objects of one entity in one store and one context have in common, and where they are found by row.
final class EntityBinding {
  /// The context clears this when it goes or is reset, so it never dangles.
  private var uncountedContext: Unmanaged<ManagedObjectContext>?
  let entity: EntityDescription
  let entitySerialNumber: UInt32
  let objectClass: ManagedObject.Type
  /// Indexed by property ordinal.
  let traits: [PropertyTrait]
  let transientOrdinals: [Int]
  /// What the relationships lead to, indexed by property ordinal.
  let destinations: [EntityDescription?]
  /// What the relationships' inverses lead to where no object of the entity is one, indexed by property ordinal.
  let strangers: [EntityDescription?]
  /// The class's own validators.
  let validators: [BoundValidator]
  /// Whether the objects are of a subclass, which may have hooks of its own.
  let hasOwnClass: Bool
  /// What a new object has, indexed by property ordinal; nil where nothing is.
  let initialValues: [PropertyValue?]
  /// Where the objects' records are; nil for new ones.
  private(set) var source: (any RecordSource)?
  /// What the ids of the objects are made with.
  private(set) var scope: ObjectIDScope
  /// What the ids that the objects' relationships have are made with, indexed by entity ordinal.
  private(set) var scopes: [ObjectIDScope] = []
  // Exclusivity is checked by eye for what every fault reads: nothing here is changed while it is read.
  @exclusivity(unchecked) private var saves: ChangeCounter?
  /// Whether the records are those of a parent context, which has no single counter.
  @exclusivity(unchecked) private var isStaged = false
  /// Whether a record that no store has may get another row in a later version of the table.
  private(set) var rowsMayMove = false
  /// Whether the table may have only those records that have been read so far.
  private(set) var isPartial = false
  /// The newest version of the table that has been asked for.
  private(set) var table: NodeTable {
    didSet {
      groups = table.groups.map(Unmanaged.passUnretained)
      lostRows = nil
    }
  }
  /// The table's, which holds them, to be read without a copy of it.
  @exclusivity(unchecked) private var groups: [Unmanaged<RowGroup>] = []
  /// What records are called that the table has by other names, until the next is taken.
  private var renaming: RenamedRecords?
  /// The save that the table is of.
  @exclusivity(unchecked) private var seenSave: UInt64?
  private let slots = ObjectSlots()
  /// The objects whose records are gone.
  @exclusivity(unchecked) var lost = LostObjects()
  /// How many objects there are, registered or not. The binding is retained while there are any.
  @exclusivity(unchecked) private var objectCount = 0
  /// The rows of registered objects whose records are gone from the table; nil where nobody has looked for them yet.
  private var lostRows: [ReferenceID: RowID]?

  init(
    context: ManagedObjectContext,
    source: (any RecordSource)?,
    entity: EntityDescription,
    objectClass: ManagedObject.Type
  ) {
    self.uncountedContext = .passUnretained(context)
    self.entity = entity
    self.entitySerialNumber = entity.serialNumber
    self.objectClass = objectClass
    self.traits = entity.traits
    self.transientOrdinals = entity.properties.indices.filter { entity.properties[$0].isTransient }
    let entities = context.persistentStoreCoordinator.managedObjectModel.entities
    self.destinations = entity.relationshipTargets.map { target in target.map { entities[$0.entityOrdinal] } }
    self.strangers = entity.relationshipTargets.map { $0?.stranger(to: entity, among: entities) }
    self.validators = objectClass.propertyValidators.map { BoundValidator($0, entity) }
    self.hasOwnClass = objectClass != ManagedObject.self
    self.initialValues = entity.properties.map { property in
      property.attribute.flatMap { $0.defaultValue.isNull ? nil : $0.defaultValue }
    }
    self.table = NodeTable(entity: entity)
    self.scope = ObjectIDScope(storeIdentifier: nil, entity: entity)
    if let source { bind(to: source) }
  }

  /// Lets the objects belong to `source`, which has the same records in the same rows as the one before.
  ///
  /// - Parameter renaming: tells what records are called now that have other names.
  func bind(to source: any RecordSource, renaming: RenamedRecords? = nil) {
    self.source = source
    self.renaming = renaming
    scopes = source.scopes
    scope = scopes[entity.ordinal]
    saves = (source as? PersistentStore)?.engine.saves
    isStaged = saves == nil
    rowsMayMove = source is StagedStore
    isPartial = source.readsAsNeeded
    seenSave = nil
  }

  var context: ManagedObjectContext? {
    get { uncountedContext?.takeUnretainedValue() }
    set { uncountedContext = newValue.map(Unmanaged.passUnretained) }
  }

  /// Whether both bindings belong to the same context, which is still there.
  @inline(__always)
  func hasContext(of other: EntityBinding) -> Bool {
    uncountedContext != nil && uncountedContext?.toOpaque() == other.uncountedContext?.toOpaque()
  }

  /// Calls `body` with the context without counting a reference to it, for what each value that is set goes through.
  @inline(__always)
  func withContext<Result>(_ body: (ManagedObjectContext) -> Result) -> Result? {
    uncountedContext?._withUnsafeGuaranteedRef(body)
  }

  /// The store that keeps the objects in the end; nil for new ones.
  var store: PersistentStore? { source?.store }
}

// MARK: The table

extension EntityBinding {
  /// Takes the newest version of the table, where there is one that has not been seen.
  @inline(__always)
  func synchronize() throws {
    if isStaged || saves?.current != seenSave { try readTable() }
  }

  @inline(never)
  private func readTable() throws {
    // A fault may be the first to notice that its store was converted.
    if store?.newestSuccessor != nil { context?.followConversions() }
    guard let source else { return }
    if isStaged { context?.parent?.publishChanges() }
    let number = source.changeNumber
    guard number != seenSave else { return }
    let known = try source.knownTable(of: entity)
    isPartial = !known.isWhole
    take(known.table)
    seenSave = number
  }

  /// Reads all records, where they have not been read.
  func readWhole() throws {
    guard isPartial, let source else { return }
    take(try source.table(of: entity))
    isPartial = false
  }

  /// Reads the records that `references` name, where they have not been read, together.
  func read(_ references: [ReferenceID]) throws {
    guard isPartial, let source, try references.contains(where: { try table.row(of: $0) == nil }) else { return }
    take(try source.table(of: entity, reading: references))
  }

  /// Whether the record is in the table.
  func knows(_ reference: ReferenceID) -> Bool { (try? table.row(of: reference)) != nil }

  /// Takes what a fetch of the store has read.
  func take(_ found: FoundRecords) { take(found.table) }

  /// The row of a record, which is read where it has not been.
  private func row(of reference: ReferenceID) throws -> RowID? {
    if let row = try table.row(of: reference) { return row }
    guard isPartial else { return nil }
    try read([reference])
    return try table.row(of: reference)
  }

  /// Takes the table that a save of the context has made.
  func adopt(_ commit: StoreCommit) {
    if seenSave == commit.number { return }
    take(commit.tables[entity.ordinal])
    seenSave = commit.number
  }

  func take(_ newest: NodeTable) {
    let previous = table
    table = newest
    // Rows that no store has may move, and a version that is older may have fewer rows of the store's.
    let unstable = [previous.firstUnsavedRow, newest.firstUnsavedRow, newest.firstRowMissing(of: previous)]
    if let first = unstable.compactMap({ $0?.rawValue }).min() {
      follow(rowsFrom: RowID(rawValue: first), of: previous)
    }
    renaming = nil
    if !lost.isEmpty { recoverLostObjects() }
  }

  /// Lets objects whose records were in rows that may be others' now be found where the records are.
  private func follow(rowsFrom first: RowID, of previous: NodeTable) {
    let objects = slots.objects(from: first)
    for object in objects { slots.remove(object, at: object.rowID) }
    for object in objects {
      let former = ManagedObjectID(scope: scope, reference: previous.reference(object.rowID))
      let id = renaming?.newID(former) ?? former
      if let row = try? table.row(of: id.reference) {
        object.move(to: row, renamed: renaming)
        slots.set(object, at: row)
      } else {
        object.lose(id)
      }
    }
  }

  /// The version that a change of a record counts as based on, which was read from a row of `group`: in a child context the newest one
  /// where that has the same values, since a parent puts records together anew.
  func baseVersion(_ row: RowID, readFrom group: RowGroup) -> UInt64 {
    let version = group.versions[row.row]
    guard rowsMayMove, let newest = liveGroup(of: row), newest !== group,
      hasSameValues(row.row, of: group, row.row, of: newest)
    else { return version }
    return newest.versions[row.row]
  }

  /// Whether one version of a row came after another; in a child context, where they are put together anew, whether they differ.
  func isLater(_ row: RowID, in group: RowGroup, than former: RowGroup) -> Bool {
    let (version, formerVersion) = (group.versions[row.row], former.versions[row.row])
    return rowsMayMove ? version != formerVersion : version > formerVersion
  }

  /// Whether a record has the same values in two versions of its row.
  ///
  /// - Parameter newID: what the first version's ids are today where those are others.
  func hasSameValues(
    _ row: Int,
    of group: RowGroup,
    _ otherRow: Int,
    of other: RowGroup,
    renamed newID: ((ManagedObjectID) -> ManagedObjectID?)? = nil
  ) -> Bool {
    traits.indices.allSatisfy { hasSameValue(at: $0, row, of: group, otherRow, of: other, renamed: newID) }
  }

  /// The properties of which a record has other values in two versions of its row.
  func ordinalsOfOtherValues(
    _ row: Int,
    of group: RowGroup,
    _ otherRow: Int,
    of other: RowGroup,
    renamed newID: ((ManagedObjectID) -> ManagedObjectID?)? = nil
  ) -> [Int] {
    traits.indices.filter { !hasSameValue(at: $0, row, of: group, otherRow, of: other, renamed: newID) }
  }

  /// Whether a record has the same value of a property in two versions of its row.
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

  /// Whether the table has `row`, live or not.
  func hasRow(_ row: RowID) -> Bool {
    row.group < groups.count && groups[row.group]._withUnsafeGuaranteedRef { row.row < $0.rowCount }
  }

  /// The group that has the record of `row`, or nil where that was deleted.
  @inline(__always)
  func liveGroup(of row: RowID) -> RowGroup? {
    guard row.group < groups.count else { return nil }
    let group = groups[row.group]
    let isLive = group._withUnsafeGuaranteedRef { row.row < $0.rowCount && $0.isLive(row.row) }
    return isLive ? group.takeUnretainedValue() : nil
  }

  /// The id of the record of `row`, which the table has, whether it was deleted or not.
  func objectID(_ row: RowID) -> ManagedObjectID {
    let reference = groups[row.group]._withUnsafeGuaranteedRef { $0.reference(row.row) }
    return ManagedObjectID(scope: scope, reference: reference)
  }

  /// The id of the record of `row`, as a group that had it says.
  func objectID(_ row: RowID, in group: RowGroup) -> ManagedObjectID {
    ManagedObjectID(scope: scope, reference: group.reference(row.row))
  }
}

// MARK: Objects

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
