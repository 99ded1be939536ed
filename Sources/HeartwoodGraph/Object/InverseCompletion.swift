import HeartwoodModel

/// Names inverses that only the relationship at the other end names.
struct InverseCompletion {
  private var definitions: [EntityDefinition]
  private let ordinals: [String: Int]

  init(_ definitions: [EntityDefinition]) {
    self.definitions = definitions
    ordinals = Dictionary(
      definitions.enumerated().map { ($0.element.name, $0.offset) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// The definitions, with the names of inverses on both sides.
  func completed() -> [EntityDefinition] {
    var completion = self
    for definition in definitions {
      for relationship in definition.properties.compactMap(\.relationship) where !relationship.hasOneSidedInverse {
        completion.answer(relationship, of: definition.name)
      }
    }
    return completion.definitions
  }

  /// Lets the inverse that a relationship names lead back, unless it says itself where it leads.
  private mutating func answer(_ relationship: RelationshipDescription, of entityName: String) {
    guard let inverse = relationship.inverseRelationshipName,
      let place = place(of: inverse, in: relationship.destinationEntityName),
      var other = definitions[place.entity].properties[place.property].relationship,
      other.inverseRelationshipName == nil, other.destinationEntityName == entityName
    else { return }
    other.inverseRelationshipName = relationship.name
    definitions[place.entity].properties[place.property] = .relationship(other)
  }

  /// Where an entity, or one that it inherits from, has a property.
  private func place(of property: String, in entityName: String) -> (entity: Int, property: Int)? {
    var visited: Set<Int> = []
    var current = ordinals[entityName]
    while let entity = current, visited.insert(entity).inserted {
      if let index = definitions[entity].properties.firstIndex(where: { $0.name == property }) {
        return (entity, index)
      }
      current = definitions[entity].superentityName.flatMap { ordinals[$0] }
    }
    return nil
  }
}
