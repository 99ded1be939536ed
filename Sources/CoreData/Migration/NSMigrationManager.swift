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

  /// The fraction of the new records that has been made, from 0 to 1. Other threads may read it.
  open var migrationProgress: Float { Float(progress.fractionCompleted) }

  /// Ends the migration with an error. It can be called on another thread. The manager cannot be used any more.
  open func cancelMigrationWithError(_ error: any Error) {
    cancellation = cancellation ?? error
    progress.cancel()
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
