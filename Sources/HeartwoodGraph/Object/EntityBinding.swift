import HeartwoodModel
import HeartwoodStore
import Logging
import Synchronization

/// The shared data of the objects of one entity in one store and one context, and the table in which they are found by
/// row.
final class EntityBinding {
  /// Weak, since a context may be deallocated on another thread while its objects are used. State that the context and
  /// its objects share, above all ``slots``, is used only by callers that retain the context meanwhile.
  private(set) weak var context: ManagedObjectContext?
  /// The flags of the context that objects check each time they change.
  let notes: ContextNotes
  /// Whether the context was deallocated or has released the binding.
  let orphaning = Atomic<Bool>(false)
  let entity: EntityDescription
  let entitySerialNumber: UInt32
  let objectClass: ManagedObject.Type
  /// The coordinator's logger, which also logs dropped changes after the context is gone.
  let logger: Logger?
  /// Indexed by property ordinal.
  let traits: [PropertyTrait]
  let transientOrdinals: [Int]
  /// The destination entities of the relationships, indexed by property ordinal.
  let destinations: [EntityDescription?]
  /// For a relationship whose inverse refers to an entity that objects of this one are not: that entity. Indexed by
  /// property ordinal.
  let inverseMismatches: [EntityDescription?]
  /// The class's own validators.
  let validators: [BoundValidator]
  /// Whether the objects are of a subclass, which may have hooks of its own.
  let hasOwnClass: Bool
  /// The initial values of a new object, indexed by property ordinal; nil for no value.
  let initialValues: [PropertyValue?]
  /// The source of the objects' records; nil for new ones.
  private(set) var source: (any RecordSource)?
  /// The scope from which the ids of the objects are made.
  private(set) var scope: ObjectIDScope
  /// The scopes of the ids in the objects' relationships, indexed by entity ordinal.
  private(set) var scopes: [ObjectIDScope] = []
  /// Counts the changes of the coordinator's stores; the next property is the count that the context has seen.
  private let storeChanges: ChangeCounter
  @exclusivity(unchecked) private var seenStoreChange: UInt64 = 0
  // Exclusivity is checked by review for state that every fault reads: nothing here is changed while it is read.
  @exclusivity(unchecked) private var saves: ChangeCounter?
  /// Whether the records are those of a parent context, which has no single counter.
  @exclusivity(unchecked) private var isStaged = false
  /// Whether an unsaved record may get another row in a later version of the table.
  private(set) var rowsMayMove = false
  /// Whether the table may contain only the records that have been read so far.
  private(set) var isPartial = false
  /// The newest version of the table that has been requested.
  var table: NodeTable {
    didSet {
      groups = table.groups.map(Unmanaged.passUnretained)
      lostRows = nil
    }
  }
  /// The groups of the table, which retains them, for reading without a copy of the table.
  @exclusivity(unchecked) private var groups: [Unmanaged<RowGroup>] = []
  /// The former versions of the table's groups, by the ordinal of the group.
  private var formerVersions: [Int: FormerVersions] = [:]
  /// The new ids of records that have other ones in the table, until the next table is taken.
  var renaming: RenamedRecords?
  /// The number of the save that made the table.
  @exclusivity(unchecked) private var seenSave: UInt64?
  let slots = ObjectSlots()
  /// The objects whose records are gone.
  @exclusivity(unchecked) var lost = LostObjects()
  /// The rows of registered objects whose records are gone from the table; nil if they have not been computed yet.
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

  /// Moves the objects to `source`, which has the same records in the same rows as the former one.
  ///
  /// - Parameter renaming: returns the new ids of records, if these have changed.
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

  /// Returns whether both bindings belong to the same context, which still exists.
  @inline(__always)
  func hasContext(of other: EntityBinding) -> Bool { !isOrphaned && notes === other.notes }

  deinit { noteNothingHeld() }

  /// Detaches the binding from its context.
  func forgetContext() {
    context = nil
    orphan()
  }

  /// Makes the context follow stores that were converted, for objects whose ids are asked for before the context is
  /// used again.
  @inline(__always)
  func followConversions() {
    if storeChanges.current != seenStoreChange { noticeStoreChange() }
  }

  @inline(never)
  private func noticeStoreChange() {
    seenStoreChange = storeChanges.current
    context?.followConversions()
  }

  /// The store to which the objects are saved in the end; nil for new ones.
  var store: PersistentStore? { source?.store }
}

// MARK: The table

extension EntityBinding {
  /// Takes the newest version of the table, if there is one that was not taken yet.
  @inline(__always)
  func synchronize() throws {
    if isStaged || saves?.current != seenSave { try readTable() }
  }

  @inline(never)
  private func readTable() throws {
    // Objects without a context stay at the version that they have.
    guard let context else { return }
    try withExtendedLifetime(context) { try readTable(of: context) }
  }

  private func readTable(of context: ManagedObjectContext) throws {
    // A fault may be the first to notice that its store was converted.
    if store?.newestSuccessor != nil { context.followConversions() }
    guard let source else { return }
    // A save under way becomes visible when the context has finished it.
    if !isStaged, context.saveProgress.underWay != nil { return }
    if isStaged { context.parent?.publishChanges() }
    let number = source.changeNumber
    guard number != seenSave else { return }
    let known = try source.knownTable(of: entity)
    isPartial = !known.isWhole
    take(known.table)
    seenSave = number
  }

  /// Reads all records that have not been read yet.
  func readWhole() throws {
    guard isPartial, let source else { return }
    take(try source.table(of: entity))
    isPartial = false
  }

  /// Reads those of `references` that have not been read yet, together.
  func read(_ references: [ReferenceID]) throws {
    guard isPartial, let source else { return }
    while try references.contains(where: { try table.row(of: $0) == nil }) {
      let newest = try source.table(of: entity, reading: references)
      take(newest)
      // Otherwise they were released while the table was taken.
      if table.epoch == newest.epoch { return }
    }
  }

  /// Returns whether the record is in the table.
  func knows(_ reference: ReferenceID) -> Bool {
    // try?: errors of the table are thrown when the record is looked up.
    (try? table.row(of: reference)) != nil
  }

  /// Takes the records that a fetch of the store has read.
  func take(_ found: FoundRecords) { take(found.table) }

  /// Returns the row of a record, which is read if necessary.
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
    // Rows of unsaved records may move, and an older version may have fewer rows of the store.
    let unstable = [previous.firstUnsavedRow, newest.firstUnsavedRow, newest.firstRowMissing(of: previous)]
    if let first = unstable.compactMap({ $0?.rawValue }).min() {
      follow(rowsFrom: RowID(rawValue: first), of: previous)
    }
    if !rowsMayMove { leaveFormerVersions(previous) }
    renaming = nil
    if !lost.isEmpty { recoverLostObjects() }
  }

  /// Moves objects to the present rows of their records if their former rows may belong to other records now.
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
        // The table has several records with one reference: the record is ambiguous.
        object.ownBinding()
        object.lose(id)
        object.state.remove(.inaccessible)
        object.state.insert(.unread)
      }
    }
  }

  /// Makes objects of an unchanged record read from the newest version of its group, once they keep many former ones
  /// in memory. Objects of which the newest version has other values stay at theirs.
  private func leaveFormerVersions(_ previous: NodeTable) {
    for (ordinal, (former, newest)) in zip(previous.groups, table.groups).enumerated() where former !== newest {
      guard formerVersions[ordinal, default: FormerVersions()].add(former) else { continue }
      slots.forEachObject(inGroup: ordinal) { $0.readNewestIfSame() }
      formerVersions[ordinal]?.adjustLimit()
    }
  }

  /// Returns whether the table has `row`, live or deleted.
  func hasRow(_ row: RowID) -> Bool {
    row.group < groups.count && groups[row.group]._withUnsafeGuaranteedRef { row.row < $0.rowCount }
  }

  /// Returns the group that has the record of `row`, or nil if the record was deleted.
  @inline(__always)
  func liveGroup(of row: RowID) -> RowGroup? {
    guard row.group < groups.count else { return nil }
    let group = groups[row.group]
    let isLive = group._withUnsafeGuaranteedRef { row.row < $0.rowCount && $0.isLive(row.row) }
    return isLive ? group.takeUnretainedValue() : nil
  }

  /// Returns the id of the record of `row`, live or deleted. The table must have the row.
  func objectID(_ row: RowID) -> ManagedObjectID {
    let reference = groups[row.group]._withUnsafeGuaranteedRef { $0.reference(row.row) }
    return ManagedObjectID(scope: scope, reference: reference)
  }

  /// Returns the id of the record of `row` in a group that has it.
  func objectID(_ row: RowID, in group: RowGroup) -> ManagedObjectID {
    ManagedObjectID(scope: scope, reference: group.reference(row.row))
  }
}

// MARK: Neighbours

/// Records that were read together are usually used together: the destinations of their relationships are read for all
/// of them at once instead of record by record.
extension EntityBinding {
  /// The number of records before and after one that count as its neighbours.
  private static let reach = 128
  /// The greatest number of ids that are read at once.
  private static let greatestCount = 4096

  /// Returns the destination ids of a relationship for the records near `row`.
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

// MARK: FormerVersions

/// The former versions of a group that something still uses, mostly objects that read from them.
///
/// Each save makes a new version of a group. Without further measures, a context that holds all objects and saves them
/// one after the other would keep a version for each save.
private struct FormerVersions {
  private struct Weak {
    weak var group: RowGroup?
  }

  /// The number of versions that may be in use before objects are made to use the newest.
  private static let usualLimit = 8
  private var versions: [Weak] = []
  private var limit = usualLimit

  /// Adds a version that has become a former one. Returns whether too many are in use.
  mutating func add(_ group: RowGroup) -> Bool {
    forgetUnused()
    versions.append(Weak(group: group))
    return versions.count > limit
  }

  /// Raises the limit if versions are still in use after objects have taken the newest, such as those of other
  /// contexts: they must not cause another look at all objects with each save.
  mutating func adjustLimit() {
    forgetUnused()
    limit = max(Self.usualLimit, 2 * versions.count)
  }

  private mutating func forgetUnused() { versions.removeAll { $0.group == nil } }
}

extension ManagedObject {
  /// Makes an object without changes read from the newest version of its group, if that has the same version of its
  /// record.
  fileprivate final func readNewestIfSame() {
    guard case .read(let group) = content, let newest = binding.liveGroup(of: rowID),
      newest.versions[rowID.row] == group.versions[rowID.row]
    else { return }
    content = .read(newest)
  }
}
