import HeartwoodModel
import HeartwoodStore

extension BatchPass {
  /// Lets a store change or delete the records itself, without reading them; tells whether it did.
  func leave(
    _ action: RecordBatch.Action,
    to store: PersistentStore,
    _ predicate: FetchPredicate?,
    _ plan: PlanPredicate?,
    in entities: [EntityDescription],
    _ needsIDs: Bool,
    _ result: inout BatchResult
  ) throws -> Bool {
    guard store.engine.readsAsNeeded, !model.hasDerivedAttributes else { return false }
    let records = kept(entities, by: store).map { entity in
      RecordFetch(entity: entity, predicate: predicate, sortDescriptors: [], plan: plan, sorts: [])
    }
    let log = coordinator.log(.savedBatch)
    let batch = RecordBatch(action, of: records, tellsReferences: needsIDs)
    guard let done = try store.engine.execute(batch) else { return false }
    log?.tell(store, count: done.count)
    result.count += done.count
    let (ids, bereaved) = (Self.ids(done.references, in: store), Self.ids(done.bereaved, in: store))
    switch action {
    case .update:
      result.updatedObjectIDs.formUnion(ids)
      result.changes.records.updated.formUnion(ids)
    case .delete:
      result.changes.records.deleted.formUnion(ids)
      result.changes.records.updated.formUnion(bereaved)
    }
    return true
  }

  private static func ids(_ references: [Int: [ReferenceID]], in store: PersistentStore) -> Set<ManagedObjectID> {
    let scopes = store.engine.scopes
    return references.reduce(into: []) { ids, references in
      ids.formUnion(references.value.lazy.map { ManagedObjectID(scope: scopes[references.key], reference: $0) })
    }
  }
}

extension BatchAssignment {
  /// Whether a constant fits its attribute in all records of an entity; what is computed is looked at where it is.
  func fits(_ entity: EntityDescription) -> Bool {
    guard let constant = expression.constant else { return true }
    guard let value = constant.scalar.converted(to: type) else { return false }
    let id = ManagedObjectID.temporary(in: ObjectIDScope(storeIdentifier: nil, entity: entity))
    return RecordValidation.faults(in: value, at: ordinal, of: id).isEmpty
  }
}
