public import HeartwoodFoundation

extension MappingModel {
  /// Infers a mapping model from two versions of a model, by names and renaming identifiers alone.
  ///
  /// Problems that depend on the records are found by the migration, which handles them according to its options: a
  /// value that cannot be converted to another type, several objects for a to-one relationship, and values that are not
  /// unique but must be.
  ///
  /// - Throws: ``MappingInferenceError``, which lists everything that cannot be inferred.
  public static func inferredMappingModel(
    forSourceModel source: ManagedObjectModel,
    destinationModel destination: ManagedObjectModel
  ) throws(MappingInferenceError) -> MappingModel {
    let obstacles = ModelDifferences(from: source, to: destination).obstacles
    guard obstacles.isEmpty else { throw MappingInferenceError(obstacles: obstacles) }
    return MappingInference(source: source, destination: destination).mappingModel()
  }
}

/// Why stores of one version of a model cannot be migrated to another without a mapping model.
public struct MappingInferenceError: Error, Sendable, Hashable {
  /// The changes that prevent it; at least one, each with its ``ModelChange/obstacle``.
  public let obstacles: [ModelChange]
}

extension MappingInferenceError: LocalizedError {
  /// All reasons, one in each line.
  public var errorDescription: String? { problem }
  /// What to do.
  public var recoverySuggestion: String? { recovery }
}

extension MappingInferenceError: CustomStringConvertible {
  /// All reasons, one in each line.
  public var problem: String {
    let lines = obstacles.map { "  \($0): \($0.obstacle ?? "")" }
    return (["A migration cannot be inferred:"] + lines).joined(separator: "\n")
  }

  /// What to do.
  public var recovery: String { "Write a mapping model, or change the new model." }

  /// All reasons, one in each line, and what to do.
  public var description: String { "\(problem)\n\(recovery)" }
}

/// Makes a mapping model of two models without obstacles between them.
private struct MappingInference {
  let source: ManagedObjectModel
  let destination: ManagedObjectModel

  func mappingModel() -> MappingModel {
    let match = RenamingMatch(
      old: source.entities.map { ($0.name, $0.renamingIdentifier) },
      new: destination.entities.map { ($0.name, $0.renamingIdentifier) }
    )
    var mappings: [EntityMapping] = []
    for (entity, place) in zip(destination.entities, match.oldPlaces) where !entity.isAbstract {
      mappings.append(place.map { mapping(source.entities[$0], to: entity) } ?? addition(of: entity))
    }
    for place in match.removed where !source.entities[place].isAbstract {
      mappings.append(removal(of: source.entities[place]))
    }
    return MappingModel(entityMappings: mappings)
  }

  private func mapping(_ old: EntityDescription, to new: EntityDescription) -> EntityMapping {
    let isCopy = old.name == new.name && old.versionHash == new.versionHash
    let match = RenamingMatch(
      old: old.properties.map { ($0.name, $0.renamingIdentifier) },
      new: new.properties.map { ($0.name, $0.renamingIdentifier) }
    )
    let pairs = zip(new.properties, match.oldPlaces).filter { !$0.0.isTransient }.map { new, place in
      (new: new, old: place.map { old.properties[$0] }.flatMap { $0.isTransient ? nil : $0 })
    }
    return EntityMapping(
      name: "IEM_\(isCopy ? "Copy" : "Transform")_\(new.name)",
      mappingType: isCopy ? .copy : .transform,
      sourceEntityName: old.name,
      destinationEntityName: new.name,
      sourceEntityVersionHash: old.versionHash,
      destinationEntityVersionHash: new.versionHash,
      attributeMappings: pairs.compactMap { attributeMapping($0.new, $0.old) },
      relationshipMappings: pairs.compactMap { relationshipMapping($0.new, $0.old) }
    )
  }

  private func attributeMapping(_ new: PropertyDescription, _ old: PropertyDescription?) -> PropertyMapping? {
    guard let attribute = new.attribute else { return nil }
    let value = old.map { MappingExpression.source($0.name) } ?? .constant(attribute.defaultValue)
    return PropertyMapping(name: attribute.name, valueExpression: value)
  }

  private func relationshipMapping(_ new: PropertyDescription, _ old: PropertyDescription?) -> PropertyMapping? {
    guard new.relationship != nil, let old else { return nil }
    return PropertyMapping(
      name: new.name,
      valueExpression: .destinationInstances(forSourceRelationshipNamed: old.name)
    )
  }

  private func addition(of entity: EntityDescription) -> EntityMapping {
    EntityMapping(
      name: "IEM_Add_\(entity.name)",
      mappingType: .add,
      destinationEntityName: entity.name,
      destinationEntityVersionHash: entity.versionHash
    )
  }

  private func removal(of entity: EntityDescription) -> EntityMapping {
    EntityMapping(
      name: "IEM_Remove_\(entity.name)",
      mappingType: .remove,
      sourceEntityName: entity.name,
      sourceEntityVersionHash: entity.versionHash
    )
  }
}
