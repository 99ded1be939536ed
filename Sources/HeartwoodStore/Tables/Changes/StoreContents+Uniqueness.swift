import HeartwoodModel

extension StoreContents {
  /// The records that have values which must be unique and which a record before them has, up to `limit`, constraint by constraint. O(records)
  /// for each.
  package func constraintConflicts(limit: Int) -> [ConstraintConflict] {
    var conflicts: [ConstraintConflict] = []
    for constraint in UniqueConstraint.all(of: model) {
      guard conflicts.count < limit else { break }
      conflicts += self.conflicts(constraint, limit: limit - conflicts.count)
    }
    return conflicts
  }

  private func conflicts(_ constraint: UniqueConstraint, limit: Int) -> [ConstraintConflict] {
    var conflicts: [ConstraintConflict] = []
    var index = UniqueIndex()
    index.reserve(constraint.entityOrdinals.reduce(0) { $0 + tables[$1].count })
    for ordinal in constraint.entityOrdinals {
      for row in tables[ordinal].liveRows {
        guard let key = constraint.key(row, of: tables[ordinal]) else { continue }
        let (record, hash) = (UniqueRow(entityOrdinal: ordinal, row: row), UniqueConstraint.hash(key))
        let isSame = { (other: UniqueRow) in constraint.key(other.row, of: tables[Int(other.entityOrdinal)]) == key }
        guard let other = index.first(hash, where: isSame) else {
          index.insert(record, hash) { _ in false }
          continue
        }
        let (id, otherID) = (objectID(of: record), objectID(of: other))
        conflicts.append(
          ConstraintConflict(constraint: constraint.names, objectID: id, conflictingID: otherID, isStored: true)
        )
        if conflicts.count == limit { return conflicts }
      }
    }
    return conflicts
  }

  func objectID(of row: UniqueRow) -> ManagedObjectID {
    let table = tables[Int(row.entityOrdinal)]
    return objectID(table.reference(row.row), of: table.entity)
  }
}
