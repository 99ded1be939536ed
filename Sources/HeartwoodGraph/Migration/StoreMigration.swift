public import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore
import Logging

/// The migration that a store needs before it can be opened with a model.
///
///     if let migration = try coordinator.migration(ofStoreAt: url) { try migration.run() }
///     try coordinator.addPersistentStore(at: url)
///
/// Nothing is changed before ``run(progress:)``. The new file is written beside the old one and replaces it in one
/// step, with its side files; if anything fails before, the old store is as it was.
public struct StoreMigration: Sendable {
  private let storeManager: StoreManager
  private let request: StoreManager.Request
  private let origin: StoreOrigin
  private let logger: Logger?
  /// Whether the store is migrated because it is opened, so that the report is not used.
  private let isAutomatic: Bool
  /// The steps, in order; at least one.
  public let steps: [MigrationStep]

  /// The metadata of the store.
  public var metadata: StoreMetadata { origin.metadata }
  /// The model with which the store was written.
  public var sourceModel: ManagedObjectModel { origin.model }
  /// The model with which it is to be opened.
  public var destinationModel: ManagedObjectModel { storeManager.model }
  /// The differences between both models.
  public var differences: ModelDifferences { ModelDifferences(from: sourceModel, to: destinationModel) }

  /// - Throws: ``PersistenceError/Code/migrationModelMissing``, ``PersistenceError/Code/mappingModelMissing``,
  ///   ``PersistenceError/Code/mappingModelUnusable``.
  init(_ storeManager: StoreManager, _ request: StoreManager.Request, _ logger: Logger?, isAutomatic: Bool = false)
    throws
  {
    self.storeManager = storeManager
    self.isAutomatic = isAutomatic
    self.logger = logger
    self.request = request
    origin = try storeManager.origin(request)
    steps = try MigrationWay.steps(from: origin.model, storeManager, request)
  }
}

// MARK: Running

extension StoreMigration {
  /// Returns a report of what ``run(progress:)`` would do, with the number of records and the obstacles. Nothing is
  /// written, and no file is changed; files that reading has created beside a store's file are removed, if there were
  /// none before.
  ///
  /// An SQLite store that can make its new records itself counts in SQL, and reads none of them. For all others, the
  /// new records are made in memory. O(records).
  ///
  /// - Throws: the errors of ``run(progress:)``, except for records that do not fit the new model, which the report
  ///   contains; but it throws if derived values violate a rule.
  public func dryRun(progress: MigrationProgress = MigrationProgress()) throws -> MigrationReport {
    _ = try writablePlace()
    try storeManager.checkMigratesInPlace(request)
    if let backup = request.options[.migrationBackupPath] { _ = try storeManager.hasBackup(request, at: backup) }
    return try foresee(request, replacing: true, progress)
  }

  /// Returns a report of what ``run(to:type:replacing:progress:)`` would do; see ``dryRun(progress:)``.
  ///
  /// - Parameter replacing: whether an existing file would be replaced.
  public func dryRun(
    to url: URL,
    type: StoreType? = nil,
    replacing: Bool = false,
    progress: MigrationProgress = MigrationProgress()
  ) throws -> MigrationReport {
    try foresee(target(url, type), replacing: replacing, progress)
  }

  /// Migrates the store in place. With the option ``StoreOptionKey/migrationBackupPath``, the old file is kept, unless
  /// the migration fails.
  ///
  /// - Throws: ``PersistenceError/Code/migrationFailed`` with all records that do not fit, and all that would be lost
  ///   unless the option ``StoreOptionKey/allowsMigrationLoss`` is set, ``PersistenceError/Code/migrationCancelled``,
  ///   ``PersistenceError/Code/fileChangedOnDisk`` if another process has saved meanwhile,
  ///   ``PersistenceError/Code/storeReadOnly`` if another program keeps data in the file that would be lost, as Core
  ///   Data does for CloudKit, ``PersistenceError/Code/fileWriteFailed``. Then the store is as it was.
  @discardableResult
  public func run(progress: MigrationProgress = MigrationProgress()) throws -> MigrationReport {
    let (store, report) = try runInPlace(progress)
    _ = store.engine.close(unlessSavedSince: nil)
    return report
  }

  /// Writes the migrated store at another place, or as another type; the store itself is only read.
  ///
  /// - Parameter replacing: whether an existing file is replaced.
  @discardableResult
  public func run(
    to url: URL,
    type: StoreType? = nil,
    replacing: Bool = false,
    progress: MigrationProgress = MigrationProgress()
  ) throws -> MigrationReport {
    let log = OperationLog(.migrated, logger)
    let result = try storeManager.leavingAlone(request) {
      try write(to: target(url, type), replacing: replacing, progress) { try progress.begin(.writing) }
    }
    _ = result.store.engine.close(unlessSavedSince: nil)
    log?.tell(self, result.report)
    return result.report
  }

  /// Migrates the store in place, and leaves it open.
  func runInPlace(_ progress: MigrationProgress) throws -> (store: PersistentStore, report: MigrationReport) {
    let log = OperationLog(.migrated, logger)
    let place = try writablePlace()
    try storeManager.checkMigratesInPlace(request)
    try storeManager.checkpoint(request)
    let identity = try place.path.flatMap { try storeManager.fileSystem.status(atPath: $0)?.identity }
    var hasMadeBackup = false
    do {
      let result = try write(to: request, replacing: true, expecting: identity, progress) {
        try progress.begin(.writing)
        if let backup = request.options[.migrationBackupPath], try storeManager.backUp(request, to: backup) {
          hasMadeBackup = true
        }
        try progress.check()
      }
      log?.tell(self, result.report)
      return result
    } catch {
      if hasMadeBackup { removeBackup() }
      // Reading may have created files beside the store, which had none before.
      // try?: the error of the migration is thrown.
      try? storeManager.checkpoint(request)
      throw error
    }
  }

  /// Removes the backup of an unchanged store. If the new store is in its place, the backup is all that is left of the
  /// old one.
  private func removeBackup() {
    // try?: a backup that may be all that is left of the store stays.
    guard let backup = request.options[.migrationBackupPath], (try? storeManager.needsMigration(request)) == true else {
      return
    }
    storeManager.removeBackup(of: request, at: backup)
  }

  private func writablePlace() throws(PersistenceError) -> StorePlace {
    if let place = request.place, !request.options[.isReadOnly] { return place }
    throw PersistenceError(
      .storeReadOnly,
      "The store has to be migrated, but was opened for reading only.",
      recovery: "Migrate it first.",
      context: .init(path: request.placeName, storeType: request.type)
    )
  }

  private func target(_ url: URL, _ type: StoreType?) -> StoreManager.Request {
    var target = request.moved(to: StorePlace(url))
    target.type = type ?? request.type
    return target
  }

  /// Returns a report of what would be written to `target`.
  private func foresee(
    _ target: StoreManager.Request,
    replacing: Bool,
    _ progress: MigrationProgress
  ) throws -> MigrationReport {
    try storeManager.checkPlace(target, replacing: replacing)
    let target = try storeManager.keepingForm(of: request, from: origin, in: target)
    return try storeManager.leavingAlone(request) {
      let attempt = try inStore(progress) { plan in
        try storeManager.foreseeInStore(
          plan,
          of: origin,
          from: request,
          to: target,
          allowsLoss: allowsLoss,
          progress: progress
        )
      }
      if let report = attempt.report { return report }
      let (contents, lostTransactionCount) = try readContents(progress)
      var result = try MigrationRun(self, progress, isDry: true).run(contents)
      result.report.reasonNotInStore = attempt.reason
      result.report.lostTransactionCount = lostTransactionCount
      result.report.hasRenamedRecords = try renamesRecords(of: result.contents, target.type)
      if result.report.obstacles.isEmpty { try storeManager.checkFit(result.contents, target) }
      return result.report
    }
  }

  /// Writes the new store and opens it: in the store itself if it can do that, otherwise from records in memory.
  ///
  /// - Parameter willReplace: called when only the disk can prevent success any more.
  private func write(
    to target: StoreManager.Request,
    replacing: Bool,
    expecting identity: FileIdentity? = nil,
    _ progress: MigrationProgress,
    willReplace: () throws -> Void
  ) throws -> (store: PersistentStore, report: MigrationReport) {
    let target = try storeManager.keepingForm(of: request, from: origin, in: target)
    let attempt = try inStore(progress) { plan in
      try storeManager.migrateInStore(
        plan,
        of: origin,
        from: request,
        to: target,
        replacing: replacing,
        expecting: identity,
        allowsLoss: allowsLoss,
        progress: progress,
        willMove: willReplace
      )
    }
    if let report = attempt.report { return (try storeManager.open(target), report) }
    if var report = try writeInPasses(to: target, replacing, identity, progress, willReplace) {
      report.reasonNotInStore = attempt.reason
      return (try storeManager.open(target), report)
    }
    let (contents, lostTransactionCount) = try readContents(progress)
    var result = try MigrationRun(self, progress).run(contents)
    result.report.reasonNotInStore = attempt.reason
    result.report.lostTransactionCount = lostTransactionCount
    try willReplace()
    let store = try storeManager.write(result.contents, to: target, replacing: replacing, expecting: identity)
    result.report.hasRenamedRecords = store.engine.hasRenamedRecords
    return (store, result.report)
  }

  private func renamesRecords(of contents: StoreContents, _ type: StoreType) throws -> Bool {
    let format = try storeManager.registry.format(for: type)
    // An atomic store keeps the references that it is given.
    guard format is any IncrementalStoreFormat else { return false }
    return try !contents.areNamed(as: format.typeDescription.capabilities.referenceKinds)
  }

  /// Returns the report of `body` if the store can make its new records itself, or the reason why it does not.
  private func inStore(
    _ progress: MigrationProgress,
    _ body: (MigrationPlan) throws -> MigrationReport
  ) throws -> (report: MigrationReport?, reason: MigrationReport.InStoreObstacle?) {
    guard try storeManager.canMigrateInStore(request.type) else { return (nil, nil) }
    do {
      let plan = try planInStore()
      try progress.begin(.migrating)
      let lostTransactionCount = try lostTransactionCount(nil)
      var report = try body(plan)
      report.lostTransactionCount = lostTransactionCount
      return (report, nil)
    } catch let obstacle as InStoreMigration.Obstacle {
      logger?.debug("migrates through memory", metadata: ["because": "\(obstacle.reason)"])
      return (nil, obstacle.reason)
    }
  }

  /// Makes the new store pass by pass, if there are several and it can be written in parts; otherwise returns nil.
  private func writeInPasses(
    to target: StoreManager.Request,
    _ replacing: Bool,
    _ identity: FileIdentity?,
    _ progress: MigrationProgress,
    _ willReplace: () throws -> Void
  ) throws -> MigrationReport? {
    guard let step = steps.first, steps.count == 1, step.passes.count > 1 else { return nil }
    try MigrationRun.check(step, from: sourceModel, path: path)
    return try storeManager.makeStore(target, replacing: replacing, expecting: identity) { temporary in
      try progress.begin(.migrating)
      var (lostTransactionCount, lastNumber): (Int, Int64?) = (0, nil)
      let migration = PassMigration(step, ObjectMigration(step, options, progress, allowsLoss: allowsLoss)) {
        let store = try storeManager.open(request, from: origin)
        let history = try store.engine.history()
        (lostTransactionCount, lastNumber) = (try self.lostTransactionCount(history), history?.lastNumber)
        return try openCoordinator(sourceModel, store)
      } openDestination: {
        try openCoordinator(destinationModel, try storeManager.open(temporary))
      }
      var report = try migration.run()
      try report.check(path: path)
      report.lostTransactionCount = lostTransactionCount
      try storeManager.setMetadata(origin.metadata, temporary)
      if let lastNumber { try storeManager.beginHistory(after: lastNumber, temporary) }
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
      registry: storeManager.registry,
      fileSystem: storeManager.fileSystem
    )
    try coordinator.add(store)
    return coordinator
  }

  /// Returns the plan of a migration that a store can run itself: one step from table to table, without code of the
  /// application.
  private func planInStore() throws(InStoreMigration.Obstacle) -> MigrationPlan {
    guard request.options[.migratesInStore] else { throw .init(.option, "that was requested") }
    guard let step = steps.first, steps.count == 1 else { throw .init("there are \(steps.count) steps") }
    guard step.stage == nil else { throw .init("the application takes part in it") }
    guard step.passes.count == 1 else { throw .init("there are \(step.passes.count) passes") }
    guard step.destinationModel === destinationModel,
      step.mappingModel.faults(from: sourceModel, to: destinationModel).isEmpty,
      let plan = MigrationPlan(step.mappingModel, from: sourceModel, to: destinationModel)
    else { throw .init("the mapping model asks for more than columns of tables") }
    return plan
  }

  /// Returns the number of transactions that the new store lacks: those of a readable history, or of an unreadable one
  /// in the file.
  private func lostTransactionCount(_ history: (any KeptHistory)?) throws -> Int {
    try history?.transactionCount ?? storeManager.foreignContents(request).transactionCount
  }

  /// Returns all contents of the store. Of its history, they contain only the number of the last transaction.
  private func readContents(
    _ progress: MigrationProgress
  ) throws -> (contents: StoreContents, lostTransactionCount: Int) {
    try progress.begin(.reading)
    let store = try storeManager.open(request, from: origin)
    defer { _ = store.engine.close(unlessSavedSince: nil) }
    let history = try store.engine.history()
    var contents = try store.engine.contents()
    contents.endHistory(after: history?.lastNumber)
    return (contents, try lostTransactionCount(history))
  }

  /// Returns the entities of a model that the store keeps after the migration.
  func entities(of model: ManagedObjectModel) -> [EntityDescription] {
    guard model === destinationModel else { return model.entities }
    return model.entities(forConfiguration: request.configurationName) ?? model.entities
  }

  /// Whether records and values may be lost from which nothing is made. An application whose stores are migrated as
  /// they are opened has changed its model itself, and its users cannot be asked.
  var allowsLoss: Bool { request.options[.allowsMigrationLoss] ?? isAutomatic }

  var options: StoreOptions { request.options }
  var path: String? { request.placeName }
}

// MARK: PersistentStoreCoordinator: migration

extension PersistentStoreCoordinator {
  /// Returns the migration that a store needs before it can be opened with this model, or nil if it needs none. Nothing
  /// is changed, and no records are read.
  ///
  /// - Parameters:
  ///   - type: the registered type; nil stands for the type that is detected from the file's name or content.
  ///   - configuration: the configuration whose entities the store keeps; nil stands for all.
  ///   - options: ``StoreOptionKey/olderModels``, ``StoreOptionKey/mappingModels``,
  ///     ``StoreOptionKey/entityMigrationPolicies``, ``StoreOptionKey/migrationResolutions``,
  ///     ``StoreOptionKey/allowsMigrationLoss`` and ``StoreOptionKey/migrationBackupPath`` configure the migration.
  /// - Throws: ``PersistenceError/Code/migrationModelMissing``; ``PersistenceError/Code/mappingModelMissing``, whose
  ///   message lists each reason, if there is no mapping model to this model and none can be inferred;
  ///   ``PersistenceError/Code/mappingModelUnusable`` if there are several given ones and none states the versions that
  ///   it is for.
  public func migration(
    ofStoreAt url: URL,
    type: StoreType? = nil,
    configuration: String? = nil,
    options: StoreOptions = StoreOptions()
  ) throws -> StoreMigration? {
    let request = try request(type: type, configuration: configuration, at: url, options: options)
    try checkNotOpen(request.place)
    return try storeManager.needsMigration(request) ? StoreMigration(storeManager, request, logger) : nil
  }

  /// Opens a store, after a migration if one is needed and the options allow it.
  func openMigrated(_ request: StoreManager.Request) throws -> PersistentStore {
    guard request.options[.shouldMigrateStoreAutomatically], try storeManager.needsMigration(request) else {
      return try storeManager.open(request)
    }
    return try StoreMigration(storeManager, request, logger, isAutomatic: true).runInPlace(MigrationProgress()).store
  }
}
