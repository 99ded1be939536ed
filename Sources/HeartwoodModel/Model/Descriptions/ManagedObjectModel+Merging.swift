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
