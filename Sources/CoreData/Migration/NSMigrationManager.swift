public import Foundation
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

/// Migrates a store to another version of its model, at another place.
///
///     let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
///     try manager.migrateStore(from: url, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
///       toDestinationURL: newURL, destinationType: NSSQLiteStoreType, destinationOptions: nil)
open class NSMigrationManager: NSObject {
  private final let progress = MigrationProgress()
  private final var cancellation: (any Error)?
  /// Heartwood's manager, while a migration makes objects.
  private final var core: MigrationManager?
  private final var contexts: (source: NSManagedObjectContext, destination: NSManagedObjectContext)?
  private final var mappings: [String: NSEntityMapping] = [:]
  /// The model of the old store.
  public final let sourceModel: NSManagedObjectModel
  /// The model of the new store.
  public final let destinationModel: NSManagedObjectModel
  /// The mapping model of the migration that was begun last.
  // swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
  open private(set) var mappingModel: NSMappingModel!
  /// Values that the application wants to keep with the manager.
  open var userInfo: [AnyHashable: Any]?

  /// Creates a manager of migrations between two versions of a model.
  public init(sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel) {
    self.sourceModel = sourceModel
    self.destinationModel = destinationModel
  }

  /// Creates the manager of a migration that has begun.
  init(showing core: MigrationManager) {
    sourceModel = NSManagedObjectModel(showing: core.sourceModel)
    destinationModel = NSManagedObjectModel(showing: core.destinationModel)
    mappingModel = NSMappingModel(core.mappingModel)
  }

  /// The fraction of the new records that has been made, from 0 to 1. Other threads may read it.
  open var migrationProgress: Float { Float(progress.fractionCompleted) }

  /// Ends the migration with an error. It can be called on another thread. The manager cannot be used any more.
  open func cancelMigrationWithError(_ error: any Error) {
    cancellation = cancellation ?? error
    core?.cancelMigration(with: error)
    progress.cancel()
  }

  // MARK: For policies

  /// The context of the old objects, which cannot be saved. There is one only while a migration with policies runs.
  open var sourceContext: NSManagedObjectContext { runningContexts.source }

  /// The context of the new objects. There is one only while a migration with policies runs.
  open var destinationContext: NSManagedObjectContext { runningContexts.destination }

  private final var runningContexts: (source: NSManagedObjectContext, destination: NSManagedObjectContext) {
    if let contexts { return contexts }
    ProgrammerError.stop("A migration manager has contexts only while a migration with policies runs.")
  }

  /// The mapping that is followed at the moment. There is one only while a migration with policies runs.
  open var currentEntityMapping: NSEntityMapping {
    if let mapping = core?.currentEntityMapping { return self.mapping(of: mapping) }
    ProgrammerError.stop("A migration manager has a current mapping only while a migration with policies runs.")
  }

  /// Notes that a new object was made of an old one. A policy that creates objects itself must do this for each.
  open func associate(
    sourceInstance: NSManagedObject,
    withDestinationInstance destinationInstance: NSManagedObject,
    for entityMapping: NSEntityMapping
  ) {
    guard let source = sourceInstance.record, let destination = destinationInstance.record,
      let (mapping, core) = try? running(entityMapping)
    else {
      ProgrammerError.stop("The objects are not of the contexts of the migration, or the mapping is not one of it.")
    }
    core.associate(sourceInstance: source, withDestinationInstance: destination, for: mapping)
  }

  /// Returns the new objects that a mapping has made of some old ones; nil stands for all.
  open func destinationInstances(
    forEntityMappingName mappingName: String,
    sourceInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    guard let core else { return [] }
    let records = sourceInstances?.compactMap { $0.record as ManagedObject? }
    return core.destinationInstances(forEntityMappingName: mappingName, sourceInstances: records)
      .map { destinationContext.facade(of: $0) }
  }

  /// Returns the old objects of which a mapping has made some new ones; nil stands for all.
  open func sourceInstances(
    forEntityMappingName mappingName: String,
    destinationInstances: [NSManagedObject]?
  ) -> [NSManagedObject] {
    guard let core else { return [] }
    let records =
      destinationInstances?.compactMap { $0.record as ManagedObject? }
      ?? core.destinationInstances(forEntityMappingName: mappingName)
    return core.sourceInstances(forEntityMappingName: mappingName, destinationInstances: records)
      .map { sourceContext.facade(of: $0) }
  }

  /// Returns the entity whose records a mapping reads.
  open func sourceEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.sourceEntityName.flatMap { name in
      (contexts?.source.managedObjectModel ?? sourceModel).entitiesByName[name]
    }
  }

  /// Returns the entity of the records that a mapping makes.
  open func destinationEntity(for mEntity: NSEntityMapping) -> NSEntityDescription? {
    mEntity.destinationEntityName.flatMap { name in
      (contexts?.destination.managedObjectModel ?? destinationModel).entitiesByName[name]
    }
  }

  /// Shows the objects of a migration under way.
  final func follow(_ core: MigrationManager) {
    guard self.core !== core else { return }
    self.core = core
    contexts = (Self.context(core.sourceContext), Self.context(core.destinationContext))
    mappings = mappingModel?.entityMappingsByName ?? [:]
    if let cancellation { core.cancelMigration(with: cancellation) }
  }

  private static func context(_ core: ManagedObjectContext) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
    context.present(core, of: NSManagedObjectModel(showing: core.persistentStoreCoordinator.managedObjectModel))
    return context
  }

  /// Returns the mapping as the application knows it.
  final func mapping(of core: EntityMapping) -> NSEntityMapping {
    if let known = mappings[core.name] { return known }
    let mapping = NSEntityMapping(core)
    mappings[core.name] = mapping
    return mapping
  }

  /// Returns a mapping and the manager in Heartwood's form.
  ///
  /// - Throws: a `CocoaError` if no migration runs, or if the mapping is none of it.
  final func running(_ mapping: NSEntityMapping) throws -> (EntityMapping, MigrationManager) {
    guard let core, let found = core.mappingModel.entityMappings.first(where: { $0.name == mapping.name }) else {
      throw CocoaError.make(.migration, "The mapping \(mapping.name ?? "") is none of a migration that runs.")
    }
    return (found, core)
  }

  /// - Throws: the reason why a change of an object could not be made.
  final func checkChanges() throws {
    if let failure = destinationContext.takeFailure() ?? sourceContext.takeFailure() { throw failure }
  }

  /// Writes the records of a store to a new one, as the mapping model says. The old store is not changed.
  ///
  /// - Throws: a `CocoaError`: `migrationMissingSourceModel` if the store is not of the source model, `migration` if
  ///   records do not fit or if there is a file at the destination; the error of ``cancelMigrationWithError(_:)``.
  open func migrateStore(
    from sourceURL: URL,
    sourceType sStoreType: String,
    options sOptions: [AnyHashable: Any]? = nil,
    with mappings: NSMappingModel?,
    toDestinationURL dURL: URL,
    destinationType dStoreType: String,
    destinationOptions dOptions: [AnyHashable: Any]? = nil
  ) throws {
    mappingModel = mappings
    do {
      // No option changes how the new store is written, but an unknown one is an error here too.
      _ = try StoreOptionTable.options(dOptions)
      try migrate(from: sourceURL, sStoreType, try StoreOptionTable.options(sOptions), to: dURL, dStoreType)
    } catch {
      throw cancellation ?? CocoaError.of(error)
    }
  }

  private final func migrate(
    from sourceURL: URL,
    _ sourceType: String,
    _ options: StoreOptions,
    to url: URL,
    _ type: String
  ) throws {
    let (source, destination) = (try sourceModel.model(), try destinationModel.model())
    guard let mappingModel else { throw CocoaError.make(.migrationMissingMappingModel, "There is no mapping model.") }
    var options = options
    options[.olderModels] = [source]
    options[.mappingModels] = [try mappingModel.model(from: source, to: destination)]
    options[.shouldInferMappingModelAutomatically] = false
    // As in Core Data, the mapping model says what is left out.
    options[.allowsMigrationLoss] = true
    let session = MigrationSession(self)
    options[.entityMigrationPolicyMaker] = { try session.policy(of: $0) }
    options[.migrationObjectClass] = CoreObject.self
    defer {
      core = nil
      contexts = nil
    }
    let coordinator = PersistentStoreCoordinator(
      managedObjectModel: destination,
      registry: StoreTypes.registry,
      baseClass: CoreObject.self
    )
    let migration = try coordinator.migration(ofStoreAt: sourceURL, type: StoreType(sourceType), options: options)
    guard let migration else {
      throw CocoaError.make(.migration, "The store is of the destination model already, and needs no migration.")
    }
    guard
      migration.sourceModel.entitiesByName.mapValues(\.versionHash) == source.entitiesByName.mapValues(\.versionHash)
    else {
      throw CocoaError.make(.migrationMissingSourceModel, "The store was not written with the manager's source model.")
    }
    try migration.run(to: url, type: StoreType(type), progress: progress)
  }
}
