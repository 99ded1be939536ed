import HeartwoodModel
import HeartwoodStore

/// A step of a migration that makes new objects from old ones, by a mapping model and the application's policies. Both
/// are in memory; the old ones cannot be changed.
struct ObjectMigration {
  private let step: MigrationStep
  private let policyClasses: [String: EntityMigrationPolicy.Type]
  private let makePolicy: (@Sendable (EntityMapping) throws -> EntityMigrationPolicy)?
  private let objectClass: ManagedObject.Type?
  private let progress: MigrationProgress
  private let made: Set<PropertyPath>
  private let allowsLoss: Bool

  /// - Parameters:
  ///   - made: the properties of the source that an earlier step has added.
  ///   - allowsLoss: whether records and values may be left out from which nothing is made.
  init(
    _ step: MigrationStep,
    _ options: StoreOptions,
    _ progress: MigrationProgress,
    made: Set<PropertyPath> = [],
    allowsLoss: Bool
  ) {
    self.step = step
    self.made = made
    self.allowsLoss = allowsLoss
    self.progress = progress
    policyClasses = options[.entityMigrationPolicies]
    makePolicy = options[.entityMigrationPolicyMaker]
    objectClass = options[.migrationObjectClass]
  }

  func run(_ contents: StoreContents) throws -> (contents: StoreContents, report: MigrationReport) {
    let (source, destination) = try (
      PersistentStoreCoordinator(inMemory: contents, isReadOnly: true, objectClass: objectClass), newDestination()
    )
    var associations = MigrationAssociations()
    for pass in step.passes { try follow(pass, from: source, to: destination, &associations) }
    guard let store = destination.persistentStores.first else { return (contents, MigrationReport()) }
    let made = try store.engine.contents().calling(associations.origins, asIn: contents)
    let migrated = contents.migrated(
      to: step.destinationModel,
      entities: step.destinationModel.entities,
      tables: made.tables
    )
    return (migrated, report(contents, migrated, associations))
  }

  /// Returns the numbers of records that each mapping has processed and made.
  private func report(
    _ old: StoreContents,
    _ new: StoreContents,
    _ associations: MigrationAssociations
  ) -> MigrationReport {
    MigrationReport(
      entities: MigrationReport.entities(step.mappingModel, from: old.model, to: new.model) {
        associations.counts(of: $0, in: step.mappingModel)
      } sourceCount: {
        old.table(of: $0).count
      } destinationCount: {
        new.table(of: $0).count
      },
      findings: coverage(of: old.model).losses(in: old, isAllowed: allowsLoss, takenCount: associations.takenCount)
    )
  }

  /// Returns the entities and properties that the passes leave out.
  func coverage(of source: ManagedObjectModel) -> MappingCoverage {
    MappingCoverage(step.mappingModel, from: source, to: step.destinationModel, made: made)
  }

  /// Returns the losses through entities and properties that the passes leave out, in a store that counts itself.
  func losses(
    of model: ManagedObjectModel,
    _ associations: MigrationAssociations,
    recordCount: (EntityDescription) throws -> Int,
    valueCount: (EntityDescription, Int) throws -> Int
  ) rethrows -> [MigrationReport.Finding] {
    try coverage(of: model).losses(
      of: model,
      isAllowed: allowsLoss,
      recordCount: recordCount,
      takenCount: associations.takenCount,
      valueCount: valueCount
    )
  }

  private func policy(_ mapping: EntityMapping) throws -> EntityMigrationPolicy {
    guard let name = mapping.entityMigrationPolicyClassName else { return EntityMigrationPolicy() }
    if let makePolicy { return try makePolicy(mapping) }
    let plainName = name.split(separator: ".").last.map(String.init) ?? name
    if let policy = policyClasses[name] ?? policyClasses[plainName] { return policy.init() }
    throw PersistenceError(
      .mappingModelUnusable,
      "The mapping \(mapping.name) needs the policy \(name), which was not given.",
      recovery: .giveMigrationPolicy,
      context: .init(entity: mapping.destinationEntityName)
    )
  }
}

// MARK: Stores in memory

extension ObjectMigration {
  private func newDestination() throws -> PersistentStoreCoordinator {
    let coordinator = try PersistentStoreCoordinator(inMemoryWith: step.destinationModel, objectClass: objectClass)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    return coordinator
  }
}

// MARK: The three passes

extension ObjectMigration {
  private typealias Pair = (mapping: EntityMapping, policy: EntityMigrationPolicy)

  /// Creates the objects of a mapping model, and saves them.
  ///
  /// - Parameter associations: the associations of earlier mapping models; those of this one are added.
  func follow(
    _ mappingModel: MappingModel,
    from source: PersistentStoreCoordinator,
    to destination: PersistentStoreCoordinator,
    _ associations: inout MigrationAssociations
  ) throws {
    let pairs = try mappingModel.entityMappings.map { ($0, try policy($0)) }
    let manager = MigrationManager(
      mappingModel,
      source: ManagedObjectContext(source),
      destination: ManagedObjectContext(destination),
      progress: progress,
      after: associations
    )
    progress.expect(pairs.count * 2)
    try createInstances(pairs, manager, &associations)
    try createRelationships(pairs, manager)
    try validate(pairs, manager)
    try manager.destinationContext.save()
    manager.note(in: &associations)
  }

  private func createInstances(
    _ pairs: [Pair],
    _ manager: MigrationManager,
    _ associations: inout MigrationAssociations
  ) throws {
    for (mapping, policy) in pairs {
      manager.currentEntityMapping = mapping
      try policy.begin(mapping, with: manager)
      let sources = try sources(mapping, manager)
      if mapping.takesRecords { associations.addTaken(sources, by: mapping) }
      if type(of: policy) == EntityMigrationPolicy.self { try checkConcrete(mapping, sources.count, manager) }
      for source in sources {
        try manager.checkCancellation()
        try policy.createDestinationInstances(forSource: source, in: mapping, manager: manager)
      }
      try policy.endInstanceCreation(forMapping: mapping, manager: manager)
      progress.advance()
    }
  }

  /// Checks that records can be of the destination entity of a mapping.
  private func checkConcrete(
    _ mapping: EntityMapping,
    _ count: Int,
    _ manager: MigrationManager
  ) throws(PersistenceError) {
    guard count > 0, let entity = manager.destinationEntity(for: mapping), entity.isAbstract else { return }
    let names = manager.destinationModel.concreteEntities(under: entity).map(\.name)
    throw PersistenceError(
      .mappingModelUnusable,
      "The mapping \(mapping.name) makes records of an entity that is abstract in the new model, and there "
        + "are \(count) records for it. The store is unchanged.",
      recovery: .custom(
        "Make it create records of a subentity (\(names.joined(separator: ", "))), or give it a policy that does."
      ),
      context: .init(entity: entity.name)
    )
  }

  /// Returns the old objects that a mapping processes; those of subentities have mappings of their own.
  private func sources(_ mapping: EntityMapping, _ manager: MigrationManager) throws -> [ManagedObject] {
    guard let name = mapping.sourceEntityName, mapping.takesRecords else { return [] }
    var request = FetchRequest<ManagedObject>(entityName: name, where: mapping.sourcePredicate)
    request.includesSubentities = false
    return try manager.sourceContext.fetch(request)
  }

  private func createRelationships(_ pairs: [Pair], _ manager: MigrationManager) throws {
    for (mapping, policy) in pairs {
      manager.currentEntityMapping = mapping
      for object in manager.made(by: mapping.name) where !object.isDeleted {
        try manager.checkCancellation()
        try policy.createRelationships(forDestination: object, in: mapping, manager: manager)
      }
      try policy.endRelationshipCreation(forMapping: mapping, manager: manager)
      progress.advance()
    }
  }

  private func validate(_ pairs: [Pair], _ manager: MigrationManager) throws {
    for (mapping, policy) in pairs {
      manager.currentEntityMapping = mapping
      try manager.checkCancellation()
      try policy.performCustomValidation(forMapping: mapping, manager: manager)
    }
    for (mapping, policy) in pairs {
      manager.currentEntityMapping = mapping
      try policy.end(mapping, manager: manager)
    }
    try manager.checkCancellation()
  }
}
