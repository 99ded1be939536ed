import Heartwood
import HeartwoodModelFiles
import HeartwoodFoundation
import HeartwoodStore

/// Finds the models and mapping models for a migration, and performs it.
struct StoreMigrationRun {
  /// The result of a migration or of a dry run.
  struct Result {
    let steps: [MigrationStep]
    let report: MigrationReport
    /// Whether the other file cannot be opened without giving a model, unlike the old file.
    let lacksModel: Bool
  }

  private let command: MigrateCommand
  private let progress: ProgressBar
  private let registry = StoreRegistry.tool

  init(_ command: MigrateCommand, _ progress: ProgressBar) {
    self.command = command
    self.progress = progress
  }

  /// Returns nil if the store has that version already.
  func run() throws -> Result? {
    guard let migration = try migration() else { return nil }
    // If nothing has to be done, an existing backup does not matter.
    if command.backup { try checkBackup() }
    return Result(steps: migration.steps, report: try run(migration), lacksModel: try lacksModel())
  }

  /// Returns the migration without running it; nil if the store has that version already.
  func migration() throws -> StoreMigration? {
    let source = POSIXFileSystem()
    if let path = place.path { progress.expect(byteCount: try source.storeStatus(atPath: path).size) }
    let locator = ModelLocator(registry: registry, fileSystem: source)
    let newModel = model(try locator.model(at: command.toModel, version: command.modelVersion))
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: newModel,
      registry: registry,
      fileSystem: ObservedFileSystem(base: source, progress: progress)
    )
    return try coordinator.migration(
      ofStoreAt: place.argumentURL,
      type: command.from.map { StoreType($0) },
      options: try options(newModel, locator)
    )
  }

  /// Returns a model that the user gives, and prints its notes.
  private func model(_ located: LocatedModel) -> ManagedObjectModel {
    if !command.quiet { located.tellNotes(beside: progress) }
    return located.model
  }

  private func run(_ migration: StoreMigration) throws -> MigrationReport {
    let bar = progress
    let progress = MigrationProgress { phase in
      switch phase {
      case .reading: bar.begin(.reading)
      case .migrating: bar.begin(.migrating)
      case .writing: bar.begin(.writing)
      }
    }
    bar.measure(.migrating) { [weak progress] in progress?.fractionCompleted ?? 0 }
    guard let output = command.output else {
      if !command.dryRun { try checkLeavesRecords(migration) }
      return try command.dryRun ? migration.dryRun(progress: progress) : migration.run(progress: progress)
    }
    let destination = destination(output)
    try destination.check(against: place, in: POSIXFileSystem())
    let (url, type) = (destination.place.argumentURL, try destination.type(in: registry))
    return try command.dryRun
      ? migration.dryRun(to: url, type: type, replacing: command.force, progress: progress)
      : migration.run(to: url, type: type, replacing: command.force, progress: progress)
  }

  private func destination(_ output: String) -> Destination {
    Destination(path: output, typeName: command.to, isReplaced: command.force)
  }

  private var place: StorePlace { StorePlace(argument: command.store) }

  private var storeType: StoreType {
    get throws { try command.from.map { StoreType($0) } ?? registry.type(ofStoreAt: place) }
  }

  private func lacksModel() throws -> Bool {
    guard let output = command.output else { return false }
    let capabilities = try registry.format(for: storeType).typeDescription.capabilities
    guard capabilities.supports(.embeddedModel) else { return false }
    let destination = destination(output)
    return !ModelLocator(registry: registry, fileSystem: POSIXFileSystem()).hasModel(
      ofStoreAt: destination.place,
      try registry.format(for: destination.type(in: registry))
    )
  }

  /// Refuses to remove all records of a store without a backup. This can happen only if an entity has been removed.
  private func checkLeavesRecords(_ migration: StoreMigration) throws {
    let isEntityGone = migration.differences.changes.contains { $0.kind == .removed && !$0.isOfProperty }
    guard !command.backup, isEntityGone else { return }
    let report = try migration.dryRun()
    guard command.empties(report) else { return }
    throw ToolError(
      at: command.store,
      "None of the \(Quantity.text(report.sourceCount, "record")) would be left, because the new model has no such entities. "
        + "Give the model of this store, or --backup to keep the old file. The store is unchanged."
    )
  }

  private func options(_ newModel: ManagedObjectModel, _ locator: ModelLocator) throws -> StoreOptions {
    var options = StoreOptions()
    let bundle = URL(argument: command.toModel)
    let isBundle = (try? DataModelFile.versions(at: bundle).count > 1) ?? false
    let versions = try isBundle ? DataModelFile.models(at: bundle) : []
    if isBundle { try options.setMigrations(fromModelAt: bundle, findsMappingModels: !command.infer) }
    let former = try command.fromModel.map { model(try locator.model(at: $0)) }
    options[.writtenModel] = former
    options[.olderModels] = Self.versions(former, options[.olderModels])
    options[.mappingModels] =
      try command.mapping.map { try mappingModel($0, versions, former: former, model: newModel) }
      + options[.mappingModels]
    options[.migrationResolutions] = MigrationResolutions(
      duplicates: command.duplicates,
      severalObjects: command.several,
      unfitValues: command.unfit
    )
    options[.allowsMigrationLoss] = command.allowLoss
    options[.migratesInStore] = !command.throughMemory
    if command.backup { options[.migrationBackupPath] = backupPath }
    return options
  }

  /// Returns the versions in order, the oldest first. If the model that the user gives is not one of the bundle's
  /// versions, it is the oldest.
  private static func versions(_ former: ManagedObjectModel?, _ versions: [ManagedObjectModel]) -> [ManagedObjectModel]
  {
    guard let former else { return versions }
    return versions.contains(where: former.isSameVersion) ? versions : [former] + versions
  }

  private var backupPath: String { command.store + ".backup" }

  private func checkBackup() throws {
    guard try POSIXFileSystem().status(atPath: backupPath) == nil else {
      throw ToolError(
        at: backupPath,
        "There is already a file in the place of the backup. Move it away, or leave out --backup."
      )
    }
  }

  /// Returns a mapping model that the user gives: between the versions that it names, or from the store's model to the
  /// new one.
  private func mappingModel(
    _ path: String,
    _ versions: [(version: String, model: ManagedObjectModel)],
    former: ManagedObjectModel?,
    model: ManagedObjectModel
  ) throws -> MappingModel {
    let file = try MappingModelFile(contentsOf: URL(argument: path))
    let named = [file.sourceVersion, file.destinationVersion].map { name in
      versions.first { $0.version == name }?.model
    }
    let source = try named[0] ?? former ?? storeModel()
    return try file.mappingModel(forSourceModel: source, destinationModel: named[1] ?? model)
  }

  /// Returns the model in the store's own file.
  private func storeModel() throws -> ManagedObjectModel {
    let type = try storeType
    let locator = ModelLocator(registry: registry, fileSystem: POSIXFileSystem())
    return try locator.model(forStoreAt: place, type, try registry.format(for: type)).model
  }
}

// MARK: DraftFolder

/// A folder beside a file, in which a store is written before it replaces the file. Only the owner can access it.
///
/// If the user interrupts the process, the folder is removed. It is locked while it is in use. A folder that is not
/// locked was left by a process that was killed, and is removed when the next draft of the same file is made.
final class DraftFolder {
  /// The path at which the store is written.
  let storePath: String
  private let path: String
  private let lock: any FileLock
  private let interruption: Interruption

  private static let names = TemporaryName(suffix: ".heartwood-draft")
  private static let greatestAttempts = 100

  /// - Parameter target: the path of the file, without symbolic links.
  init(beside target: String) throws {
    let (directory, name) = PathParts.split(target)
    Self.removeAbandoned(in: directory, for: name)
    let (path, lock) = try Self.make(in: directory, for: name)
    // Moving a store locks the folder that contains it. This folder is locked already, so the store is in another one
    // within it.
    let folder = PathParts.join(path, "store")
    (self.path, self.lock, storePath) = (path, lock, PathParts.join(folder, name))
    interruption = Interruption { Self.remove(path) }
    do {
      try POSIXFileSystem().createFolder(atPath: folder)
    } catch {
      remove()
      throw error
    }
  }

  /// Removes the folder with its contents. If something cannot be removed, the next draft removes it.
  func remove() {
    Self.remove(path)
    interruption.end()
    lock.release()
  }

  private static func remove(_ path: String) {
    // Another thread may still be writing in it.
    for _ in 0..<greatestAttempts where (try? POSIXFileSystem().status(atPath: path)) != nil {
      try? FileManager.default.removeItem(atPath: path)
    }
  }

  private static func make(in directory: String, for name: String) throws -> (path: String, lock: any FileLock) {
    let fileSystem = POSIXFileSystem()
    for _ in 0..<greatestAttempts {
      let path = PathParts.join(directory, names.make(for: name))
      try FileManager.default.createDirectory(
        atPath: path,
        withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700]
      )
      // Another process may have removed it as abandoned before it was locked.
      guard let lock = fileSystem.lockFileIfFree(atPath: path) else { continue }
      if try fileSystem.status(atPath: path) != nil { return (path, lock) }
      lock.release()
    }
    throw ToolError(at: directory, "No folder for a draft can be made there.")
  }

  private static func removeAbandoned(in directory: String, for name: String) {
    let fileSystem = POSIXFileSystem()
    for entry in (try? fileSystem.entries(ofFolderAtPath: directory)) ?? []
    where entry.kind == .folder && names.belongs(entry.name, to: name) {
      let path = PathParts.join(directory, entry.name)
      guard let lock = fileSystem.lockFileIfFree(atPath: path) else { continue }
      remove(path)
      lock.release()
    }
  }
}
