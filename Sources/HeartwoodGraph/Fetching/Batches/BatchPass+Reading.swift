import HeartwoodModel
import HeartwoodStore

// What a batch looks at beside the records that it is about: of a store that reads as needed no more than that.

extension BatchPass {
  /// The records that a deletion looks at.
  func tables(of store: PersistentStore, reachedFrom rows: [Int: [RowID]]) throws -> QueryTables {
    guard store.engine.readsAsNeeded else { return try tables(of: store) }
    var reach = DeletionReach(store.engine, model)
    try reach.read(from: rows)
    return try knownTables(of: store)
  }

  /// The records that an insertion looks at.
  func tables(of store: PersistentStore, lookedAtBy upsert: BatchUpsert) throws -> QueryTables {
    if !upsert.rows.entity.hasStoredRelationships, !upsert.hasUpdates { return emptyTables(of: store) }
    guard store.engine.readsAsNeeded else { return try tables(of: store) }
    var reach = InsertionReach(store, model)
    try reach.read(for: upsert)
    return try knownTables(of: store)
  }

  /// The records of a store that have been read.
  private func knownTables(of store: PersistentStore) throws -> QueryTables {
    let kept = Set(store.entities.map(\.ordinal))
    let known = try model.entities.map { kept.contains($0.ordinal) ? try store.engine.knownTable(of: $0).table : nil }
    return QueryTables(tables: known, scopes: store.engine.scopes)
  }

  /// What a store without any record would be searched in.
  private func emptyTables(of store: PersistentStore) -> QueryTables {
    QueryTables(tables: model.entities.map { _ in nil }, scopes: store.engine.scopes)
  }
}

extension ChangeSet {
  /// The entities of the records that are written, by ordinal.
  var writtenEntityOrdinals: Set<Int> {
    var ordinals = Set(byRecord.updated.lazy.map(\.objectID.entity.ordinal))
    ordinals.formUnion(byRecord.inserted.lazy.map(\.objectID.entity.ordinal))
    ordinals.formUnion(byRecord.deleted.lazy.map(\.objectID.entity.ordinal))
    ordinals.formUnion(byColumn.insertions.map(\.entity.ordinal))
    ordinals.formUnion(byColumn.updates.map(\.entity.ordinal))
    ordinals.formUnion(byColumn.deletions.map(\.entity.ordinal))
    return ordinals
  }
}
