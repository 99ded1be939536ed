import GRDB
import HeartwoodModel
public import HeartwoodStore

extension SQLiteStore {
  /// Always `true`: a store makes its migrated copy in SQL.
  public static var migratesStores: Bool { true }

  /// Makes the new file in SQL: its tables are those of a new store, and are filled from those of the old file in one
  /// transaction.
  public static func migrateStore(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport {
    let (translation, oldPath) = try translation(migration, from: source, to: destination)
    let history = HistoryCopy(translation, from: source, to: destination)
    guard let path = destination.path else { throw MigrationObstacle(.file, "the new store has no file") }
    var attempt = Attempt()
    let result = try SQLiteFile.create(atPath: path, from: oldPath, options: destination.options) { db in
      try attempt.result { try MigrationStatements.run(translation, migration, history, db) }
    }
    let made = try attempt.unwrapped(result)
    do {
      try ExternalFiles(ofStoreAt: oldPath).copy(made.fileNames, to: ExternalFiles(ofStoreAt: path))
    } catch let error as PersistenceError where error.code == .fileNotFound {
      throw MigrationObstacle.missingFile
    }
    return made.report
  }

  /// Counts the changes in SQL, by reading only the old file.
  public static func foreseeMigration(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport {
    let (translation, path) = try translation(migration, from: source, to: destination)
    var attempt = Attempt()
    let result = try SQLiteFile.inspectAsSource(atPath: path, options: source.options) { db in
      try attempt.result { try MigrationSurvey.run(translation, migration, db) }
    }
    let found = try attempt.unwrapped(result)
    guard try ExternalFiles(ofStoreAt: path).have(found.fileNames) else { throw MigrationObstacle.missingFile }
    return found.report
  }

  private static func translation(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> (translation: MigrationTranslation, path: String) {
    guard let path = source.path else { throw MigrationObstacle(.file, "the store has no file") }
    let (old, encoding) = try SQLiteFile.inspect(atPath: path, options: source.options) { db in
      (
        try SQLiteSchema.existing(in: db, model: source.model, entities: source.entities, path: path),
        try String.fetchOne(db, sql: "PRAGMA encoding")
      )
    }
    // Databases that are attached to one connection must have the same encoding.
    guard encoding == "UTF-8" else { throw MigrationObstacle(.file, "the texts of the file are not in UTF-8") }
    let new = try SQLiteSchema(model: destination.model, entities: destination.entities)
    return (try MigrationTranslator(migration, from: old, to: new, path: path).translation(), path)
  }

  /// Carries an obstacle through code that converts every other error to an error of the file.
  private struct Attempt {
    private var obstacle: MigrationObstacle?

    /// Returns the result of `body`; nil if it throws an obstacle.
    mutating func result<Value>(_ body: () throws -> Value) throws -> Value? {
      do {
        return try body()
      } catch let found as MigrationObstacle {
        obstacle = found
        return nil
      }
    }

    func unwrapped<Value>(_ value: Value?) throws(MigrationObstacle) -> Value {
      if let value { return value }
      throw obstacle ?? MigrationObstacle(.file, "nothing was made")
    }
  }
}

/// The reason why a migration is not done in SQL.
typealias MigrationObstacle = InStoreMigration.Obstacle

extension MigrationObstacle {
  fileprivate static let missingFile = MigrationObstacle(.file, "a file beside the store is missing")
}
