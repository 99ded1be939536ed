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
  /// Whether the mapping model leads from one model to the other: each entity that it names is there and, if the mapping has a version
  /// hash, has that. A mapping without version hashes must name properties that are there, too.
  ///
  /// Entities that it does not name do not matter.
  public func leads(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> Bool {
    entityMappings.allSatisfy { $0.leads(from: source, to: destination) }
  }

  /// Why the mapping model does not lead from one model to the other, or cannot be followed, in words; empty if it can: entities and properties
  /// that are not there, names of mappings that are used twice, predicates and expressions that do not fit the models. Each is named with its mapping
  /// and property. A migration with any is refused.
  public func faults(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [String] {
    faults(from: source, to: destination, among: self)
  }

  /// - Parameter all: the mapping models that are followed together, whose mappings this one may name.
  package func faults(
    from source: ManagedObjectModel,
    to destination: ManagedObjectModel,
    among all: MappingModel
  ) -> [String] {
    let misfits = entityMappings.flatMap { $0.misfits(from: source, to: destination) }
    guard misfits.isEmpty else { return misfits }
    var seen: Set<String> = []
    let repeated = entityMappings.map(\.name).filter { !seen.insert($0).inserted }
    let names = Dictionary(
      all.entityMappings.map { ($0.name, $0.destinationEntityName) },
      uniquingKeysWith: { first, _ in first }
    )
    return repeated.map { "\($0): two entity mappings have this name" }
      + entityMappings.flatMap { mapping in
        MappingCheck(mapping: mapping, source: source, destination: destination, destinationNames: names).faults()
      }
  }
}
