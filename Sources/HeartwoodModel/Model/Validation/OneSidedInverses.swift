/// Relationships whose inverse has another inverse, as models from elsewhere have them.
extension [EntityDefinition] {
  /// Marks every relationship that names an inverse which does not lead back, and says where they are.
  ///
  /// - Returns: The ordinal of the entity and the place among its own properties, for each that was marked. O(n).
  package mutating func markOneSidedInverses() -> [(entity: Int, index: Int)] {
    let index = DefinitionIndex(self)
    var marked: [(entity: Int, index: Int)] = []
    for entity in indices {
      for (place, property) in self[entity].properties.enumerated() {
        guard case .relationship(var relationship) = property,
          index.namesOneSidedInverse(relationship, of: entity)
        else { continue }
        relationship.hasOneSidedInverse = true
        self[entity].properties[place] = .relationship(relationship)
        marked.append((entity, place))
      }
    }
    return marked
  }
}
