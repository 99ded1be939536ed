public import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodModelFiles
import Synchronization

/// The key of the option: the ``NSStagedMigrationManager`` that migrates a store.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"

/// The stages that migrate stores of any older version of a model to the newest.
///
///     let stage = NSCustomMigrationStage(migratingFrom: old, to: new)
///     stage.didMigrateHandler = { manager, _ in
///       guard let context = manager.container?.newBackgroundContext() else { return }
///       try context.performAndWait { … }
///     }
///     description.setOption(
///       NSStagedMigrationManager([stage]), forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
///
/// A store begins at the stage of its version. The stages run in memory, and the file is written once, at the end.
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
  // `@unchecked Sendable`: the stages are constant, and the container is protected by a lock.

  /// The stages, in order.
  public final let stages: [NSMigrationStage]
  private final let shown = Mutex<NSPersistentContainer?>(nil)

  /// Creates a manager of stages, the oldest first.
  public init(_ stages: [NSMigrationStage]) { self.stages = stages }

  /// The container of the records, while a handler of a stage runs.
  open var container: NSPersistentContainer? { shown.withLock { $0 } }

  /// Calls the handler of a stage for the records of a context.
  fileprivate final func run(
    _ handler: NSCustomMigrationStage.Handler,
    _ stage: NSCustomMigrationStage,
    on context: ManagedObjectContext
  ) throws {
    let coordinator = NSPersistentStoreCoordinator(showing: context.persistentStoreCoordinator)
    let container = NSPersistentContainer(showing: coordinator)
    shown.withLock { $0 = container }
    defer { shown.withLock { $0 = nil } }
    try handler(self, stage)
  }

  /// Returns the manager in Heartwood's form.
  ///
  /// - Throws: a `CocoaError` if a model cannot be found.
  final func manager() throws -> StagedMigrationManager {
    StagedMigrationManager(try stages.map { try $0.stage(self) })
  }

  /// The models of the stages, as far as these have models.
  final func models() throws -> [ManagedObjectModel] {
    try stages.flatMap { stage in
      guard let custom = stage as? NSCustomMigrationStage else { return [] as [ManagedObjectModel] }
      return [try custom.currentModel.model(), try custom.nextModel.model()]
    }
  }
}

// MARK: Stages

/// A stage of an ``NSStagedMigrationManager``: an ``NSLightweightMigrationStage`` or an ``NSCustomMigrationStage``.
open class NSMigrationStage: NSObject, @unchecked Sendable {
  // `@unchecked Sendable`: a stage is set up by one thread before a store is migrated.

  /// A name for errors.
  open var label: String?

  fileprivate func stage(_ manager: NSStagedMigrationManager) throws -> MigrationStage {
    throw CocoaError.make(.migration, "A stage is an NSLightweightMigrationStage or an NSCustomMigrationStage.")
  }
}

/// Versions of a model to which a store is migrated one after the other by inference.
open class NSLightweightMigrationStage: NSMigrationStage, @unchecked Sendable {
  // `@unchecked Sendable`: as its superclass.

  /// The checksums of the versions, in order: ``NSManagedObjectModel/versionChecksum``.
  public final let versionChecksums: [String]

  /// Creates a stage over versions that were read from files, or are the models of other stages.
  public init(_ versionChecksums: [String]) { self.versionChecksums = versionChecksums }

  fileprivate override func stage(_ manager: NSStagedMigrationManager) throws -> MigrationStage {
    .lightweight(LightweightMigrationStage(versionChecksums, label: label ?? ""))
  }
}

/// A migration from one version to the next, with code of the application that changes objects before and after it.
///
/// The handlers find the objects in ``NSStagedMigrationManager/container``; they are of the class NSManagedObject.
open class NSCustomMigrationStage: NSMigrationStage, @unchecked Sendable {
  // `@unchecked Sendable`: as its superclass.

  /// The code of a stage. If it throws, the migration ends, and the store is left as it was.
  public typealias Handler = (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void

  /// The version before the stage.
  public final let currentModel: NSManagedObjectModelReference
  /// The version after the stage.
  public final let nextModel: NSManagedObjectModelReference
  /// Called with the records of the version before.
  open var willMigrateHandler: Handler?
  /// Called with the records of the version after.
  open var didMigrateHandler: Handler?

  /// Creates a stage.
  public init(
    migratingFrom currentModel: NSManagedObjectModelReference,
    to nextModel: NSManagedObjectModelReference
  ) {
    self.currentModel = currentModel
    self.nextModel = nextModel
  }

  fileprivate override func stage(_ manager: NSStagedMigrationManager) throws -> MigrationStage {
    .custom(
      CustomMigrationStage(
        migratingFrom: try currentModel.model(),
        to: try nextModel.model(),
        label: label ?? "",
        willMigrate: willMigrateHandler.map { handler in core(Work(handler), manager) },
        didMigrate: didMigrateHandler.map { handler in core(Work(handler), manager) }
      )
    )
  }

  private final func core(_ handler: Work<Handler>, _ manager: NSStagedMigrationManager) -> CustomMigrationStage.Handler
  {
    { [self] context in try manager.run(handler.body, self, on: context) }
  }
}

// MARK: NSManagedObjectModelReference

/// A version of a model: the model itself, its file, or its name in a bundle.
open class NSManagedObjectModelReference: NSObject, @unchecked Sendable {
  // `@unchecked Sendable`: it never changes.

  /// The checksum that the model must have.
  public final let versionChecksum: String
  private final let find: () throws -> NSManagedObjectModel?

  /// Refers to a model.
  public init(model: NSManagedObjectModel, versionChecksum: String) {
    self.versionChecksum = versionChecksum
    find = { model }
  }

  /// Refers to a model in a file.
  public init(fileURL: URL, versionChecksum: String) {
    self.versionChecksum = versionChecksum
    find = { NSManagedObjectModel(contentsOf: fileURL) }
  }

  /// Refers to a version called `modelName` of a model in a bundle; nil stands for the main bundle.
  public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
    self.versionChecksum = versionChecksum
    find = { try Self.models(in: bundle).first { $0.version == modelName }.map { NSManagedObjectModel($0.model) } }
  }

  /// Refers to the version with these hashes of entities of a model in a bundle; nil stands for the main bundle.
  public init(entityVersionHashes versionHash: [String: Data], in bundle: Bundle?, versionChecksum: String) {
    self.versionChecksum = versionChecksum
    find = {
      try Self.models(in: bundle).first { $0.model.entitiesByName.mapValues(\.versionHash) == versionHash }
        .map { NSManagedObjectModel($0.model) }
    }
  }

  private static func models(in bundle: Bundle?) throws -> [(version: String, model: ManagedObjectModel)] {
    try ModelFiles.urls(in: [bundle ?? .main]).flatMap { try DataModelFile.models(at: $0) }
  }

  /// The model. It must be found, and have the checksum.
  open var resolvedModel: NSManagedObjectModel {
    do {
      return try resolve()
    } catch {
      ProgrammerError.stop("\(error.localizedDescription)")
    }
  }

  final func model() throws -> ManagedObjectModel { try resolve().model() }

  private final func resolve() throws -> NSManagedObjectModel {
    guard let model = try find() else {
      throw CocoaError.make(
        .migrationMissingSourceModel,
        "The model with the checksum \(versionChecksum) is not found."
      )
    }
    guard model.versionChecksum == versionChecksum else {
      throw CocoaError.make(
        .migrationMissingSourceModel,
        "The model has the checksum \(model.versionChecksum), and its reference says \(versionChecksum)."
      )
    }
    return model
  }
}
