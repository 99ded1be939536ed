import HeartwoodModel
import HeartwoodStore

extension PostgreSQLSchema {
  /// Returns the relationships that are stored together with their inverses: each to-many relationship with the column
  /// or the table that stores it.
  func sharedRelationships() throws -> [(RelationshipSide, RelationshipSide)] {
    var pairs: [(RelationshipSide, RelationshipSide)] = []
    var seen: Set<RelationshipSide> = []
    for entity in model.entities where keeps(entity) {
      let placement = try placement(of: entity)
      for ordinal in placement.properties.indices.dropFirst(entity.superentity?.properties.count ?? 0) {
        let side = RelationshipSide(entity, ordinal)
        guard !seen.contains(side), let inverse = try sharedInverse(placement, ordinal) else { continue }
        // Both sides of a table of pairs are the same, and to-one relationships are skipped.
        seen.insert(inverse)
        pairs.append((side, inverse))
      }
    }
    return pairs
  }

  /// Returns the relationship that is stored in the same place as a to-many relationship; nil if there is none.
  private func sharedInverse(_ placement: EntityPlacement, _ ordinal: Int) throws -> RelationshipSide? {
    guard let target = placement.entity.relationshipTargets[ordinal], let inverse = target.inverseOrdinal else {
      return nil
    }
    let destination = try self.placement(of: model.entities[target.entityOrdinal])
    let isShared =
      switch (placement.properties[ordinal], destination.properties[inverse]) {
      case (.toMany(let place), .toOne(let other)): place.column == other.column
      case (.join(let place), .join(let other)): place.table == other.table
      default: false
      }
    return isShared ? RelationshipSide(destination.entity, inverse) : nil
  }
}
