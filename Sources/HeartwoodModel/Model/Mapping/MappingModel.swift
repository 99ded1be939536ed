public import HeartwoodFoundation

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

// MARK: Copying

extension MappingModel {
  /// The same, with the properties of records that are copied: each comes from that of the same name, where the mapping tells nothing of
  /// properties.
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

/// What becomes of the records of an entity.
public struct EntityMapping: Sendable, Hashable {
  /// What is done with records. The raw value is how programs know it.
  public enum MappingType: String, Sendable, Hashable, CaseIterable, Codable {
    /// As the property mappings say, where nothing tells more.
    case undefined
    /// By a policy of the application's.
    case custom
    /// The entity is new: no record of it comes from others.
    case add
    /// The entity is gone, and its records with it.
    case remove
    /// Records stay as they are: without property mappings, each property comes from that of the same name.
    case copy
    /// Records stay, with other properties.
    case transform
  }

  /// The name, unique in the mapping model.
  public var name: String
  /// What is done with records.
  public var mappingType: MappingType
  /// The entity whose records are taken; nil where there is none.
  public var sourceEntityName: String?
  /// The entity of the records that are made of them; nil where there are none.
  public var destinationEntityName: String?
  /// The version that the source entity must have; nil means any.
  public var sourceEntityVersionHash: Data?
  /// The version that the destination entity must have; nil means any.
  public var destinationEntityVersionHash: Data?
  /// Which records are taken; nil means all.
  public var sourcePredicate: FetchPredicate?
  /// Where the values of attributes come from. What is not named has its default value, but for records that are copied:
  /// ``MappingType/copy``.
  public var attributeMappings: [PropertyMapping]
  /// Where relationships lead. What is not named leads nowhere, but for records that are copied.
  public var relationshipMappings: [PropertyMapping]
  /// The name by which the application gives a policy of its own; nil means none.
  public var entityMigrationPolicyClassName: String?
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// Makes a mapping that is not held against models yet.
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
  /// Which entities the mapping names that the models do not have, or have in another version, and which properties, in words.
  func misfits(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [String] {
    entityMisfits(from: source, to: destination) + propertyMisfits(in: destination)
  }

  private func entityMisfits(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> [String] {
    Self.faults(name, "source", sourceEntityName, sourceEntityVersionHash, in: source)
      + Self.faults(name, "destination", destinationEntityName, destinationEntityVersionHash, in: destination)
  }

  /// Whether the mapping leads from one model to the other. With the versions of its entities it does whatever it says of their properties.
  func leads(from source: ManagedObjectModel, to destination: ManagedObjectModel) -> Bool {
    tellsVersions
      ? entityMisfits(from: source, to: destination).isEmpty : misfits(from: source, to: destination).isEmpty
  }

  /// Whether it leads between the versions of its entities alone that it was written for.
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

/// Where the value of a property of a new record comes from.
public struct PropertyMapping: Sendable, Hashable {
  /// The name of the property in the destination entity.
  public var name: String
  /// What gives the value; nil means that the property is left as it is: with its default value, or leading nowhere, unless a
  /// policy sets it.
  public var valueExpression: MappingExpression?
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// Makes a mapping that is not held against models yet.
  public init(name: String, valueExpression: MappingExpression? = nil, userInfo: [String: String] = [:]) {
    self.name = name
    self.valueExpression = valueExpression
    self.userInfo = userInfo
  }
}
