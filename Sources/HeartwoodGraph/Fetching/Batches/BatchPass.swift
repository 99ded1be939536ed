import HeartwoodModel
import HeartwoodStore

/// Keeps records in their rows until a batch is done.
private final class KeptRows {
  var keepers: [RowKeeper] = []
}

/// Executes one batch request on the stores of a coordinator.
struct BatchPass {
  let coordinator: PersistentStoreCoordinator
  let origin: SaveOrigin
  /// The policy that resolves constraint conflicts of new records.
  let mergePolicy: MergePolicy
  /// The changes refer to rows.
  private let kept = KeptRows()
  var model: ManagedObjectModel { coordinator.managedObjectModel }

  init(_ coordinator: PersistentStoreCoordinator, _ origin: SaveOrigin, _ mergePolicy: MergePolicy = .error) {
    self.coordinator = coordinator
    self.origin = origin
    self.mergePolicy = mergePolicy
  }

  /// The number of attempts to execute a batch if other saves come between.
  private static let mostAttempts = 10

  /// Saves the changes that `changes` returns for the store's current records, with the derived attributes. It tries
  /// again if another save comes between.
  ///
  /// - Parameter resolve: resolves a constraint conflict for the next attempt, or throws.
  func save(
    to store: PersistentStore,
    _ result: inout BatchResult,
    resolve: (PersistenceError) throws -> Void = { throw $0 },
    changes: () throws -> (ChangeSet, BatchResult)
  ) throws {
    for attempt in 1...Self.mostAttempts {
      var (set, added) = try changes()
      if set.isEmpty { return }
      do {
        try coordinator.logging(.savedBatch, storeType: store.type) { log in
          try derive(from: &set, in: store, &added)
          _ = try store.engine.save(set, origin: origin)
          log?.tell(store, count: added.count)
        }
      } catch let error as PersistenceError where error.code == .saveConflict && attempt < Self.mostAttempts {
        continue
      } catch let error as PersistenceError where error.code == .constraintConflict && attempt < Self.mostAttempts {
        try resolve(error)
        continue
      }
      result.count += added.count
      result.changes.append(added.changes)
      result.updatedObjectIDs.formUnion(added.updatedObjectIDs)
      return
    }
  }

  /// Adds the derived attributes that a batch affects to its changes.
  private func derive(from changes: inout ChangeSet, in store: PersistentStore, _ result: inout BatchResult) throws {
    guard let derived = try coordinator.derivedAttributes(),
      changes.writtenEntityOrdinals.contains(where: { derived.depend(on: model.entities[$0]) })
    else { return }
    let derivation = try BatchDerivation.deriving(derived, changes, in: store, model)
    changes = derivation.changes
    if !result.changes.isEmpty { result.changes.records.updated.formUnion(derivation.updatedObjectIDs) }
  }

  /// Executes a batch in one store after the other. Observers are notified of what was done even if a later store
  /// fails.
  private func inEach(
    _ stores: [PersistentStore],
    _ type: BatchResultType,
    _ body: (PersistentStore, inout BatchResult) throws -> Void
  ) throws -> BatchResult {
    var result = BatchResult()
    do {
      for store in stores { try body(store, &result) }
    } catch {
      tell(result)
      throw error
    }
    return finish(result, type)
  }

  private func tell(_ result: BatchResult) {
    if !result.changes.isEmpty { coordinator.saveBroadcast.send(result.changes) }
  }

  /// Notifies observers, and returns the result.
  func finish(_ result: BatchResult, _ type: BatchResultType) -> BatchResult {
    tell(result)
    if type == .objectIDs { return result }
    var told = BatchResult()
    told.count = result.count
    return told
  }

  /// Returns whether ids are needed, for the result or for observers.
  func needsIDs(_ type: BatchResultType) -> Bool { type == .objectIDs || coordinator.saveBroadcast.isHeard }

  /// Returns the entity of a batch, after looking for saves of other processes in the stores.
  func entity(named name: String) throws(PersistenceError) -> EntityDescription {
    if kept.keepers.isEmpty {
      try coordinator.followOthers()
      keepRows()
    }
    return try model.knownEntity(named: name)
  }

  private func keepRows() { kept.keepers = coordinator.keepRows() }

  /// Returns the stores that may have records of one of `entities`.
  func stores(
    _ affected: [PersistentStore]?,
    keeping entities: [EntityDescription]
  ) throws(PersistenceError) -> [PersistentStore] {
    let chosen = try affected.map(coordinator.openStores)
    if chosen == nil {
      for entity in entities where !entity.isAbstract { _ = try coordinator.storesToRead(keeping: entity) }
    }
    return coordinator.persistentStores.filter { store in
      (chosen?.contains { $0 === store } ?? true)
        && store.entities.contains { kept in entities.contains { $0 === kept } }
    }
  }

  /// Returns all records of a store.
  func tables(of store: PersistentStore) throws -> QueryTables {
    let kept = Set(store.entities.map(\.ordinal))
    return QueryTables(
      tables: try model.entities.map { kept.contains($0.ordinal) ? try store.engine.table(of: $0) : nil },
      scopes: store.engine.scopes
    )
  }

  /// Returns the records of entities that a batch affects: as found by the store, if it can find them; otherwise by
  /// searching all.
  ///
  /// - Parameter others: the entities, by ordinal, whose records are read for the found records.
  private func choice(
    from store: PersistentStore,
    where predicate: FetchPredicate?,
    _ plan: CompiledPredicate?,
    in entities: [EntityDescription],
    following others: Set<Int> = []
  ) throws -> BatchChoice {
    let entities = kept(entities, by: store)
    if others.isEmpty {
      var parts: [BatchChoice.Part] = []
      for entity in entities {
        if let part = try part(of: entity, from: store, where: predicate, plan) { parts.append(part) }
      }
      if parts.count == entities.count { return BatchChoice(parts, scopes: store.engine.scopes, model) }
    }
    let tables = try tables(of: store)
    let queries = entities.compactMap { tables.table($0.ordinal) }.map { TableQuery(tables, $0, where: plan) }
    return BatchChoice(tables: tables, queries: queries)
  }

  /// Returns the affected records of one entity; nil if other records have to be read to find them.
  private func part(
    of entity: EntityDescription,
    from store: PersistentStore,
    where predicate: FetchPredicate?,
    _ plan: CompiledPredicate?
  ) throws -> BatchChoice.Part? {
    guard let plan else { return .all(try store.engine.table(of: entity)) }
    let fetch = fetch(entity, where: predicate, plan)
    if let found = try store.engine.find(fetch) { return .found(found) }
    return plan.destinationOrdinals.isEmpty ? .matching(plan, try store.engine.table(of: entity)) : nil
  }

  private func fetch(
    _ entity: EntityDescription,
    where predicate: FetchPredicate?,
    _ plan: CompiledPredicate?
  ) -> RecordFetch {
    RecordFetch(
      entity: entity,
      predicate: predicate,
      sortDescriptors: [],
      compiledPredicate: plan,
      compiledSorts: []
    )
  }

  /// Returns those of `entities` whose records a store keeps.
  func kept(_ entities: [EntityDescription], by store: PersistentStore) -> [EntityDescription] {
    entities.filter { entity in store.entities.contains { $0 === entity } }
  }

  func concreteEntities(_ entity: EntityDescription, includingSubentities: Bool) -> [EntityDescription] {
    (includingSubentities ? model.concreteEntities(under: entity) : [entity]).filter { !$0.isAbstract }
  }
}

// MARK: Updates

extension BatchPass {
  func update(_ request: BatchUpdateRequest) throws -> BatchResult {
    let entity = try entity(named: request.entityName)
    let plan = try request.predicate.map { try PredicateCompiler.compile($0, for: entity, in: model) }
    let assignments = try request.propertiesToUpdate.sorted { $0.key < $1.key }.map {
      try assignment($0.key, $0.value, entity)
    }
    let entities = concreteEntities(entity, includingSubentities: request.includesSubentities)
    if assignments.isEmpty { return BatchResult() }
    let needsIDs = needsIDs(request.resultType)
    let others = assignments.reduce(into: Set<Int>()) { $0.formUnion($1.expression.destinationOrdinals) }
    let fits = entities.allSatisfy { entity in assignments.allSatisfy { $0.fits(entity) } }
    return try inEach(stores(request.affectedStores, keeping: entities), request.resultType) { store, result in
      if fits, try leave(.update(assignments), to: store, request.predicate, plan, in: entities, needsIDs, &result) {
        return
      }
      try save(to: store, &result) {
        let choice = try choice(from: store, where: request.predicate, plan, in: entities, following: others)
        return try updates(of: choice, assignments, needsIDs)
      }
    }
  }

  private func assignment(
    _ name: String,
    _ expression: FetchExpression,
    _ entity: EntityDescription
  ) throws -> BatchAssignment {
    guard let ordinal = entity.ordinal(ofProperty: name) else {
      throw PersistenceError(
        .propertyUnknown,
        "The entity has no such property to update.",
        context: .init(entity: entity.name, property: name)
      )
    }
    guard let type = entity.traits[ordinal].attributeType, !entity.traits[ordinal].isTransient else {
      throw PersistenceError(
        .valueUnsupported,
        "A batch updates attributes that stores keep.",
        recovery: "Fetch the objects to change relationships.",
        context: .init(entity: entity.name, property: name)
      )
    }
    let plan = try PredicateCompiler.compile(expression, for: type, of: entity, in: model)
    return BatchAssignment(ordinal: ordinal, type: type, expression: plan)
  }

  private func updates(
    of choice: BatchChoice,
    _ assignments: [BatchAssignment],
    _ needsIDs: Bool
  ) throws -> (ChangeSet, BatchResult) {
    var columns = ColumnChanges(scopes: choice.tables.scopes)
    var result = BatchResult()
    for query in choice.queries {
      let updates = try query.updates(assignments)
      if updates.groups.isEmpty { continue }
      columns.updates.append(updates)
      for group in updates.groups {
        result.count += group.rows.count
        if !needsIDs { continue }
        let scope = choice.tables.scopes[updates.entity.ordinal]
        let ids = group.rows.map { ManagedObjectID(scope: scope, reference: group.base.reference(Int($0))) }
        result.updatedObjectIDs.formUnion(ids)
      }
    }
    result.changes.records.updated = result.updatedObjectIDs
    return (ChangeSet(byColumn: columns), result)
  }
}

// MARK: Deletions

extension BatchPass {
  func delete(_ request: BatchDeleteRequest) throws -> BatchResult {
    let needsIDs = needsIDs(request.resultType)
    switch request.choice {
    case .matching(let name, let predicate):
      let entity = try entity(named: name)
      let plan = try predicate.map { try PredicateCompiler.compile($0, for: entity, in: model) }
      let entities = concreteEntities(entity, includingSubentities: request.includesSubentities)
      return try inEach(stores(request.affectedStores, keeping: entities), request.resultType) { store, result in
        if try leave(.delete, to: store, predicate, plan, in: entities, needsIDs, &result) { return }
        try save(to: store, &result) {
          let choice = try choice(from: store, where: predicate, plan, in: entities)
          return try deletion(of: choice.rows, from: store, needsIDs)
        }
      }
    case .objects(let ids):
      try coordinator.checkNotClosed()
      keepRows()
      return try inEach(stores(request.affectedStores, keeping: model.entities), request.resultType) { store, result in
        try save(to: store, &result) { try deletion(of: try rows(of: ids, in: store), from: store, needsIDs) }
      }
    }
  }

  /// Returns the rows of those of the records that exist, by entity ordinal.
  private func rows(of ids: [ManagedObjectID], in store: PersistentStore) throws -> [Int: [RowID]] {
    let own = ids.filter {
      $0.storeIdentifier == store.identifier && model.entities.indices.contains($0.entity.ordinal)
    }
    var rows: [Int: [RowID]] = [:]
    for (ordinal, ids) in Dictionary(grouping: own, by: \.entity.ordinal) {
      guard let entity = store.entities.first(where: { $0.ordinal == ordinal }) else { continue }
      let references = ids.map(\.reference)
      let table = try store.engine.table(of: entity, reading: references)
      rows[ordinal] = try references.compactMap { try table.row(of: $0) }
    }
    return rows
  }

  /// - Parameter rows: the deleted rows, by entity ordinal.
  private func deletion(
    of rows: [Int: [RowID]],
    from store: PersistentStore,
    _ needsIDs: Bool
  ) throws -> (ChangeSet, BatchResult) {
    let tables = try tables(of: store, reachedFrom: rows)
    var deletion = BatchDeletion(model: model, tables: tables)
    for (ordinal, rows) in rows.sorted(by: { $0.key < $1.key }) { deletion.add(rows, entityOrdinal: ordinal) }
    let changes = try deletion.changes()
    var result = BatchResult()
    result.count = deletion.count
    if needsIDs {
      result.changes.records.deleted = Set(deletion.objectIDs)
      result.changes.records.updated = Set(changes.byRecord.updated.map(\.objectID))
    }
    return (changes, result)
  }
}

// MARK: Leaving

extension BatchPass {
  /// Makes a store change or delete the records itself, without reading them; returns whether it did.
  func leave(
    _ action: RecordBatch.Action,
    to store: PersistentStore,
    _ predicate: FetchPredicate?,
    _ plan: CompiledPredicate?,
    in entities: [EntityDescription],
    _ needsIDs: Bool,
    _ result: inout BatchResult
  ) throws -> Bool {
    guard store.engine.readsAsNeeded, try !mayDerive(action, in: entities) else { return false }
    let records = kept(entities, by: store).map { fetch($0, where: predicate, plan) }
    let batch = RecordBatch(action, of: records, needsReferences: needsIDs)
    let executed = try coordinator.logging(.savedBatch, storeType: store.type) { log in
      let done = try store.engine.execute(batch, origin: origin)
      // Otherwise the framework does it, in operations of its own.
      if let done { log?.tell(store, count: done.count) } else { log?.abandon() }
      return done
    }
    guard let done = executed else { return false }
    result.count += done.count
    let (ids, unlinked) = (Self.ids(done.references, in: store), Self.ids(done.unlinkedReferences, in: store))
    switch action {
    case .update:
      result.updatedObjectIDs.formUnion(ids)
      result.changes.records.updated.formUnion(ids)
    case .delete:
      result.changes.records.deleted.formUnion(ids)
      result.changes.records.updated.formUnion(unlinked)
    }
    return true
  }

  /// Returns whether derived attributes may change with the records, so that these have to be read.
  private func mayDerive(_ action: RecordBatch.Action, in entities: [EntityDescription]) throws -> Bool {
    guard let derived = try coordinator.derivedAttributes() else { return false }
    switch action {
    case .update(let assignments):
      let ordinals = Set(assignments.map(\.ordinal))
      return entities.contains { derived.depend(on: $0, at: ordinals) }
    // It changes the relationships of other records.
    case .delete: return true
    }
  }

  private static func ids(_ references: [Int: [ReferenceID]], in store: PersistentStore) -> Set<ManagedObjectID> {
    let scopes = store.engine.scopes
    return references.reduce(into: []) { ids, references in
      ids.formUnion(references.value.lazy.map { ManagedObjectID(scope: scopes[references.key], reference: $0) })
    }
  }
}

extension BatchAssignment {
  /// Returns whether a constant fits its attribute in all records of an entity. Computed values are checked when they
  /// are written.
  func fits(_ entity: EntityDescription) -> Bool {
    guard let constant = expression.constant else { return true }
    guard let value = constant.scalar.converted(to: type) else { return false }
    let id = ManagedObjectID.temporary(in: ObjectIDScope(storeIdentifier: nil, entity: entity))
    return RecordValidation.faults(in: value, at: ordinal, of: id).isEmpty
  }
}
