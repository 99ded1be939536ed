extension ManagedObjectModel {
  /// `entity` and all entities to whose objects relationships lead from it, at any distance, subentities included.
  package func entitiesReachable(from entity: EntityDescription) -> [EntityDescription] {
    var seen: Set<Int> = [entity.ordinal]
    var pending = [entity.ordinal]
    while let ordinal = pending.popLast() {
      for target in entities[ordinal].relationshipTargets.compactMap(\.self) {
        for next in [target.entityOrdinal] + entities[target.entityOrdinal].subentityOrdinals
        where seen.insert(next).inserted {
          pending.append(next)
        }
      }
    }
    return seen.sorted().map { entities[$0] }
  }
}
