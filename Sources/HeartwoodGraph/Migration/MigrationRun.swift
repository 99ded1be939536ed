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
    for (place, step) in migration.steps.enumerated() {
      let result = try run(step, StageHandling.run(step.stage?.willMigrateHandler, on: contents))
      report = place == 0 ? result.report : report.followed(by: result.report)
      if !isDry { try result.report.check(path: migration.path) }
      if !result.report.obstacles.isEmpty { break }
      contents = try StageHandling.run(step.stage?.didMigrateHandler, on: result.contents)
    }
    return (try isDry ? contents : Self.derived(contents), report)
  }

  /// What is derived, computed of the new values: the new model may derive what the old one did not, or otherwise.
  private static func derived(_ contents: StoreContents) throws -> StoreContents {
    guard contents.model.hasDerivedAttributes else { return contents }
    return try BatchDerivation.derivingAll(try DerivedAttributes(contents.model), of: contents)
  }

  private func run(
    _ step: MigrationStep,
    _ contents: StoreContents
  ) throws -> (contents: StoreContents, report: MigrationReport) {
    // The records' own model: one that is equal may list its properties in another order.
    let source = contents.model
    try Self.check(step, from: source, path: migration.path)
    guard step.passes.count == 1, let plan = TablePlan(step.mappingModel, from: source, to: step.destinationModel)
    else {
      return try ObjectMigration(step, migration.options, progress).run(contents)
    }
    let resolutions = migration.options[.migrationResolutions] ?? MigrationResolutions()
    let result = try TableMigration(plan, resolutions: resolutions, progress: progress).run(contents)
    let migrated = contents.migrated(
      to: step.destinationModel,
      entities: migration.entities(of: step.destinationModel),
      tables: result.tables
    )
    return (migrated, result.report)
  }

  /// Makes sure that a step's mapping model leads from one model to the other.
  static func check(_ step: MigrationStep, from source: ManagedObjectModel, path: String?) throws(PersistenceError) {
    let faults = step.mappingModel.faults(from: source, to: step.destinationModel)
    guard !faults.isEmpty else { return }
    throw PersistenceError(
      .mappingModelUnusable,
      "The mapping model does not fit the models:\n" + faults.map { "  \($0)" }.joined(separator: "\n"),
      context: .init(path: path)
    )
  }
}
