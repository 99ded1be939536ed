/// Uniqueness constraints that name what no store holds unique, as models from elsewhere have them.
extension [EntityDefinition] {
  /// Marks every entity with a uniqueness constraint that names a relationship or a transient attribute, and says where they are.
  ///
  /// - Returns: The ordinal of the entity and the place among its constraints, for each such constraint. O(n).
  package mutating func markUnenforcedConstraints() -> [(entity: Int, index: Int)] {
    let index = DefinitionIndex(self)
    var marked: [(entity: Int, index: Int)] = []
    for entity in indices {
      for (place, names) in self[entity].uniquenessConstraints.enumerated() {
        let properties = names.compactMap { index.place(ofProperty: $0, in: entity) }.map(index.property(at:))
        guard properties.contains(where: { $0.attribute?.isTransient ?? true }) else { continue }
        marked.append((entity, place))
      }
    }
    for place in marked { self[place.entity].hasUnenforcedConstraints = true }
    return marked
  }
}
