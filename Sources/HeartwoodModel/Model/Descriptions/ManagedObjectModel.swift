/// The entities of a store, with their properties and relationships, after validation.
///
/// Write the definitions in code, or decode a model from JSON (``init(encoded:)``):
///
///     let model = try ManagedObjectModel(entities: [
///       .entity(
///         "List",
///         .attribute("name", .string),
///         .toMany("items", "ToDo", inverse: "list", deleteRule: .cascade)
///       ),
///       .entity(
///         "ToDo",
///         .attribute("title", .string),
///         .attribute("done", .boolean, default: .boolean(false)),
///         .toOne("list", "List", inverse: "items")
///       ),
///     ])
///     let toDo = model.entity(named: "ToDo")
///
/// A model is immutable and can be shared between threads. Two models are equal if their definitions are equal, and
/// also their configurations, version identifiers, fetch request templates and localization dictionaries.
public final class ManagedObjectModel: Sendable {
  /// The greatest number of ancestors of an entity. It bounds every loop and every recursion over the parents.
  public static let deepestInheritance = 64

  /// The entities in declared order. The ordinal of an entity is its index in this array.
  public let entities: [EntityDescription]
  /// The names of the entities of each configuration. It does not list the default configuration, which contains all
  /// entities.
  public let configurations: [String: [String]]
  /// The names that the author gave to this version of the model.
  public let versionIdentifiers: [String]
  /// The fetch request templates of the model, in declared order.
  public let fetchRequestTemplates: [FetchRequestTemplate]
  /// The names of entities, properties and errors in the user's language. The keys are those of Core Data's
  /// localization dictionaries: `Entity/Person`, `Property/name/Entity/Person`.
  public let localizationDictionary: [String: String]
  /// Whether any entity declares an attribute with a ``AttributeDescription/derivationExpression``, which a save
  /// computes.
  public let hasDerivedAttributes: Bool
  private let ordinalsByName: [String: Int]

  /// Validates `definitions`, and resolves the names in them.
  ///
  /// An entity may have at most 64 ancestors.
  ///
  /// - Throws: ``ModelValidationError``, which lists every fault and its place.
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

  /// Copies `model` with other localized names.
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
  /// Returns the entity with this name, or nil if there is none. O(1).
  public func entity(named name: String) -> EntityDescription? {
    ordinalsByName[name].map { entities[$0] }
  }

  /// The entities by name. Each access makes a new dictionary: O(n).
  public var entitiesByName: [String: EntityDescription] { ordinalsByName.mapValues { entities[$0] } }

  /// Returns the fetch request template with this name, or nil if there is none. O(n).
  public func fetchRequestTemplate(named name: String) -> FetchRequestTemplate? {
    fetchRequestTemplates.first { $0.name == name }
  }

  /// Returns the entities of `configuration` in declared order. Nil stands for the default configuration, which
  /// contains all entities. O(n).
  ///
  /// - Returns: nil if the model has no such configuration.
  public func entities(forConfiguration configuration: String?) -> [EntityDescription]? {
    guard let configuration else { return entities }
    return configurations[configuration].map { names in
      let members = Set(names)
      return entities.filter { members.contains($0.name) }
    }
  }

  /// Returns `entity` and all its subentities, without those that are abstract.
  public func concreteEntities(under entity: EntityDescription) -> [EntityDescription] {
    ([entity.ordinal] + entity.subentityOrdinals).map { entities[$0] }.filter { !$0.isAbstract }
  }
}

extension ManagedObjectModel: Hashable {
  /// Returns whether both models have equal definitions, configurations, version identifiers, fetch request templates
  /// and localization dictionaries. O(n) unless both are the same instance.
  public static func == (left: ManagedObjectModel, right: ManagedObjectModel) -> Bool {
    left === right
      || (left.configurations == right.configurations && left.versionIdentifiers == right.versionIdentifiers
        && left.fetchRequestTemplates == right.fetchRequestTemplates
        && left.localizationDictionary == right.localizationDictionary
        && left.entities.map(\.definition) == right.entities.map(\.definition))
  }

  /// Hashes the names of the entities. O(n).
  public func hash(into hasher: inout Hasher) {
    hasher.combine(entities.map(\.name))
  }
}

// MARK: Reachability

extension ManagedObjectModel {
  /// Returns `entity` and all entities that its relationships can reach, directly or over other entities, including
  /// subentities.
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
  /// Makes one model of the entities, configurations and fetch request templates of `models`.
  ///
  /// Equal entities and equal templates are added once. A configuration contains the entities that it has in any of the
  /// models. If two localization dictionaries have the same key, the text of the earlier model is used.
  ///
  /// - Throws: ``ModelValidationError`` if two models have different entities or fetch request templates with the same
  ///   name, or if the merged model has another fault.
  public convenience init(merging models: [ManagedObjectModel]) throws(ModelValidationError) {
    var merger = ModelMerger()
    for model in models { merger.add(model) { _ in true } }
    try self.init(merger)
  }

  /// Makes one model of those entities of `models` for which `isIncluded` returns true.
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

/// Collects the parts of several models. Equal parts are added once; validation then rejects different parts with the
/// same name.
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
  /// Returns the same model with `dictionary` as its ``localizationDictionary``.
  public func localized(by dictionary: [String: String]) -> ManagedObjectModel {
    ManagedObjectModel(self, localizationDictionary: dictionary)
  }

  /// Returns the name of an entity in the user's language, or `name` if the ``localizationDictionary`` has none.
  public func localizedName(ofEntity name: String) -> String {
    localizationDictionary["Entity/\(name)"] ?? name
  }

  /// Returns the name of a property in the user's language, or `name` if the ``localizationDictionary`` has none.
  ///
  /// The key of a property in `entity` is looked up first, then those in its superentities, then the key without an
  /// entity: `Property/name`.
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

/// The rules for names of entities and properties.
enum ModelName {
  /// The rule as a sentence for error messages.
  static let rule = "A name begins with a letter or an underscore and continues with letters, digits and underscores."

  static func isAllowed(_ name: String) -> Bool {
    guard let first = name.unicodeScalars.first, first == "_" || first.properties.isXIDStart else { return false }
    return name.unicodeScalars.dropFirst().allSatisfy(\.properties.isXIDContinue)
  }
}
