import HeartwoodModel
package import HeartwoodStore

extension SQLiteStore: SelfMigratingStore {
  /// Makes the new file in SQL: its tables are those of a new store, and are filled from those of the old file in one transaction.
  package static func migrate(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> InStoreMigration.Outcome {
    guard let oldPath = source.path, let path = destination.path else { return .declined("a store has no file") }
    let old = try SQLiteFile.inspect(atPath: oldPath, options: source.options) { db in
      try SQLiteSchema.existing(in: db, model: source.model, entities: source.entities, path: oldPath)
    }
    let new = try SQLiteSchema(model: destination.model, entities: destination.entities)
    do {
      let translation = try MigrationTranslator(migration, from: old, to: new, path: oldPath).translation()
      return try write(translation, migration, from: oldPath, to: path, destination.options)
    } catch let obstacle as MigrationObstacle {
      return .declined(obstacle.reason)
    }
  }

  private static func write(
    _ translation: MigrationTranslation,
    _ migration: InStoreMigration,
    from source: String,
    to path: String,
    _ options: StoreOptions
  ) throws -> InStoreMigration.Outcome {
    var obstacle: MigrationObstacle?
    let result = try SQLiteFile.create(atPath: path, from: source, options: options) { db in
      do {
        return try MigrationStatements.run(translation, migration, db)
      } catch let found as MigrationObstacle {
        obstacle = found
        return nil
      }
    }
    guard let result else { throw obstacle ?? MigrationObstacle("nothing was made") }
    do {
      try ExternalFiles(ofStoreAt: source).copy(result.fileNames, to: ExternalFiles(ofStoreAt: path))
    } catch let error as PersistenceError where error.code == .fileNotFound {
      throw MigrationObstacle("a file beside the store is missing")
    }
    return .done(result.report)
  }
}

/// Why a migration is not done in SQL, in words that follow “because”.
struct MigrationObstacle: Error {
  let reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}
