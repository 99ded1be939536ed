import FoundationEssentials

/// Makes entity descriptions of definitions that have been validated: names become ordinals, properties are inherited.
struct ModelResolver {
  private let definitions: [EntityDefinition]
  private let ordinals: [String: Int]
  private let flattened: [[PropertyDescription]]

  init(definitions: [EntityDefinition]) {
    self.definitions = definitions
    let ordinals = Dictionary(
      definitions.enumerated().map { ($0.element.name, $0.offset) },
      uniquingKeysWith: { first, _ in first }
    )
    self.ordinals = ordinals
    self.flattened = definitions.map { definition in
      var chain = [definition]
      while let parent = chain.last?.superentityName, let ordinal = ordinals[parent] { chain.append(definitions[ordinal]) }
      return chain.reversed().flatMap(\.properties)
    }
  }

  func resolve() -> [EntityDescription] {
    var resolved: [EntityDescription?] = Array(repeating: nil, count: definitions.count)
    for ordinal in definitions.indices { _ = entity(ordinal, in: &resolved) }
    return resolved.compactMap(\.self)
  }

  /// The entity at `ordinal`, made after its superentity.
  private func entity(_ ordinal: Int, in resolved: inout [EntityDescription?]) -> EntityDescription {
    if let entity = resolved[ordinal] { return entity }
    let definition = definitions[ordinal]
    let superentity = definition.superentityName.flatMap { ordinals[$0] }.map { entity($0, in: &resolved) }
    let properties = flattened[ordinal]
    let entity = EntityDescription(
      definition: definition,
      ordinal: ordinal,
      superentity: superentity,
      subentityOrdinals: definitions.indices.filter { $0 != ordinal && inherits($0, from: ordinal) },
      properties: properties,
      relationshipTargets: properties.map { $0.relationship.flatMap(target) },
      versionHash: VersionHash.entity(definition, properties: properties, superentityHash: superentity?.versionHash)
    )
    resolved[ordinal] = entity
    return entity
  }

  private func inherits(_ ordinal: Int, from ancestor: Int) -> Bool {
    var current: Int? = ordinal
    while let ordinal = current {
      if ordinal == ancestor { return true }
      current = definitions[ordinal].superentityName.flatMap { ordinals[$0] }
    }
    return false
  }

  private func target(of relationship: RelationshipDescription) -> RelationshipTarget? {
    ordinals[relationship.destinationEntityName].map { destination in
      RelationshipTarget(
        entityOrdinal: destination,
        inverseOrdinal: relationship.inverseRelationshipName.flatMap { inverse in
          flattened[destination].firstIndex { $0.name == inverse }
        }
      )
    }
  }
}
