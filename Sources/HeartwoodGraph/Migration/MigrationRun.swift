import HeartwoodModel
import HeartwoodStore

/// Takes the records of a store over all steps of a migration, in memory.
struct MigrationRun {
  private let migration: StoreMigration
  private let progress: MigrationProgress
  /// Whether records that do not fit are reported and not an error.
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
    // What one step makes of nothing is no loss in the next.
    var made: Set<PropertyPath> = []
    for (place, step) in migration.steps.enumerated() {
      let result = try run(step, made, StageHandling.run(step.stage?.willMigrateHandler, on: contents))
      report = place == 0 ? result.report : report.followed(by: result.report)
      if !isDry { try result.report.check(path: migration.path) }
      if !result.report.obstacles.isEmpty { break }
      made =
        MappingCoverage(step.mappingModel, from: contents.model, to: step.destinationModel, made: made).madeProperties
      contents = try StageHandling.run(step.stage?.didMigrateHandler, on: result.contents)
    }
    return (contents, report)
  }

  private func run(
    _ step: MigrationStep,
    _ made: Set<PropertyPath>,
    _ contents: StoreContents
  ) throws -> (contents: StoreContents, report: MigrationReport) {
    // The records' own model: one that is equal may list its properties in another order.
    let source = contents.model
    try Self.check(step, from: source, path: migration.path)
    guard step.passes.count == 1,
      let plan = TablePlan(step.mappingModel, from: source, to: step.destinationModel, made: made)
    else {
      let objects = ObjectMigration(step, migration.options, progress, made: made, allowsLoss: migration.allowsLoss)
      return try objects.run(contents)
    }
    return try followColumns(plan, to: step.destinationModel, contents)
  }

  private func followColumns(
    _ plan: TablePlan,
    to model: ManagedObjectModel,
    _ contents: StoreContents
  ) throws -> (contents: StoreContents, report: MigrationReport) {
    let resolutions = migration.options[.migrationResolutions] ?? MigrationResolutions()
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
    // The new model may derive what the old one did not, or otherwise. What is derived may have to be there, or to be unique.
    let derived = try DerivedAttributes(model)
    let result = try tableMigration.run(contents) { tables in
      try BatchDerivation.derivingAll(derived, of: migrated(tables)).tables
    }
    let new = migrated(result.tables)
    if result.report.obstacles.isEmpty { try BatchDerivation.checkAll(derived, of: new) }
    return (new, result.report)
  }

  /// Makes sure that a step's mapping model leads from one model to the other.
  static func check(_ step: MigrationStep, from source: ManagedObjectModel, path: String?) throws(PersistenceError) {
    // A pass may name the mappings of others.
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
