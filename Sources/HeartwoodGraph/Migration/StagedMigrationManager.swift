public import HeartwoodModel
public import HeartwoodStore

/// The stages that migrate stores of any older version to the newest; pass it with the option
/// ``StoreOptionKey/stagedMigrationManager``.
///
/// A store begins at the stage of its version. All stages are run in memory, and the file is written once: it is of the
/// old version or of the newest, and never of one between.
public struct StagedMigrationManager: Sendable {
  /// The stages, in order.
  public var stages: [MigrationStage]

  /// Creates a manager of stages, the oldest first.
  public init(_ stages: [MigrationStage]) {
    self.stages = stages
  }
}

extension StoreOptionKey<StagedMigrationManager?> {
  /// The stages by which a store is migrated. Without them, a route is found among the available versions and mapping
  /// models.
  public static let stagedMigrationManager = StoreOptionKey("stagedMigrationManager")
}

extension StagedMigrationManager {
  /// Returns the steps from one version to another.
  ///
  /// - Parameters:
  ///   - versions: the models of lightweight stages, which are found by their checksums.
  ///   - mappings: the mapping models that are preferred to inference.
  func steps(
    from source: ManagedObjectModel,
    to destination: ManagedObjectModel,
    versions: [ManagedObjectModel],
    mappings: [MappingModel]
  ) throws -> [MigrationStep] {
    let links = try self.links(versions + [destination])
    let places = links.indices.filter { links[$0].from.isSameVersion(as: source) }
    guard let start = places.last else {
      throw Self.unusable("No stage begins with the version that the store was written with.")
    }
    var steps: [MigrationStep] = []
    for link in links[start...] {
      let reached = steps.last?.destinationModel ?? source
      guard !reached.isSameVersion(as: destination) else { break }
      guard link.from.isSameVersion(as: reached) else {
        throw Self.unusable("The stage \(link.label) does not begin where the one before it ends.")
      }
      steps.append(try step(link, to: link.to.isSameVersion(as: destination) ? destination : link.to, mappings))
    }
    guard steps.last?.destinationModel === destination else {
      throw Self.unusable("The stages do not end with the model with which the store is to be opened.")
    }
    return steps
  }

  /// A connection between two versions.
  private struct Link {
    let from: ManagedObjectModel
    let to: ManagedObjectModel
    let label: String
    var stage: CustomMigrationStage?
  }

  private func links(_ versions: [ManagedObjectModel]) throws -> [Link] {
    var links: [Link] = []
    for stage in stages {
      switch stage {
      case .custom(let custom):
        links.append(Link(from: custom.currentModel, to: custom.nextModel, label: custom.label, stage: custom))
      case .lightweight(let lightweight):
        let models = try lightweight.versionChecksums.map { checksum in
          if let model = versions.first(where: { $0.versionChecksum == checksum }) { return model }
          throw Self.unusable(
            "None of the given models has the checksum \(checksum) of the stage \(lightweight.label)."
          )
        }
        // A stage continues where the one before it has ended.
        let chain = (links.last.map { [$0.to] } ?? []) + models
        for (from, to) in zip(chain, chain.dropFirst()) where !from.isSameVersion(as: to) {
          links.append(Link(from: from, to: to, label: lightweight.label))
        }
      }
    }
    return links
  }

  private func step(_ link: Link, to destination: ManagedObjectModel, _ mappings: [MappingModel]) throws
    -> MigrationStep
  {
    let choice = MappingChoice(mappings, from: link.from, to: destination)
    try choice.check()
    do {
      var step = MigrationStep(
        sourceModel: link.from,
        destinationModel: destination,
        mappingModel: try choice.mapping
          ?? MappingModel.inferredMappingModel(forSourceModel: link.from, destinationModel: destination),
        isInferred: choice.mapping == nil
      )
      step.stage = link.stage
      return step
    } catch let error as MappingInferenceError {
      throw PersistenceError(
        .mappingModelMissing,
        "The stage \(link.label) cannot be performed. \(error.problem)",
        recovery: .custom(error.recovery)
      )
    }
  }

  private static func unusable(_ problem: String) -> PersistenceError {
    PersistenceError(.mappingModelMissing, problem, recovery: "Add a stage to the StagedMigrationManager.")
  }
}

// MARK: MigrationStage

/// A stage of a ``StagedMigrationManager``.
public enum MigrationStage: Sendable {
  /// Migrations that are inferred from the versions.
  case lightweight(LightweightMigrationStage)
  /// A migration from one version to the next with code of the application before and after it.
  case custom(CustomMigrationStage)

  /// The name of the stage in errors; empty if it has none.
  public var label: String {
    switch self {
    case .lightweight(let stage): stage.label
    case .custom(let stage): stage.label
    }
  }
}

/// Versions of a model to which a store is migrated one after the other by inference.
public struct LightweightMigrationStage: Sendable {
  /// The versions in order, by ``ManagedObjectModel/versionChecksum``.
  public var versionChecksums: [String]
  /// The name of the stage in errors.
  public var label: String

  /// Creates a stage over versions that are in the option ``StoreOptionKey/olderModels``, or are the model with which
  /// the store is to be opened.
  public init(_ versionChecksums: [String], label: String = "") {
    self.versionChecksums = versionChecksums
    self.label = label
  }
}

/// A migration from one version to the next, with code of the application that changes records before and after it.
public struct CustomMigrationStage: Sendable {
  /// The application's code for the records, with a context of all of them. Its changes are saved when it returns; if
  /// it throws, the migration ends, and the store is left as it was.
  public typealias Handler = @Sendable (ManagedObjectContext) throws -> Void

  /// The version before the stage.
  public var currentModel: ManagedObjectModel
  /// The version after the stage.
  public var nextModel: ManagedObjectModel
  /// The name of the stage in errors.
  public var label: String
  /// Called with the records of the version before.
  public var willMigrateHandler: Handler?
  /// Called with the records of the version after.
  public var didMigrateHandler: Handler?

  /// Creates a stage. Between the handlers, a mapping model of the option ``StoreOptionKey/mappingModels`` is used, or
  /// an inferred one.
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

// MARK: StageHandling

/// Runs the handlers of stages on records in memory.
enum StageHandling {
  static func run(
    _ handler: CustomMigrationStage.Handler?,
    on contents: StoreContents,
    objectClass: ManagedObject.Type?
  ) throws -> StoreContents {
    guard let handler else { return contents }
    var contents = contents
    contents.reserveNumbersOfLinks()
    let coordinator = try PersistentStoreCoordinator(inMemory: contents, objectClass: objectClass)
    let context = ManagedObjectContext(coordinator)
    try handler(context)
    try context.save()
    guard let store = coordinator.persistentStores.first else { return contents }
    let changed = try store.engine.contents().namingNewRecords(asIn: contents)
    return contents.migrated(to: contents.model, entities: contents.entities, tables: changed.tables)
  }
}

extension PersistentStoreCoordinator {
  /// Creates a coordinator with one store in memory, of records without their history.
  convenience init(
    inMemory contents: StoreContents,
    isReadOnly: Bool = false,
    objectClass: ManagedObject.Type? = nil
  ) throws {
    try self.init(inMemoryWith: contents.model, objectClass: objectClass)
    var records = contents
    records.forgetHistory()
    var options = StoreOptions()
    options[.isReadOnly] = isReadOnly
    try add(try storeManager.write(records, to: .init(type: .inMemory, path: nil, options: options), replacing: false))
  }
}

extension PersistentStoreCoordinator {
  /// Creates a coordinator for stores in memory.
  ///
  /// - Parameter objectClass: the class of all objects; nil stands for those that the model names.
  convenience init(inMemoryWith model: ManagedObjectModel, objectClass: ManagedObject.Type?) throws {
    if let objectClass {
      self.init(managedObjectModel: model, registry: try .inMemory(), baseClass: objectClass)
    } else {
      try self.init(managedObjectModel: model, registry: .inMemory())
    }
  }
}

extension StoreRegistry {
  /// Returns a registry that contains only the in-memory store.
  static func inMemory() throws(PersistenceError) -> StoreRegistry {
    try StoreRegistry([InMemoryStore.self])
  }
}
