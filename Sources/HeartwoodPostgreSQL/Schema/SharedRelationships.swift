import HeartwoodModel
import HeartwoodStore

extension PostgreSQLSchema {
  /// Returns the relationship that is stored in the same place as a to-many relationship; nil if there is none.
  func sharedInverse(_ entity: EntityDescription, _ ordinal: Int) throws(PersistenceError) -> RelationshipSide? {
    guard keeps(entity), let target = entity.relationshipTargets[ordinal], let inverse = target.inverseOrdinal else {
      return nil
    }
    let placement = try self.placement(of: entity)
    let destination = try self.placement(of: model.entities[target.entityOrdinal])
    let isShared =
      switch (placement.properties[ordinal], destination.properties[inverse]) {
      case (.toMany(let place), .toOne(let other)): place.column == other.column
      case (.join(let place), .join(let other)): place.table == other.table
      default: false
      }
    return isShared ? RelationshipSide(destination.entity, inverse) : nil
  }

  /// Whether records of any entity may refer to those of `entity` without an inverse relationship.
  func isReferredToWithoutInverse(_ entity: EntityDescription) -> Bool {
    model.entities.contains { owner in
      owner.relationshipTargets.enumerated().contains { ordinal, target in
        guard let target, target.inverseOrdinal == nil, !owner.properties[ordinal].isTransient else { return false }
        let destination = model.entities[target.entityOrdinal]
        return destination.isKind(of: entity) || entity.isKind(of: destination)
      }
    }
  }
}
