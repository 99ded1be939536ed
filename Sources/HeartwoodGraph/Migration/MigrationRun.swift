import HeartwoodModel
import HeartwoodStore

/// Runs all steps of a migration on the records of a store, in memory.
struct MigrationRun {
  private let migration: StoreMigration
  private let progress: MigrationProgress
  /// Whether records that do not fit are reported instead of causing an error.
  private let isDry: Bool

  init(_ migration: StoreMigration, _ progress: MigrationProgress, isDry: Bool = false) {
    self.migration = migration
    self.progress = progress
    self.isDry = isDry
  }

  func run(_ contents: StoreContents) throws -> (contents: StoreContents, report: MigrationReport) {
    try progress.begin(.migrating)
    var contents = contents
    var report = MigrationReport()
    // Properties that one step has added are no loss in the next.
    var made: Set<PropertyPath> = []
    for (place, step) in migration.steps.enumerated() {
      let result = try run(step, made, run(step.stage?.willMigrateHandler, contents))
      report = place == 0 ? result.report : report.followed(by: result.report)
      if !isDry { try result.report.check(path: migration.path) }
      if !result.report.obstacles.isEmpty { break }
      made =
        MappingCoverage(step.mappingModel, from: contents.model, to: step.destinationModel, made: made).madeProperties
      contents = try run(step.stage?.didMigrateHandler, result.contents)
    }
    return (contents, report)
  }

  private func run(_ handler: CustomMigrationStage.Handler?, _ contents: StoreContents) throws -> StoreContents {
    try StageHandling.run(handler, on: contents, objectClass: migration.options[.migrationObjectClass])
  }

  private func run(
    _ step: MigrationStep,
    _ made: Set<PropertyPath>,
    _ contents: StoreContents
  ) throws -> (contents: StoreContents, report: MigrationReport) {
    // The records' own model: an equal model may list its properties in another order.
    let source = contents.model
    try Self.check(step, from: source, path: migration.path)
    guard step.passes.count == 1,
      let plan = MigrationPlan(step.mappingModel, from: source, to: step.destinationModel, made: made)
    else {
      let objects = ObjectMigration(step, migration.options, progress, made: made, allowsLoss: migration.allowsLoss)
      return try objects.run(contents)
    }
    return try followColumns(plan, to: step.destinationModel, contents)
  }

  private func followColumns(
    _ plan: MigrationPlan,
    to model: ManagedObjectModel,
    _ contents: StoreContents
  ) throws -> (contents: StoreContents, report: MigrationReport) {
    let resolutions = migration.options[.migrationResolutions]
    let tableMigration = TableMigration(
      plan,
      resolutions: resolutions,
      allowsLoss: migration.allowsLoss,
      progress: progress
    )
    let migrated = { (tables: [NodeTable]) in
      contents.migrated(to: model, entities: migration.entities(of: model), tables: tables)
    }
    guard model.hasDerivedAttributes else {
      let result = try tableMigration.run(contents)
      return (migrated(result.tables), result.report)
    }
    // The new model may derive attributes that the old one did not, or derive them differently. Derived values may be
    // required, or have to be unique.
    let derived = try DerivedAttributes(model)
    let result = try tableMigration.run(contents) { tables in
      try BatchDerivation.derivingAll(derived, of: migrated(tables)).tables
    }
    let new = migrated(result.tables)
    if result.report.obstacles.isEmpty { try BatchDerivation.checkAll(derived, of: new) }
    return (new, result.report)
  }

  /// Checks that a step's mapping model fits both models.
  static func check(_ step: MigrationStep, from source: ManagedObjectModel, path: String?) throws(PersistenceError) {
    // A pass may refer to the mappings of others.
    let faults = step.passes.flatMap {
      $0.faults(from: source, to: step.destinationModel, among: step.mappingModel)
    }
    guard !faults.isEmpty else { return }
    throw PersistenceError(
      .mappingModelUnusable,
      "The mapping model cannot be followed between the models. The store was left as it is:\n"
        + faults.map { "  \($0)" }.joined(separator: "\n"),
      context: .init(path: path)
    )
  }
}

// MARK: PassMigration

/// A migration in several passes, each with a mapping model over a part of the entities: from one store to another,
/// both of which keep their records outside memory. After each pass the objects are released, and only their
/// associations stay.
struct PassMigration {
  private let step: MigrationStep
  private let objects: ObjectMigration
  /// Open the stores again, with nothing in memory.
  private let openSource: () throws -> PersistentStoreCoordinator
  private let openDestination: () throws -> PersistentStoreCoordinator

  init(
    _ step: MigrationStep,
    _ objects: ObjectMigration,
    openSource: @escaping () throws -> PersistentStoreCoordinator,
    openDestination: @escaping () throws -> PersistentStoreCoordinator
  ) {
    self.step = step
    self.objects = objects
    self.openSource = openSource
    self.openDestination = openDestination
  }

  func run() throws -> MigrationReport {
    var associations = MigrationAssociations()
    for pass in step.passes {
      try withStores { source, destination in
        try objects.follow(pass, from: source, to: destination, &associations)
        try source.checkReadable()
      }
    }
    return try report(associations)
  }

  private func withStores<Result>(
    _ body: (PersistentStoreCoordinator, PersistentStoreCoordinator) throws -> Result
  ) throws -> Result {
    let source = try openSource()
    defer { source.close() }
    let destination = try openDestination()
    defer { destination.close() }
    return try body(source, destination)
  }

  private func report(_ associations: MigrationAssociations) throws -> MigrationReport {
    try withStores { source, destination in
      let models = (source.managedObjectModel, destination.managedObjectModel)
      return MigrationReport(
        entities: try MigrationReport.entities(step.mappingModel, from: models.0, to: models.1) {
          associations.counts(of: $0, in: step.mappingModel)
        } sourceCount: {
          try source.recordCount($0)
        } destinationCount: {
          try destination.recordCount($0)
        },
        findings: try objects.losses(of: models.0, associations) {
          try source.recordCount($0)
        } valueCount: { entity, ordinal in
          try source.valueCount(entity, ordinal)
        }
      )
    }
  }
}

extension PersistentStoreCoordinator {
  /// Throws if objects were made from records some of whose values could not be read.
  fileprivate func checkReadable() throws {
    for store in persistentStores {
      for entity in store.entities { try store.engine.knownTable(of: entity).table.checkReadable() }
    }
  }

  /// Returns the number of records of exactly this entity in the store.
  fileprivate func recordCount(_ entity: EntityDescription) throws -> Int {
    if entity.isAbstract { return 0 }
    return try persistentStores.reduce(0) { $0 + (try $1.engine.count(of: entity)) }
  }

  /// Returns the number of records of exactly this entity that have a value, or a destination in a relationship.
  fileprivate func valueCount(_ entity: EntityDescription, _ ordinal: Int) throws -> Int {
    let property = entity.properties[ordinal]
    let format = property.relationship?.isToMany == true ? "%K.@count > 0" : "%K != nil"
    var request = FetchRequest<ManagedObject>(
      entityName: entity.name,
      where: try FetchPredicate(format: format, property.name)
    )
    request.includesSubentities = false
    return try ManagedObjectContext(self).count(for: request)
  }
}
