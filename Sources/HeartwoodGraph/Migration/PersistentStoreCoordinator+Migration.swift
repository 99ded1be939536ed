public import HeartwoodStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension PersistentStoreCoordinator {
  /// The migration that a store needs before it can be opened with this model, or nil where it needs none. Nothing is changed, and
  /// no records are read.
  ///
  /// - Parameters:
  ///   - type: the registered type; nil means that the file's name or content tells it.
  ///   - configuration: the configuration whose entities the store keeps; nil means all.
  ///   - options: ``StoreOptionKey/olderModels``, ``StoreOptionKey/mappingModels``,
  ///     ``StoreOptionKey/entityMigrationPolicies``, ``StoreOptionKey/migrationResolutions``,
  ///     ``StoreOptionKey/allowsMigrationLoss`` and ``StoreOptionKey/migrationBackupPath`` say how.
  /// - Throws: ``PersistenceError/Code/migrationModelMissing``; and where no mapping model leads to this model and none can be inferred,
  ///   ``PersistenceError/Code/mappingModelMissing``, whose message lists each reason; ``PersistenceError/Code/mappingModelUnusable`` where
  ///   several given ones lead there and none tells the versions that it is for.
  public func migration(
    ofStoreAt url: URL,
    type: StoreType? = nil,
    configuration: String? = nil,
    options: StoreOptions = StoreOptions()
  ) throws -> StoreMigration? {
    let request = try request(type: type, configuration: configuration, at: url, options: options)
    try checkNotOpen(request.path)
    return try opener.needsMigration(request) ? StoreMigration(opener, request, logger) : nil
  }

  /// Opens a store, after a migration where one is needed and the options allow it.
  func openMigrated(_ request: StoreOpener.Request) throws -> PersistentStore {
    guard request.options[.shouldMigrateStoreAutomatically] ?? false, try opener.needsMigration(request) else {
      return try opener.open(request)
    }
    return try StoreMigration(opener, request, logger, isAutomatic: true).runInPlace(MigrationProgress()).store
  }
}
