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
  public let hasDerivedAttributes: Bool
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

// MARK: Reachability

extension ManagedObjectModel {
  /// `entity` and all entities to whose objects relationships lead from it, at any distance, subentities included.
  package func entitiesReachable(from entity: EntityDescription) -> [EntityDescription] {
    var seen: Set<Int> = [entity.ordinal]
    var pending = [entity.ordinal]
    while let ordinal = pending.popLast() {
      for target in entities[ordinal].relationshipTargets.compactMap(\.self) {
        for next in [target.entityOrdinal] + entities[target.entityOrdinal].subentityOrdinals
        where seen.insert(next).inserted {
          pending.append(next)
        }
      }
    }
    return seen.sorted().map { entities[$0] }
  }
}

// MARK: Merging

extension ManagedObjectModel {
  /// One model of all entities, configurations and fetch requests of `models`.
  ///
  /// What several models have alike is taken once. A configuration has the entities that it has in any of them.
  ///
  /// - Throws: ``ModelValidationError`` where two models have an entity or a fetch request of one name that is not the same in both, or
  ///   where the whole has another fault.
  public convenience init(merging models: [ManagedObjectModel]) throws(ModelValidationError) {
    var merger = ModelMerger()
    for model in models { merger.add(model) { _ in true } }
    try self.init(merger)
  }

  /// One model of those entities of `models` that `isIncluded` says.
  package convenience init(
    merging models: [ManagedObjectModel],
    where isIncluded: (EntityDescription) -> Bool
  ) throws(ModelValidationError) {
    var merger = ModelMerger()
    for model in models { merger.add(model, where: isIncluded) }
    try self.init(merger)
  }

  private convenience init(_ merger: ModelMerger) throws(ModelValidationError) {
    try self.init(
      entities: merger.entities,
      configurations: merger.configurations,
      versionIdentifiers: merger.versionIdentifiers,
      fetchRequestTemplates: merger.fetchRequestTemplates,
      localizationDictionary: merger.localizationDictionary
    )
  }
}

/// Gathers what models have. Only what is alike is taken once: the rest is for the model's validation to refuse.
private struct ModelMerger {
  private(set) var entities: [EntityDefinition] = []
  private(set) var configurations: [String: [String]] = [:]
  private(set) var versionIdentifiers: [String] = []
  private(set) var fetchRequestTemplates: [FetchRequestTemplate] = []
  private(set) var localizationDictionary: [String: String] = [:]
  private var known: Set<EntityDefinition> = []

  mutating func add(_ model: ManagedObjectModel, where isIncluded: (EntityDescription) -> Bool) {
    let included = model.entities.filter(isIncluded)
    let names = Set(included.map(\.name))
    for entity in included where known.insert(entity.definition).inserted { entities.append(entity.definition) }
    for (name, members) in model.configurations {
      let listed = Set(configurations[name] ?? [])
      configurations[name, default: []] += members.filter { names.contains($0) && !listed.contains($0) }
    }
    for identifier in model.versionIdentifiers where !versionIdentifiers.contains(identifier) {
      versionIdentifiers.append(identifier)
    }
    for template in model.fetchRequestTemplates
    where names.contains(template.entityName) && !fetchRequestTemplates.contains(template) {
      fetchRequestTemplates.append(template)
    }
    localizationDictionary.merge(model.localizationDictionary) { first, _ in first }
  }
}

// MARK: Localization

extension ManagedObjectModel {
  /// The same model with names in another language; see ``localizationDictionary``.
  public func localized(by dictionary: [String: String]) -> ManagedObjectModel {
    ManagedObjectModel(self, localizationDictionary: dictionary)
  }

  /// What the entity called `name` is called in the user's language, or its own name.
  public func localizedName(ofEntity name: String) -> String {
    localizationDictionary["Entity/\(name)"] ?? name
  }

  /// What the property called `name` of an entity is called in the user's language, or its own name.
  ///
  /// A name for the property of one entity comes before one for all properties so called.
  public func localizedName(ofProperty name: String, in entity: EntityDescription) -> String {
    var owner: EntityDescription? = entity
    while let current = owner {
      if let text = localizationDictionary["Property/\(name)/Entity/\(current.name)"] { return text }
      owner = current.superentity
    }
    return localizationDictionary["Property/\(name)"] ?? name
  }
}

// MARK: ModelName

/// The names that entities and properties may have.
enum ModelName {
  /// What is allowed, for messages.
  static let rule = "A name begins with a letter or an underscore and goes on with letters, digits and underscores."

  static func isAllowed(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, first == "_" || first.properties.isXIDStart else { return false }
    return name.unicodeScalars.dropFirst().allSatisfy(\.properties.isXIDContinue)
  }
}
