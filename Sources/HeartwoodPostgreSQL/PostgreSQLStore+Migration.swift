import HeartwoodModel
public import HeartwoodStore

extension PostgreSQLFormat {
  /// Always `true`: a store makes its migrated copy in the database.
  public var migratesStores: Bool { true }

  /// Makes the new store in SQL, from the tables of the old one.
  public func migrateStore(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport {
    try SchemaMigration.run(migration, from: source, to: destination, isKept: true)
  }

  /// Makes the new store in a transaction, and rolls it back.
  public func foreseeMigration(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport {
    try SchemaMigration.run(migration, from: source, to: destination, isKept: false)
  }
}
