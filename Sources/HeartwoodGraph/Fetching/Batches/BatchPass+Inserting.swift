import HeartwoodModel
import HeartwoodStore

extension BatchPass {
  func insert(_ request: BatchInsertRequest) throws -> BatchResult {
    let entity = try entity(named: request.entityName)
    guard !entity.isAbstract else {
      throw PersistenceError(
        .entityUnknown,
        "The entity is abstract.",
        recovery: "Insert records of one of its subentities.",
        context: .init(entity: entity.name)
      )
    }
    let store = try request.affectedStore ?? coordinator.storeForNewObjects(of: entity)
    guard coordinator.isOpen(store) else { throw PersistentStoreCoordinator.notOpen(store.path) }
    let rows = try insertedRows(of: entity, in: store, request.fill)
    if rows.count == 0 { return BatchResult() }
    var upsert = BatchUpsert(rows, mergePolicy, scopes: store.engine.scopes)
    let needsIDs = needsIDs(request.resultType)
    var result = BatchResult()
    try save(to: store, &result) { conflict in
      try upsert.resolve(conflict)
    } changes: {
      try insertion(upsert, in: store, needsIDs)
    }
    return finish(result, request.resultType)
  }

  private func insertion(
    _ upsert: BatchUpsert,
    in store: PersistentStore,
    _ needsIDs: Bool
  ) throws -> (ChangeSet, BatchResult) {
    let tables = try tables(of: store, lookedAtBy: upsert)
    let updates = try upsert.recordUpdates(in: tables)
    let links = try InverseLinks(upsert.rows, updates, tables)
    let insertions = upsert.rows.count == 0 ? [] : [upsert.rows]
    var result = BatchResult()
    result.count = upsert.rows.count + updates.count
    if needsIDs {
      result.changes.records.inserted = Set(upsert.rows.ids(in: tables.scopes[upsert.rows.entity.ordinal]))
      result.updatedObjectIDs = Set(updates.map(\.objectID))
      result.changes.records.updated = result.updatedObjectIDs.union(links.updates.map(\.objectID))
    }
    let changes = ChangeSet(
      byColumn: ColumnChanges(insertions: insertions, scopes: tables.scopes),
      byRecord: RecordChanges(updated: updates + links.updates)
    )
    return (changes, result)
  }

  private func insertedRows(
    of entity: EntityDescription,
    in store: PersistentStore,
    _ fill: (inout BatchRow) throws -> Bool
  ) throws -> InsertedRows {
    var insertion = BatchInsertion(entity: entity) { count throws(PersistenceError) in
      try store.engine.newReferences(count: count, for: entity)
    }
    let empty = BatchRow(entity: entity)
    let toOnes = entity.traits.indices.filter { entity.traits[$0].isToOne && !entity.traits[$0].isTransient }
    let screen = ValueScreen(entity)
    // What is derived is checked once it has been.
    let derivedNames = Set(entity.attributes.filter { $0.derivationExpression != nil }.map(\.name))
    let temporary = ObjectIDScope(storeIdentifier: nil, entity: entity)
    var faults = BatchFaults()
    while true {
      var row = empty
      guard try fill(&row) else { break }
      if let failure = row.failure { throw failure }
      for ordinal in toOnes { try check(row.values[ordinal], ordinal, entity, store) }
      if screen.hasRules
        || zip(row.values, entity.traits).contains(where: { !$1.isTransient && ValueScreen.isSuspect($0, $1) })
      {
        let found = RecordValidation.faults(in: row.values, of: .temporary(in: temporary))
        faults.append(found.filter { !derivedNames.contains($0.property) })
      }
      try insertion.append(row.values)
    }
    try faults.check()
    return try insertion.sealed()
  }
}

extension BatchPass {
  /// Whether a relationship leads to a record of the same store, and of the right entity.
  private func check(
    _ value: PropertyValue,
    _ ordinal: Int,
    _ entity: EntityDescription,
    _ store: PersistentStore
  ) throws(PersistenceError) {
    guard case .toOne(let id) = value, let target = entity.relationshipTargets[ordinal] else { return }
    let context = PersistenceError.Context(
      entity: entity.name,
      property: entity.properties[ordinal].name,
      objectIDs: [id]
    )
    guard id.storeIdentifier == store.identifier else { throw .danglingReference(id, context: context) }
    let destination = model.entities[target.entityOrdinal]
    if id.entity.isKind(of: destination) { return }
    throw PersistenceError(
      .valueTypeMismatch,
      "A relationship to \(destination.name) leads to an object of \(id.entity.name).",
      context: context
    )
  }
}

extension InsertedRows {
  fileprivate func ids(in scope: ObjectIDScope) -> [ManagedObjectID] {
    groups.flatMap { group in
      (0..<group.rowCount).map { ManagedObjectID(scope: scope, reference: group.reference($0)) }
    }
  }
}
