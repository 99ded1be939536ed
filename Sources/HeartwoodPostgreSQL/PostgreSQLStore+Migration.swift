import HeartwoodFoundation
import HeartwoodModel
package import HeartwoodStore

extension PostgreSQLFormat: SelfMigratingFormat {
  /// Stores make their successors in the database.
  package var wrappedSelfMigratingClass: (any SelfMigratingStore.Type)? { PostgreSQLStore.self }

  /// Allows it.
  package func willMigrate() {}
}

extension PostgreSQLStore: SelfMigratingStore {
  static var typeDescription: StoreTypeDescription { PostgreSQLFormat().typeDescription }

  convenience init(_ setup: StoreSetup) throws {
    try self.init(
      model: setup.model,
      entities: setup.entities,
      location: try PostgreSQLFormat.location(of: setup),
      options: setup.options
    )
  }

  /// Refuses: a store is in no file.
  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    throw PostgreSQLFormat.noURL(nil)
  }

  /// Makes the new store in SQL, from the tables of the old one.
  static func migrate(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport {
    try SchemaMigration.run(migration, from: source, to: destination, isKept: true)
  }

  /// Makes it, and undoes that.
  static func foresee(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport {
    try SchemaMigration.run(migration, from: source, to: destination, isKept: false)
  }
}
