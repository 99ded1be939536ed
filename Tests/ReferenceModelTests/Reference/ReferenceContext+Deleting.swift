import HeartwoodModel

extension ReferenceContext {
  /// Deletes an object and follows its delete rules.
  ///
  /// - Parameter takingNewest: whether the objects that are told of it take the newest values first.
  func delete(_ key: Key, takingNewest: Bool = false) {
    guard let object = object(key), !object.isDeleted else { return }
    markDeleted(key)
    let cascade = object.entity.relationships.flatMap { relationship in
      follow(relationship, of: key, to: object.keys(relationship.name), takingNewest: takingNewest)
    }
    for other in cascade { delete(other, takingNewest: takingNewest) }
  }

  /// Does with `others` what a relationship of an object that is deleted says.
  ///
  /// - Returns: those that are to be deleted too.
  func follow(_ relationship: RelationshipDescription, of key: Key, to others: [Key], takingNewest: Bool) -> [Key] {
    if relationship.deleteRule == .noAction || relationship.deleteRule == .deny { return [] }
    if takingNewest { others.forEach(takeNewest) }
    if relationship.deleteRule == .cascade {
      guard takingNewest, let inverse = relationship.inverseName else { return others }
      // What leads elsewhere by now stays.
      return others.filter { object($0)?.keys(inverse).contains(key) == true }
    }
    if let inverse = relationship.inverseName {
      for other in others { unlink(other, inverse, from: key) }
    }
    return []
  }
}
