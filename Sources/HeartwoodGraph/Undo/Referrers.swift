import HeartwoodModel
import HeartwoodStore

/// Finds the objects that refer to others by ids which these no longer have.
struct Referrers {
  private let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) {
    self.context = context
  }

  /// Returns the objects that refer to those of `renamed`, whose keys are the former ids. O(records of the entities
  /// that have relationships without an inverse to them).
  func objects(leadingTo renamed: [ManagedObjectID: ManagedObject]) -> Set<ManagedObject> {
    if renamed.isEmpty { return [] }
    var found = inverses(of: renamed)
    for entity in context.persistentStoreCoordinator.managedObjectModel.entities where !entity.isAbstract {
      let ordinals = oneSidedOrdinals(of: entity, leadingTo: renamed)
      if !ordinals.isEmpty { found.formUnion(objects(of: entity, leadingTo: renamed, by: ordinals)) }
    }
    return found
  }
}

// MARK: With an inverse

extension Referrers {
  private func inverses(of renamed: [ManagedObjectID: ManagedObject]) -> Set<ManagedObject> {
    var found: Set<ManagedObject> = []
    for (oldID, object) in renamed {
      for (ordinal, trait) in object.binding.traits.enumerated() {
        guard let inverse = trait.inverseOrdinal else { continue }
        for other in context.present(object.value(at: ordinal).objectIDs, from: object, ordinal)
        where other.isPresent && other.leads(inverse, to: oldID) {
          found.insert(other)
        }
      }
    }
    return found
  }
}

// MARK: Without an inverse

extension Referrers {
  private func oneSidedOrdinals(
    of entity: EntityDescription,
    leadingTo renamed: [ManagedObjectID: ManagedObject]
  ) -> [Int] {
    let entities = context.persistentStoreCoordinator.managedObjectModel.entities
    return entity.relationshipTargets.indices.filter { ordinal in
      guard let target = entity.relationshipTargets[ordinal], target.inverseOrdinal == nil else { return false }
      return renamed.values.contains { $0.entity.isKind(of: entities[target.entityOrdinal]) }
    }
  }

  private func objects(
    of entity: EntityDescription,
    leadingTo renamed: [ManagedObjectID: ManagedObject],
    by ordinals: [Int]
  ) -> [ManagedObject] {
    var candidates = context.pending.inserted.objects.filter { $0.entity === entity }
    for store in context.stores(keeping: entity) {
      let binding = context.binding(for: entity, in: store)
      do {
        try binding.synchronize()
        try binding.readWhole()
      } catch {
        // References by the former ids would have no destination.
        context.postpone(.referrers(renamed), .unreadable(Array(renamed.keys), error))
        continue
      }
      candidates += binding.registeredObjects.filter { !$0.isFault }
      candidates += binding.rows(leadingTo: renamed, by: ordinals).map { binding.object($0) }
    }
    return candidates.filter { object in
      object.isPresent && ordinals.contains { object.value(at: $0).objectIDs.contains { renamed[$0] != nil } }
    }
  }
}

extension EntityBinding {
  /// Returns the rows of the records with relationships at `ordinals` that refer to one of `ids`.
  fileprivate func rows(leadingTo ids: [ManagedObjectID: ManagedObject], by ordinals: [Int]) -> [RowID] {
    table.liveRows.filter { row in
      ordinals.contains { ordinal in
        let value = table.groups[row.group].value(row: row.row, ordinal: ordinal, type: nil, scopes: scopes)
        return value.objectIDs.contains { ids[$0] != nil }
      }
    }
  }
}
