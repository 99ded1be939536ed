public import HeartwoodModel

/// A stage of a ``StagedMigrationManager``.
public enum MigrationStage: Sendable {
  /// Migrations that are inferred from the versions.
  case lightweight(LightweightMigrationStage)
  /// A migration from one version to the next with code of the application before and after it.
  case custom(CustomMigrationStage)

  /// What the stage is called in errors; empty where nobody gave it a name.
  public var label: String {
    switch self {
    case .lightweight(let stage): stage.label
    case .custom(let stage): stage.label
    }
  }
}

/// Versions of a model that are migrated to one after the other by inference.
public struct LightweightMigrationStage: Sendable {
  /// The versions in order, by ``ManagedObjectModel/versionChecksum``.
  public var versionChecksums: [String]
  /// What the stage is called in errors.
  public var label: String

  /// A stage over versions that are among the option ``StoreOptionKey/olderModels``, or the model that the store is to be opened with.
  public init(_ versionChecksums: [String], label: String = "") {
    self.versionChecksums = versionChecksums
    self.label = label
  }
}

/// A migration from one version to the next, before and after which the application changes records itself.
public struct CustomMigrationStage: Sendable {
  /// What the application does with the records, in a context of all of them. What it changes is saved when it is done; an error
  /// ends the migration, and the store is left as it was.
  public typealias Handler = @Sendable (ManagedObjectContext) throws -> Void

  /// The version before.
  public var currentModel: ManagedObjectModel
  /// The version after.
  public var nextModel: ManagedObjectModel
  /// What the stage is called in errors.
  public var label: String
  /// Called with the records of the version before.
  public var willMigrateHandler: Handler?
  /// Called with the records of the version after.
  public var didMigrateHandler: Handler?

  /// Makes a stage. What is between the handlers is a mapping model of the option ``StoreOptionKey/mappingModels``, or is inferred.
  public init(
    migratingFrom currentModel: ManagedObjectModel,
    to nextModel: ManagedObjectModel,
    label: String = "",
    willMigrate willMigrateHandler: Handler? = nil,
    didMigrate didMigrateHandler: Handler? = nil
  ) {
    self.currentModel = currentModel
    self.nextModel = nextModel
    self.label = label
    self.willMigrateHandler = willMigrateHandler
    self.didMigrateHandler = didMigrateHandler
  }
}
