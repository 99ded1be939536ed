#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Makes entity descriptions of definitions that have been validated: names become ordinals, properties are inherited.
struct ModelResolver {
  private let index: DefinitionIndex
  /// The ordinals of the descendants of each entity, in the order of the definitions.
  private let descendants: [[Int]]

  init(definitions: [EntityDefinition]) {
    let index = DefinitionIndex(definitions)
    var descendants: [[Int]] = Array(repeating: [], count: definitions.count)
    for entity in definitions.indices {
      for ancestor in index.lineage(of: entity).dropFirst() { descendants[ancestor].append(entity) }
    }
    self.index = index
    self.descendants = descendants
  }

  func resolve() -> [EntityDescription] {
    var resolved: [EntityDescription?] = Array(repeating: nil, count: index.definitions.count)
    for ordinal in index.definitions.indices { _ = resolve(ordinal, in: &resolved) }
    return resolved.compactMap(\.self)
  }

  /// The entity at `ordinal`, made after its superentity.
  private func resolve(_ ordinal: Int, in resolved: inout [EntityDescription?]) -> EntityDescription {
    if let entity = resolved[ordinal] { return entity }
    let definition = index.definitions[ordinal]
    let superentity = index.parents[ordinal].map { resolve($0, in: &resolved) }
    let inherited = superentity?.properties ?? []
    let properties = inherited + definition.properties
    let ruled = definition.properties.enumerated().compactMap { index, property in
      RuledAttribute(property, ordinal: inherited.count + index)
    }
    let targets = definition.properties.map { $0.relationship.flatMap(target) }
    let entity = EntityDescription(
      definition: definition,
      ordinal: ordinal,
      superentity: superentity,
      subentityOrdinals: descendants[ordinal],
      properties: properties,
      ruledAttributes: (superentity?.ruledAttributes ?? []) + ruled,
      relationshipTargets: (superentity?.relationshipTargets ?? []) + targets,
      versionHash: VersionHash.entity(definition, properties: properties, superentityHash: superentity?.versionHash)
    )
    resolved[ordinal] = entity
    return entity
  }

  private func target(of relationship: RelationshipDescription) -> RelationshipTarget? {
    index.ordinal(ofEntity: relationship.destinationEntityName).map { destination in
      RelationshipTarget(
        entityOrdinal: destination,
        inverseOrdinal: relationship.hasOneSidedInverse
          ? nil : relationship.inverseRelationshipName.flatMap { ordinal(ofProperty: $0, in: destination) }
      )
    }
  }

  /// The ordinal of a property, own or inherited: those that the owner inherits come before it.
  private func ordinal(ofProperty name: String, in entity: Int) -> Int? {
    index.place(ofProperty: name, in: entity).map { place in
      index.lineage(of: place.entity).dropFirst().reduce(place.index) { $0 + index.definitions[$1].properties.count }
    }
  }
}
