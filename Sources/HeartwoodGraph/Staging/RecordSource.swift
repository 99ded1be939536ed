import HeartwoodModel
import HeartwoodStore

/// Where a context reads records from and saves them to: an open store, or a store as a parent context would leave it.
protocol RecordSource: AnyObject, Sendable {
  /// The open store whose records these are in the end.
  var store: PersistentStore { get }
  /// What object ids are made with, indexed by entity ordinal.
  var scopes: [ObjectIDScope] { get }
  /// Grows with each change of the records. Read it first and a table after it: that is as this change left it, or newer.
  var changeNumber: UInt64 { get }

  /// The records of `entity` itself as they are now, safe to read.
  func table(of entity: EntityDescription) throws -> NodeTable

  /// Whether records are read as they are needed, and not all together.
  var readsAsNeeded: Bool { get }

  /// The records of `entity` itself that have been read so far, and whether those are all.
  func knownTable(of entity: EntityDescription) throws -> (table: NodeTable, isWhole: Bool)

  /// The records that have been read so far, with those that `references` name.
  func table(of entity: EntityDescription, reading references: [ReferenceID]) throws -> NodeTable

  /// What a fetch finds, where the store itself can tell and has not been read wholly; nil otherwise.
  func find(_ fetch: RecordFetch) throws -> FoundRecords?

  /// How many records a fetch finds; nil as with ``find(_:)``.
  func count(_ fetch: RecordFetch) throws -> Int?

  /// How the store would find them; nil as with ``find(_:)``.
  func queryPlan(_ fetch: RecordFetch) throws -> QueryPlan.Step?

  /// The groups that records make, where the store itself can make them and has not been read wholly; nil otherwise.
  func groups(_ fetch: GroupFetch) throws -> [RecordGroup]?

  /// How the store would make them; nil as with ``groups(_:)``.
  func queryPlan(_ fetch: GroupFetch) throws -> QueryPlan.Step?

  /// How many records of `entity` itself there are.
  func count(of entity: EntityDescription) throws -> Int

  /// Names for records of `entity` that will be inserted: no others get them.
  func newReferences(count: Int, for entity: EntityDescription) throws(PersistenceError) -> ReferenceColumn

  /// Takes all changes or none. The number of the commit is the ``changeNumber`` that it led to.
  ///
  /// - Parameter origin: who saves. What goes to a parent is told as the parent's own, when that is saved.
  func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoreCommit
}

extension RecordSource {
  var readsAsNeeded: Bool { false }

  /// All records: where they are put together from several sources, they are read before.
  func knownTable(of entity: EntityDescription) throws -> (table: NodeTable, isWhole: Bool) {
    (try table(of: entity), true)
  }

  func table(of entity: EntityDescription, reading references: [ReferenceID]) throws -> NodeTable {
    try table(of: entity)
  }

  func find(_ fetch: RecordFetch) throws -> FoundRecords? { nil }
  func count(_ fetch: RecordFetch) throws -> Int? { nil }
  func queryPlan(_ fetch: RecordFetch) throws -> QueryPlan.Step? { nil }
  func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? { nil }
  func queryPlan(_ fetch: GroupFetch) throws -> QueryPlan.Step? { nil }
}

extension PersistentStore: RecordSource {
  var store: PersistentStore { self }
  var scopes: [ObjectIDScope] { engine.scopes }
  var changeNumber: UInt64 { engine.saves.current }
  var readsAsNeeded: Bool { engine.readsAsNeeded }

  func table(of entity: EntityDescription) throws -> NodeTable { try engine.table(of: entity) }
  func count(of entity: EntityDescription) throws -> Int { try engine.count(of: entity) }

  func knownTable(of entity: EntityDescription) throws -> (table: NodeTable, isWhole: Bool) {
    try engine.knownTable(of: entity)
  }

  func table(of entity: EntityDescription, reading references: [ReferenceID]) throws -> NodeTable {
    try engine.table(of: entity, reading: references)
  }

  func find(_ fetch: RecordFetch) throws -> FoundRecords? { try engine.find(fetch) }
  func count(_ fetch: RecordFetch) throws -> Int? { try engine.count(fetch) }
  func queryPlan(_ fetch: RecordFetch) throws -> QueryPlan.Step? { try engine.queryPlan(fetch) }
  func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? { try engine.groups(fetch) }
  func queryPlan(_ fetch: GroupFetch) throws -> QueryPlan.Step? { try engine.queryPlan(fetch) }

  func newReferences(count: Int, for entity: EntityDescription) throws(PersistenceError) -> ReferenceColumn {
    try engine.newReferences(count: count, for: entity)
  }

  func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoreCommit {
    try engine.save(changes, origin: origin)
  }
}
