import HeartwoodModel
import HeartwoodStore
import Logging
import Synchronization

/// What the objects of one entity in one store and one context have in common, and where they are found by row.
final class EntityBinding {
  /// Weak, since a context may go on another thread while its objects are used. All that the context and its objects share is used by those alone
  /// that hold the context meanwhile: the ``slots`` above all.
  private(set) weak var context: ManagedObjectContext?
  /// What objects ask their context each time that they change.
  let notes: ContextNotes
  /// Whether the context is gone, or has forgotten the binding.
  let orphaning = Atomic<Bool>(false)
  let entity: EntityDescription
  let entitySerialNumber: UInt32
  let objectClass: ManagedObject.Type
  /// The coordinator's, which is told what is dropped also once the context is gone.
  let logger: Logger?
  /// Indexed by property ordinal.
  let traits: [PropertyTrait]
  let transientOrdinals: [Int]
  /// What the relationships lead to, indexed by property ordinal.
  let destinations: [EntityDescription?]
  /// For a relationship whose inverse leads to an entity that objects of this one are not: that entity. Indexed by property ordinal.
  let inverseMismatches: [EntityDescription?]
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
  /// Counts the changes of the coordinator's stores; and the one that the context was last told of.
  private let storeChanges: ChangeCounter
  @exclusivity(unchecked) private var seenStoreChange: UInt64 = 0
  // Exclusivity is checked by eye for what every fault reads: nothing here is changed while it is read.
  @exclusivity(unchecked) private var saves: ChangeCounter?
  /// Whether the records are those of a parent context, which has no single counter.
  @exclusivity(unchecked) private var isStaged = false
  /// Whether a record that no store has may get another row in a later version of the table.
  private(set) var rowsMayMove = false
  /// Whether the table may have only those records that have been read so far.
  private(set) var isPartial = false
  /// The newest version of the table that has been asked for.
  var table: NodeTable {
    didSet {
      groups = table.groups.map(Unmanaged.passUnretained)
      lostRows = nil
    }
  }
  /// The table's, which holds them, to be read without a copy of it.
  @exclusivity(unchecked) private var groups: [Unmanaged<RowGroup>] = []
  /// What records are called that the table has by other names, until the next is taken.
  var renaming: RenamedRecords?
  /// The save that the table is of.
  @exclusivity(unchecked) private var seenSave: UInt64?
  let slots = ObjectSlots()
  /// The objects whose records are gone.
  @exclusivity(unchecked) var lost = LostObjects()
  /// The rows of registered objects whose records are gone from the table; nil where nobody has looked for them yet.
  var lostRows: [ReferenceID: RowID]?

  init(
    context: ManagedObjectContext,
    source: (any RecordSource)?,
    entity: EntityDescription,
    objectClass: ManagedObject.Type
  ) {
    self.context = context
    self.notes = context.notes
    self.entity = entity
    self.entitySerialNumber = entity.serialNumber
    self.objectClass = objectClass
    self.logger = context.persistentStoreCoordinator.logger
    self.storeChanges = context.persistentStoreCoordinator.storeChanges
    self.traits = entity.traits
    self.transientOrdinals = entity.properties.indices.filter { entity.properties[$0].isTransient }
    let entities = context.persistentStoreCoordinator.managedObjectModel.entities
    self.destinations = entity.relationshipTargets.map { target in target.map { entities[$0.entityOrdinal] } }
    self.inverseMismatches = entity.relationshipTargets.map { $0?.inverseMismatch(with: entity, among: entities) }
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
    noteNothingHeld()
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

  @inline(__always)
  var isOrphaned: Bool { orphaning.load(ordering: .acquiring) }

  /// Whether both bindings belong to the same context, which is still there.
  @inline(__always)
  func hasContext(of other: EntityBinding) -> Bool { !isOrphaned && notes === other.notes }

  deinit { noteNothingHeld() }

  /// Belongs to no context from now on.
  func forgetContext() {
    context = nil
    orphan()
  }

  /// Lets the context follow stores that were converted, for objects that are named before it is used again.
  @inline(__always)
  func followConversions() {
    if storeChanges.current != seenStoreChange { noticeStoreChange() }
  }

  @inline(never)
  private func noticeStoreChange() {
    seenStoreChange = storeChanges.current
    context?.followConversions()
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
    // Objects without a context stay at the version that they know.
    guard let context else { return }
    try withExtendedLifetime(context) { try readTable(of: context) }
  }

  private func readTable(of context: ManagedObjectContext) throws {
    // A fault may be the first to notice that its store was converted.
    if store?.newestSuccessor != nil { context.followConversions() }
    guard let source else { return }
    // What the context is saving shows when it has learned that it is saved.
    if !isStaged, context.saveProgress.underWay != nil { return }
    if isStaged { context.parent?.publishChanges() }
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
    guard isPartial, let source else { return }
    while try references.contains(where: { try table.row(of: $0) == nil }) {
      let newest = try source.table(of: entity, reading: references)
      take(newest)
      // Otherwise they have been forgotten while it was taken.
      if table.epoch == newest.epoch { return }
    }
  }

  /// Whether the record is in the table.
  func knows(_ reference: ReferenceID) -> Bool {
    // try?: what is wrong with the table is thrown by whoever looks for the record.
    (try? table.row(of: reference)) != nil
  }

  /// Takes what a fetch of the store has read.
  func take(_ found: FoundRecords) { take(found.table) }

  /// The row of a record, which is read where it has not been.
  func row(of reference: ReferenceID) throws -> RowID? {
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
    if newest.epoch != table.epoch { return takeAnew(newest) }
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
    for object in slots.takeObjects(from: first) {
      let former = ManagedObjectID(scope: scope, reference: previous.reference(object.rowID))
      let id = renaming?.newID(former) ?? former
      do {
        if let row = try table.row(of: id.reference) {
          object.move(to: row, renamed: renaming)
          hold(object, at: row)
        } else {
          object.ownBinding()
          object.lose(id)
        }
      } catch {
        // The table has several records of one name: nobody knows which it is.
        object.ownBinding()
        object.lose(id)
        object.state.remove(.inaccessible)
        object.state.insert(.unread)
      }
    }
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

// MARK: Neighbours

/// Records that were read together are mostly looked at together: what one of them leads to is read with what the others lead to, and
/// not record by record.
extension EntityBinding {
  /// So many records before and behind one are near it.
  private static let reach = 128
  /// So many ids are enough to be read at once.
  private static let greatestCount = 4096

  /// The ids to which a relationship leads from the records that lie near `row`.
  func ids(relatedFromNear row: RowID, at ordinal: Int) -> [ManagedObjectID] {
    guard let group = liveGroup(of: row) else { return [] }
    var ids: [ManagedObjectID] = []
    for other in max(0, row.row - Self.reach)..<min(group.rowCount, row.row + Self.reach) where group.isLive(other) {
      ids += group.value(row: other, ordinal: ordinal, type: nil, scopes: scopes).objectIDs
      if ids.count >= Self.greatestCount { break }
    }
    return ids
  }
}
