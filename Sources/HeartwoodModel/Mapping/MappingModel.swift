/// What becomes of the records of one version of a model in another: entity by entity, property by property.
///
/// It is written in code, read from a file of Xcode's, or inferred from two versions:
/// ``inferredMappingModel(forSourceModel:destinationModel:)``.
public struct MappingModel: Sendable, Hashable {
  /// What becomes of each entity, in the order in which a migration looks at them.
  public var entityMappings: [EntityMapping]

  /// Makes a mapping model that is not held against models yet: a migration does that.
  public init(entityMappings: [EntityMapping]) {
    self.entityMappings = entityMappings
  }

  /// The mappings of entities by name. Of several of one name, the first. Made anew at each call: O(n).
  public var entityMappingsByName: [String: EntityMapping] {
    Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

extension MappingModel {
  /// Whether the mapping model leads from one model to the other: each entity that it names is there and, where the mapping tells a
  /// version hash, has that.
  ///
  /// Entities that it does not name do not matter.
  public func leads(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> Bool {
    faults(from: source, to: destination).isEmpty
  }

  /// Why the mapping model does not lead from one model to the other, in words; empty where it does.
  public func faults(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [String] {
    entityMappings.flatMap { $0.faults(from: source, to: destination) }
  }
}
