package import HeartwoodModel

/// What gives records as rows of tables: an open store's engine, and whatever stands for the store above it.
package protocol RecordReading {
  /// What object ids are made with, indexed by entity ordinal.
  var scopes: [ObjectIDScope] { get }

  /// The records of `entity` itself as they are now, safe to read, and so are those that their relationships lead to.
  func table(of entity: EntityDescription) throws -> NodeTable

  /// Whether records are read as they are needed, and not all together.
  var readsAsNeeded: Bool { get }

  /// The records of `entity` itself that have been read so far, and whether those are all: where they are not, ``find(_:)`` and
  /// ``table(of:reading:)`` read further ones, which come behind these.
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

  /// How many records of `entity` itself there are, without reading them where that can be told.
  func count(of entity: EntityDescription) throws -> Int

  /// Names for records of `entity` that a later save will insert: no others get them.
  func newReferences(count: Int, for entity: EntityDescription) throws(PersistenceError) -> ReferenceColumn
}

/// What holds where all records are read together.
extension RecordReading {
  package var readsAsNeeded: Bool { false }

  /// All records.
  package func knownTable(of entity: EntityDescription) throws -> (table: NodeTable, isWhole: Bool) {
    (try table(of: entity), true)
  }

  /// All records.
  package func table(of entity: EntityDescription, reading references: [ReferenceID]) throws -> NodeTable {
    try table(of: entity)
  }

  /// Nil: the tables are searched.
  package func find(_ fetch: RecordFetch) throws -> FoundRecords? { nil }

  /// Nil: the tables are searched.
  package func count(_ fetch: RecordFetch) throws -> Int? { nil }

  /// Nil: the tables are searched.
  package func queryPlan(_ fetch: RecordFetch) throws -> QueryPlan.Step? { nil }

  /// Nil: groups are made of the tables.
  package func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? { nil }

  /// Nil: groups are made of the tables.
  package func queryPlan(_ fetch: GroupFetch) throws -> QueryPlan.Step? { nil }
}
