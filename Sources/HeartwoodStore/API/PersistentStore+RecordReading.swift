package import HeartwoodModel

/// What the engine reads.
extension PersistentStore: RecordReading {
  package var scopes: [ObjectIDScope] { engine.scopes }
  package var readsAsNeeded: Bool { engine.readsAsNeeded }

  package func table(of entity: EntityDescription) throws -> NodeTable { try engine.table(of: entity) }
  package func count(of entity: EntityDescription) throws -> Int { try engine.count(of: entity) }

  package func knownTable(of entity: EntityDescription) throws -> (table: NodeTable, isWhole: Bool) {
    try engine.knownTable(of: entity)
  }

  package func table(of entity: EntityDescription, reading references: [ReferenceID]) throws -> NodeTable {
    try engine.table(of: entity, reading: references)
  }

  package func find(_ fetch: RecordFetch) throws -> FoundRecords? { try engine.find(fetch) }
  package func count(_ fetch: RecordFetch) throws -> Int? { try engine.count(fetch) }
  package func queryPlan(_ fetch: RecordFetch) throws -> QueryPlan.Step? { try engine.queryPlan(fetch) }
  package func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? { try engine.groups(fetch) }
  package func queryPlan(_ fetch: GroupFetch) throws -> QueryPlan.Step? { try engine.queryPlan(fetch) }

  package func newReferences(count: Int, for entity: EntityDescription) throws(PersistenceError) -> ReferenceColumn {
    try engine.newReferences(count: count, for: entity)
  }
}
