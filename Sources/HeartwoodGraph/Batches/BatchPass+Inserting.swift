import HeartwoodModel
import HeartwoodStore

extension BatchPass {
  func insert(_ request: BatchInsertRequest) throws -> BatchResult {
    let entity = try entity(named: request.entityName)
    guard !entity.isAbstract else {
      throw PersistenceError(
        .entityUnknown,
        "The entity is abstract; insert records of one of its subentities.",
        context: .init(entity: entity.name)
      )
    }
    let store = try request.affectedStore ?? coordinator.storeForNewObjects(of: entity)
    guard coordinator.isOpen(store) else { throw PersistentStoreCoordinator.notOpen(store.path) }
    let rows = try insertedRows(of: entity, in: store, request.fill)
    if rows.count == 0 { return BatchResult() }
    let needsIDs = needsIDs(request.resultType)
    var result = BatchResult()
    try save(to: store, &result) {
      let links = try InverseLinks(rows, try tables(of: store))
      let columns = ColumnChanges(insertions: [rows], scopes: store.engine.scopes)
      var added = BatchResult()
      added.count = rows.count
      if needsIDs {
        added.changes.insertedObjectIDs = Set(rows.ids(in: store.engine.scopes[entity.ordinal]))
        added.changes.updatedObjectIDs = Set(links.updates.map(\.objectID))
      }
      return (ChangeSet(byColumn: columns, byRecord: RecordChanges(updated: links.updates)), added)
    }
    return finish(result, request.resultType)
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

/// What the objects have to be told that new records lead to.
private struct InverseLinks {
  /// Their to-many relationships with the new records at the end.
  private(set) var updates: [RecordUpdate] = []
  private let tables: QueryTables
  private let entity: EntityDescription
  /// The new records that lead to a record, by the ordinal of its relationship.
  private var links: [QueryTables.Subject: [Int: [ManagedObjectID]]] = [:]

  init(_ rows: InsertedRows, _ tables: QueryTables) throws {
    self.tables = tables
    entity = rows.entity
    for (ordinal, trait) in entity.traits.enumerated() where trait.isToOne && !trait.isTransient {
      for group in rows.groups { try gather(ordinal, group) }
    }
    var faults = BatchFaults()
    updates = links.compactMap { subject, additions in update(subject, additions, &faults) }
    try faults.check()
  }

  private mutating func gather(_ ordinal: Int, _ group: RowGroup) throws {
    let scope = tables.scopes[entity.ordinal]
    for row in 0..<group.rowCount {
      let value = group.value(row: row, ordinal: ordinal, type: nil, scopes: tables.scopes)
      guard case .toOne(let target) = value else { continue }
      let context = PersistenceError.Context(
        entity: entity.name,
        property: entity.properties[ordinal].name,
        objectIDs: [target]
      )
      guard let subject = tables.subject(target) else {
        throw PersistenceError.danglingReference(target, context: context)
      }
      guard let relationship = entity.relationshipTargets[ordinal], let inverse = relationship.inverseOrdinal else {
        continue
      }
      guard target.entity.traits[inverse].isToMany else {
        throw PersistenceError(
          .valueUnsupported,
          "A batch sets relationships whose inverse is a to-many one, or that have none. Insert objects for others.",
          context: context
        )
      }
      links[subject, default: [:]][inverse, default: []].append(
        ManagedObjectID(scope: scope, reference: group.reference(row))
      )
    }
  }

  private func update(
    _ subject: QueryTables.Subject,
    _ additions: [Int: [ManagedObjectID]],
    _ faults: inout BatchFaults
  ) -> RecordUpdate? {
    guard let id = tables.objectID(of: subject), let table = tables.table(subject.entityOrdinal) else { return nil }
    let values = additions.sorted { $0.key < $1.key }.map { ordinal, ids in
      (ordinal: ordinal, value: PropertyValue.toMany(tables.value(ordinal, of: subject).objectIDs + ids))
    }
    for (ordinal, value) in values { faults.append(RecordValidation.faults(in: value, at: ordinal, of: id)) }
    return RecordUpdate(objectID: id, baseVersion: table.version(subject.row), values: values)
  }
}
