public import HeartwoodModel
public import HeartwoodStore
import Logging

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The migration that a store needs before it can be opened with a model.
///
///     if let migration = try coordinator.migration(ofStoreAt: url) { try migration.run() }
///     try coordinator.addPersistentStore(at: url)
///
/// Nothing is changed before ``run(progress:)``. The new file is written beside the old one and takes its place in one step, with
/// its side files; whatever happens before, the old store is as it was.
public struct StoreMigration: Sendable {
  private let opener: StoreOpener
  private let request: StoreOpener.Request
  private let origin: StoreOrigin
  private let logger: Logger?
  /// The steps of the way, in order; at least one.
  public let steps: [MigrationStep]

  /// What the store tells about itself.
  public var metadata: StoreMetadata { origin.metadata }
  /// The model that the store was written with.
  public var sourceModel: ManagedObjectModel { origin.model }
  /// The model that it is to be opened with.
  public var destinationModel: ManagedObjectModel { opener.model }
  /// What differs between them.
  public var differences: ModelDifferences { ModelDifferences(from: sourceModel, to: destinationModel) }

  /// - Throws: ``PersistenceError/Code/migrationModelMissing``, ``PersistenceError/Code/mappingModelMissing``.
  init(_ opener: StoreOpener, _ request: StoreOpener.Request, _ logger: Logger?) throws {
    self.opener = opener
    self.logger = logger
    self.request = request
    origin = try opener.origin(request)
    steps = try Self.steps(from: origin.model, opener, request)
  }
}

// MARK: The way

extension StoreMigration {
  private static func steps(
    from source: ManagedObjectModel,
    _ opener: StoreOpener,
    _ request: StoreOpener.Request
  ) throws -> [MigrationStep] {
    let destination = opener.model
    if let passes = request.options[.migrationPasses], !passes.isEmpty {
      return [MigrationStep(sourceModel: source, destinationModel: destination, passes: passes)]
    }
    if let manager = request.options[.stagedMigrationManager] {
      return try manager.steps(
        from: source,
        to: destination,
        versions: request.options[.olderModels] ?? [],
        mappings: request.options[.mappingModels] ?? []
      )
    }
    let route = MigrationRoute(
      models: versions(from: source, to: destination, request.options[.olderModels] ?? []),
      mappings: request.options[.mappingModels] ?? [],
      infers: request.options[.shouldInferMappingModelAutomatically] ?? true
    )
    if let steps = route.steps() { return steps }
    throw missing(source, destination, request)
  }

  /// The versions on the way: those between the two in the order in which they are given. A store that is of none of them is taken for older
  /// than all, and a model that is none for newer. A way over a version that is older than both would lose what only the newer ones have.
  private static func versions(
    from source: ManagedObjectModel,
    to destination: ManagedObjectModel,
    _ older: [ManagedObjectModel]
  ) -> [ManagedObjectModel] {
    let place = { (model: ManagedObjectModel) in older.firstIndex { $0.isSameVersion(as: model) } }
    let (start, end) = (place(source) ?? -1, place(destination) ?? older.count)
    let between = older[(min(start, end) + 1)..<max(start, end, min(start, end) + 1)]
    return [source] + (start > end ? between.reversed() : Array(between)) + [destination]
  }

  private static func missing(
    _ source: ManagedObjectModel,
    _ destination: ManagedObjectModel,
    _ request: StoreOpener.Request
  ) -> PersistenceError {
    let context = PersistenceError.Context(path: request.path, storeType: request.type)
    do throws(MappingInferenceError) {
      _ = try MappingModel.inferredMappingModel(forSourceModel: source, destinationModel: destination)
      return PersistenceError(
        .mappingModelMissing,
        "No mapping model leads from the store's model to this one, and none is to be inferred. Give one with the option mappingModels, or "
          + "leave out shouldInferMappingModelAutomatically.",
        context: context
      )
    } catch {
      return PersistenceError(
        .mappingModelMissing,
        "No mapping model leads from the store's model to this one. \(error)",
        context: context
      )
    }
  }
}

// MARK: Running

extension StoreMigration {
  /// What the migration would do, with the number of records, and what stands in its way: the new records are made in memory, and
  /// nothing is written. O(records).
  ///
  /// - Throws: what ``run(progress:)`` throws for another reason than records that do not fit the new model, which the report tells.
  public func dryRun(progress: MigrationProgress = MigrationProgress()) throws -> MigrationReport {
    try MigrationRun(self, progress, isDry: true).run(try readContents(progress)).report
  }

  /// Migrates the store where it is. The option ``StoreOptionKey/migrationBackupPath`` keeps the old file.
  ///
  /// - Throws: ``PersistenceError/Code/migrationFailed`` with all records that do not fit,
  ///   ``PersistenceError/Code/migrationCancelled``, ``PersistenceError/Code/fileChangedOnDisk`` where somebody saved meanwhile,
  ///   ``PersistenceError/Code/fileWriteFailed``; the store is as it was then.
  @discardableResult
  public func run(progress: MigrationProgress = MigrationProgress()) throws -> MigrationReport {
    let (store, report) = try runInPlace(progress)
    _ = store.engine.close(unlessSavedSince: nil)
    return report
  }

  /// Writes what the store will be at another place, or as another type; the store itself is only read.
  ///
  /// - Parameter replacing: whether a file that stands there is replaced.
  @discardableResult
  public func run(
    to url: URL,
    type: StoreType? = nil,
    replacing: Bool = false,
    progress: MigrationProgress = MigrationProgress()
  ) throws -> MigrationReport {
    let log = OperationLog(.migrated, logger)
    var target = request
    target.path = url.path
    target.type = type ?? request.type
    let result = try write(to: target, replacing: replacing, progress) { try progress.begin(.writing) }
    _ = result.store.engine.close(unlessSavedSince: nil)
    log?.tell(self, result.report)
    return result.report
  }

  /// Migrates the store where it is, and leaves it open.
  func runInPlace(_ progress: MigrationProgress) throws -> (store: PersistentStore, report: MigrationReport) {
    let log = OperationLog(.migrated, logger)
    guard let path = request.path, !(request.options[.isReadOnly] ?? false) else {
      throw PersistenceError(
        .storeReadOnly,
        "The store has to be migrated, and is to be opened for reading only. Migrate it first.",
        context: .init(path: request.path, storeType: request.type)
      )
    }
    try opener.gatherSideFiles(request)
    let identity = try opener.fileSystem.status(atPath: path)?.identity
    do {
      let result = try write(to: request, replacing: true, expecting: identity, progress) {
        try progress.begin(.writing)
        if let backup = request.options[.migrationBackupPath] {
          try opener.copyStore(request, to: backup, replacing: false)
        }
        try progress.check()
      }
      log?.tell(self, result.report)
      return result
    } catch {
      // Reading may have made files beside the store, which was alone before.
      try? opener.gatherSideFiles(request)
      throw error
    }
  }

  /// Writes the new store and opens it: by itself where it can do that, or else of records in memory.
  ///
  /// - Parameter willReplace: called when nothing can stand in the way any more but the disk.
  private func write(
    to target: StoreOpener.Request,
    replacing: Bool,
    expecting identity: FileIdentity? = nil,
    _ progress: MigrationProgress,
    willReplace: () throws -> Void
  ) throws -> (store: PersistentStore, report: MigrationReport) {
    if let plan = planInStore {
      try progress.begin(.reading)
      let outcome = try opener.migrateInStore(
        plan,
        of: origin,
        from: request,
        to: target,
        replacing: replacing,
        expecting: identity,
        progress: progress,
        willMove: willReplace
      )
      switch outcome {
      case .done(let report): return (try opener.open(target), report)
      case .declined(let reason): logger?.debug("migrates through memory", metadata: ["because": "\(reason)"])
      }
    }
    if let report = try writeInPasses(to: target, replacing, identity, progress, willReplace) {
      return (try opener.open(target), report)
    }
    let result = try MigrationRun(self, progress).run(try readContents(progress))
    try willReplace()
    return (
      try opener.write(result.contents, to: target, replacing: replacing, expecting: identity), result.report
    )
  }

  /// Makes the new store pass by pass, where there are several and it can be written piecemeal; nil elsewhere.
  private func writeInPasses(
    to target: StoreOpener.Request,
    _ replacing: Bool,
    _ identity: FileIdentity?,
    _ progress: MigrationProgress,
    _ willReplace: () throws -> Void
  ) throws -> MigrationReport? {
    guard let step = steps.first, steps.count == 1, step.passes.count > 1 else { return nil }
    try MigrationRun.check(step, from: sourceModel, path: path)
    return try opener.makeStore(target, replacing: replacing, expecting: identity) { temporary in
      try progress.begin(.migrating)
      let migration = PassMigration(step, ObjectMigration(step, options, progress)) {
        try openCoordinator(sourceModel, try opener.open(request, from: origin))
      } openDestination: {
        try openCoordinator(destinationModel, try opener.open(temporary))
      }
      let report = try migration.run()
      try opener.setMetadata(origin.metadata, temporary)
      try willReplace()
      return report
    }
  }

  private func openCoordinator(
    _ model: ManagedObjectModel,
    _ store: PersistentStore
  ) throws -> PersistentStoreCoordinator {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: opener.registry,
      fileSystem: opener.fileSystem
    )
    try coordinator.add(store)
    return coordinator
  }

  /// What a store could do itself: one step that goes from table to table, and nothing that the application does.
  private var planInStore: TablePlan? {
    guard request.options[.migratesInStore] ?? true, steps.count == 1, let step = steps.first, step.stage == nil,
      step.passes.count == 1,
      step.destinationModel === destinationModel,
      step.mappingModel.faults(from: sourceModel, to: destinationModel).isEmpty
    else { return nil }
    return TablePlan(step.mappingModel, from: sourceModel, to: destinationModel)
  }

  /// All that the store keeps.
  private func readContents(_ progress: MigrationProgress) throws -> StoreContents {
    try progress.begin(.reading)
    let store = try opener.open(request, from: origin)
    defer { _ = store.engine.close(unlessSavedSince: nil) }
    return try store.engine.contents()
  }

  /// The entities of a model that the store keeps then.
  func entities(of model: ManagedObjectModel) -> [EntityDescription] {
    guard model === destinationModel else { return model.entities }
    return model.entities(forConfiguration: request.configurationName) ?? model.entities
  }

  var options: StoreOptions { request.options }
  var path: String? { request.path }
}
