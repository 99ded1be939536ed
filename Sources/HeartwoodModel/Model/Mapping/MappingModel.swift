public import HeartwoodFoundation

/// How a migration turns the records of one version of a model into those of another: entity by entity, property by
/// property.
///
/// Write it in code, read it from a file made by Xcode, or infer it from two versions
/// (``inferredMappingModel(forSourceModel:destinationModel:)``):
///
///     let mapping = MappingModel(entityMappings: [
///       EntityMapping(
///         name: "ToDo to Task",
///         mappingType: .transform,
///         sourceEntityName: "ToDo",
///         destinationEntityName: "Task",
///         attributeMappings: [PropertyMapping(name: "title", valueExpression: .source("name"))]
///       )
///     ])
///     let faults = mapping.faults(from: oldModel, to: newModel)
///
/// A mapping model is a value and is not checked when it is made. ``faults(from:to:)`` checks it against two models; a
/// migration refuses a mapping model with faults.
public struct MappingModel: Sendable, Hashable {
  /// The mappings of entities, in the order in which a migration follows them.
  public var entityMappings: [EntityMapping]

  /// Makes a mapping model without checking it against models; a migration does that.
  public init(entityMappings: [EntityMapping]) {
    self.entityMappings = entityMappings
  }

  /// The mappings of entities by name. If several have the same name, the first one counts. Each access makes a new
  /// dictionary: O(n).
  public var entityMappingsByName: [String: EntityMapping] {
    Dictionary(entityMappings.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

extension MappingModel {
  /// Returns whether the mapping model fits the two models: each entity that it names exists and, if the mapping has a
  /// version hash for it, has that hash. For a mapping without version hashes, the destination properties that it names
  /// must exist, too.
  ///
  /// Entities that it does not name are ignored.
  public func leads(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> Bool {
    entityMappings.allSatisfy { $0.leads(from: source, to: destination) }
  }

  /// Returns why a migration cannot use the mapping model between the two models, one sentence for each fault; empty if
  /// it can. Faults are missing entities and properties, entities of another version, names that several mappings have,
  /// and predicates and expressions that do not fit the models. Each sentence names the mapping, and the property if
  /// the fault is in one. A migration with any fault is refused.
  public func faults(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [String] {
    faults(from: source, to: destination, among: self)
  }

  /// Returns the faults of this mapping model if it is followed together with others.
  ///
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

// MARK: Copying

extension MappingModel {
  /// Returns the same mapping model with mappings for the properties of copied records. If a mapping names no
  /// properties, each property comes from the one with the same name.
  package func namingCopiedProperties(
    from source: ManagedObjectModel,
    to destination: ManagedObjectModel
  ) -> MappingModel {
    var model = self
    model.entityMappings = entityMappings.map { mapping in
      guard mapping.mappingType == .copy, mapping.attributeMappings.isEmpty, mapping.relationshipMappings.isEmpty,
        let old = mapping.sourceEntityName.flatMap(source.entity(named:)),
        let new = mapping.destinationEntityName.flatMap(destination.entity(named:))
      else { return mapping }
      return mapping.copying(old, to: new)
    }
    return model
  }
}

extension EntityMapping {
  fileprivate func copying(_ old: EntityDescription, to new: EntityDescription) -> EntityMapping {
    var mapping = self
    for property in new.properties where !property.isTransient {
      guard let former = old.property(named: property.name), !former.isTransient else { continue }
      switch (former, property) {
      case (.attribute, .attribute):
        mapping.attributeMappings.append(PropertyMapping(name: property.name, valueExpression: .source(former.name)))
      case (.relationship, .relationship):
        mapping.relationshipMappings.append(
          PropertyMapping(
            name: property.name,
            valueExpression: .destinationInstances(forSourceRelationshipNamed: former.name)
          )
        )
      default: break
      }
    }
    return mapping
  }
}

// MARK: EntityMapping

/// How a migration treats the records of an entity.
public struct EntityMapping: Sendable, Hashable {
  /// What a migration does with the records. The raw value is a stable name for programs.
  public enum MappingType: String, Sendable, Hashable, CaseIterable, Codable {
    /// What the property mappings say; the model states nothing more.
    case undefined
    /// What a policy of the application does.
    case custom
    /// The entity is new: none of its records is made of another record.
    case add
    /// The entity no longer exists, and its records are dropped.
    case remove
    /// The records stay the same. Without property mappings, each property comes from the one with the same name.
    case copy
    /// The records stay, but have other properties.
    case transform
  }

  /// The name, unique in the mapping model.
  public var name: String
  /// What a migration does with the records.
  public var mappingType: MappingType
  /// The entity whose records are read; nil if there is none.
  public var sourceEntityName: String?
  /// The entity of the new records; nil if there is none.
  public var destinationEntityName: String?
  /// The required version hash of the source entity; nil means any version.
  public var sourceEntityVersionHash: Data?
  /// The required version hash of the destination entity; nil means any version.
  public var destinationEntityVersionHash: Data?
  /// The condition on the records that are read; nil means all records.
  public var sourcePredicate: FetchPredicate?
  /// The mappings of attributes. An attribute without a mapping has its default value, except in records that are
  /// copied: ``MappingType/copy``.
  public var attributeMappings: [PropertyMapping]
  /// The mappings of relationships. A relationship without a mapping is empty, except in records that are copied.
  public var relationshipMappings: [PropertyMapping]
  /// The name under which the application registers its own policy; nil means none.
  public var entityMigrationPolicyClassName: String?
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// Makes a mapping without checking it against models.
  public init(
    name: String,
    mappingType: MappingType = .undefined,
    sourceEntityName: String? = nil,
    destinationEntityName: String? = nil,
    sourceEntityVersionHash: Data? = nil,
    destinationEntityVersionHash: Data? = nil,
    sourcePredicate: FetchPredicate? = nil,
    attributeMappings: [PropertyMapping] = [],
    relationshipMappings: [PropertyMapping] = [],
    entityMigrationPolicyClassName: String? = nil,
    userInfo: [String: String] = [:]
  ) {
    self.name = name
    self.mappingType = mappingType
    self.sourceEntityName = sourceEntityName
    self.destinationEntityName = destinationEntityName
    self.sourceEntityVersionHash = sourceEntityVersionHash
    self.destinationEntityVersionHash = destinationEntityVersionHash
    self.sourcePredicate = sourcePredicate
    self.attributeMappings = attributeMappings
    self.relationshipMappings = relationshipMappings
    self.entityMigrationPolicyClassName = entityMigrationPolicyClassName
    self.userInfo = userInfo
  }
}

extension EntityMapping {
  /// Returns one sentence for each entity and each destination property that does not exist, and for each entity of
  /// another version.
  func misfits(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [String] {
    entityMisfits(from: source, to: destination) + propertyMisfits(in: destination)
  }

  private func entityMisfits(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [String] {
    Self.faults(name, "source", sourceEntityName, sourceEntityVersionHash, in: source)
      + Self.faults(name, "destination", destinationEntityName, destinationEntityVersionHash, in: destination)
  }

  /// Returns whether the mapping fits the two models. If it has the versions of its entities, its properties are not
  /// compared.
  func leads(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> Bool {
    tellsVersions
      ? entityMisfits(from: source, to: destination).isEmpty : misfits(from: source, to: destination).isEmpty
  }

  /// Whether the mapping has the version hashes of all its entities, and so fits only the versions for which it was
  /// written.
  package var tellsVersions: Bool {
    (sourceEntityName == nil || sourceEntityVersionHash != nil)
      && (destinationEntityName == nil || destinationEntityVersionHash != nil)
  }

  private func propertyMisfits(in destination: ManagedObjectModel) -> [String] {
    var faults: [String] = []
    guard let entity = destinationEntityName.flatMap(destination.entity(named:)) else { return faults }
    for mapping in attributeMappings where entity.property(named: mapping.name)?.attribute == nil {
      faults.append("\(name): the destination entity \(entity.name) has no attribute \(mapping.name)")
    }
    for mapping in relationshipMappings where entity.property(named: mapping.name)?.relationship == nil {
      faults.append("\(name): the destination entity \(entity.name) has no relationship \(mapping.name)")
    }
    return faults
  }

  private static func faults(
    _ mapping: String,
    _ side: String,
    _ name: String?,
    _ hash: Data?,
    in model: ManagedObjectModel
  ) -> [String] {
    guard let name else { return [] }
    guard let entity = model.entity(named: name) else {
      return ["\(mapping): the \(side) model has no entity \(name)"]
    }
    guard hash == nil || hash == entity.versionHash else {
      return ["\(mapping): the \(side) entity \(name) is of another version than the mapping is for"]
    }
    return []
  }
}

// MARK: PropertyMapping

/// The source of the value of a property in a new record.
public struct PropertyMapping: Sendable, Hashable {
  /// The name of the property in the destination entity.
  public var name: String
  /// The expression that computes the value. If it is nil, the property keeps its default value, or is empty for a
  /// relationship, unless a policy sets it.
  public var valueExpression: MappingExpression?
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// Makes a mapping without checking it against models.
  public init(name: String, valueExpression: MappingExpression? = nil, userInfo: [String: String] = [:]) {
    self.name = name
    self.valueExpression = valueExpression
    self.userInfo = userInfo
  }
}
