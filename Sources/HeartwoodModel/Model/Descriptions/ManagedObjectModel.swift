/// A model: the entities whose objects a store keeps, checked and resolved.
///
/// A model never changes, so it may be shared. Two models are equal when their definitions are.
public final class ManagedObjectModel: Sendable {
  /// How many ancestors an entity may have. It bounds every walk along the parents, and every recursion over them.
  package static let deepestInheritance = 64

  /// The entities in declared order; an entity's ordinal is its place here.
  public let entities: [EntityDescription]
  /// The names of the entities of each configuration. The default configuration, of all entities, is not listed.
  public let configurations: [String: [String]]
  /// Names that the author gave to this version of the model.
  public let versionIdentifiers: [String]
  /// The fetch requests that the model holds, in declared order.
  public let fetchRequestTemplates: [FetchRequestTemplate]
  /// What entities, properties and errors are called in the user's language, by the keys of Core Data's tables of texts:
  /// `Entity/Person`, `Property/name/Entity/Person`.
  public let localizationDictionary: [String: String]
  /// Whether an entity has attributes that are computed when objects are saved.
  package let hasDerivedAttributes: Bool
  private let ordinalsByName: [String: Int]

  /// Makes a model of `definitions`.
  ///
  /// - Throws: ``ModelValidationError``, which lists every fault and where it is.
  public init(
    entities definitions: [EntityDefinition],
    configurations: [String: [String]] = [:],
    versionIdentifiers: [String] = [],
    fetchRequestTemplates: [FetchRequestTemplate] = [],
    localizationDictionary: [String: String] = [:]
  ) throws(ModelValidationError) {
    let faults = ModelValidator(
      definitions: definitions,
      configurations: configurations,
      fetchRequestTemplates: fetchRequestTemplates
    ).faults()
    guard faults.isEmpty else { throw ModelValidationError(faults: faults) }
    self.entities = ModelResolver(definitions: definitions).resolve()
    self.configurations = configurations
    self.versionIdentifiers = versionIdentifiers
    self.fetchRequestTemplates = fetchRequestTemplates
    self.localizationDictionary = localizationDictionary
    self.hasDerivedAttributes = definitions.contains { definition in
      definition.properties.contains { $0.attribute?.derivationExpression != nil }
    }
    self.ordinalsByName = Dictionary(
      definitions.enumerated().map { ($0.element.name, $0.offset) },
      uniquingKeysWith: { first, _ in first }
    )
    for entity in entities { entity.prepareIndexes(in: self) }
  }

  /// The same model with other names for people to read.
  package init(_ model: ManagedObjectModel, localizationDictionary: [String: String]) {
    entities = model.entities
    configurations = model.configurations
    versionIdentifiers = model.versionIdentifiers
    fetchRequestTemplates = model.fetchRequestTemplates
    hasDerivedAttributes = model.hasDerivedAttributes
    ordinalsByName = model.ordinalsByName
    self.localizationDictionary = localizationDictionary
  }
}

extension ManagedObjectModel {
  /// The entity called `name`, or nil where there is none. O(1).
  public func entity(named name: String) -> EntityDescription? {
    ordinalsByName[name].map { entities[$0] }
  }

  /// All entities. Made anew at each call: O(n).
  public var entitiesByName: [String: EntityDescription] { ordinalsByName.mapValues { entities[$0] } }

  /// The fetch request that the model holds under `name`, or nil where there is none. O(n).
  public func fetchRequestTemplate(named name: String) -> FetchRequestTemplate? {
    fetchRequestTemplates.first { $0.name == name }
  }

  /// The entities of `configuration`, in declared order; nil means the default one, of all entities.
  ///
  /// - Returns: nil where the model has no such configuration.
  public func entities(forConfiguration configuration: String?) -> [EntityDescription]? {
    guard let configuration else { return entities }
    return configurations[configuration].map { names in
      let members = Set(names)
      return entities.filter { members.contains($0.name) }
    }
  }

  /// The entity with `ordinal` and all its subentities that can have objects of their own.
  public func concreteEntities(under entity: EntityDescription) -> [EntityDescription] {
    ([entity.ordinal] + entity.subentityOrdinals).map { entities[$0] }.filter { !$0.isAbstract }
  }
}

extension ManagedObjectModel: Hashable {
  /// Whether the definitions are the same, and all that the model has beside them.
  public static func == (left: ManagedObjectModel, right: ManagedObjectModel) -> Bool {
    left === right
      || (left.configurations == right.configurations && left.versionIdentifiers == right.versionIdentifiers
        && left.fetchRequestTemplates == right.fetchRequestTemplates
        && left.localizationDictionary == right.localizationDictionary
        && left.entities.map(\.definition) == right.entities.map(\.definition))
  }

  /// Hashes the names of the entities.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(entities.map(\.name))
  }
}
