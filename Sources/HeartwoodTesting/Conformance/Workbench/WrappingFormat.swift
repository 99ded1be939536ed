import Heartwood
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The format of stores that another format makes, each within a wrapper.
struct WrappingFormat: IncrementalStoreFormat, FileFormat {
  private let base: any IncrementalStoreFormat
  private let migrationFaults: ReadFaults?
  private let wrap: @Sendable (any IncrementalStore, StoreOptions) -> any IncrementalStore

  /// - Parameter migrationFaults: the faults that are checked before the store migrates itself; nil if it does not
  ///   migrate itself.
  init(
    _ base: any IncrementalStoreFormat,
    migrationFaults: ReadFaults? = nil,
    wrap: @escaping @Sendable (any IncrementalStore, StoreOptions) -> any IncrementalStore
  ) {
    self.base = base
    self.migrationFaults = migrationFaults
    self.wrap = wrap
  }

  var typeDescription: StoreTypeDescription { base.typeDescription }
  var isReadOnly: Bool { base.isReadOnly }

  func makeStore(_ setup: StoreSetup) throws -> any IncrementalStore {
    wrap(try base.makeStore(setup), setup.options)
  }

  func check(_ contents: StoreContents, for setup: StoreSetup) throws { try base.check(contents, for: setup) }
}

// MARK: Files

extension WrappingFormat {
  private func files() throws -> any FileFormat {
    try unwrap(base as? any FileFormat, "a store that is a file")
  }

  func recognizes(prefix: [UInt8]) -> Bool { (base as? any FileFormat)?.recognizes(prefix: prefix) ?? false }

  func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try files().readMetadata(from: file, options: options)
  }

  func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try files().readModel(from: file, options: options)
  }

  func checkpoint(storeAt path: String) throws { try files().checkpoint(storeAt: path) }
  func sideFiles(ofStoreAt path: String) -> [String] { (base as? any FileFormat)?.sideFiles(ofStoreAt: path) ?? [] }
  func supportFolder(ofStoreAt path: String) -> String? { (base as? any FileFormat)?.supportFolder(ofStoreAt: path) }
  func copyStore(at source: String, to path: String) throws { try files().copyStore(at: source, to: path) }
}

// MARK: URLs

extension WrappingFormat {
  func readMetadata(at url: URL, options: StoreOptions) throws -> StoreMetadata? {
    try base.readMetadata(at: url, options: options)
  }

  func readModel(at url: URL, options: StoreOptions) throws -> ManagedObjectModel? {
    try base.readModel(at: url, options: options)
  }

  func removeStore(at url: URL, options: StoreOptions) throws { try base.removeStore(at: url, options: options) }
  func temporaryURL(for url: URL) throws -> URL? { try base.temporaryURL(for: url) }

  func moveStore(at temporary: URL, to url: URL, replacing: Bool, options: StoreOptions) throws {
    try base.moveStore(at: temporary, to: url, replacing: replacing, options: options)
  }
}

// MARK: Migration

extension WrappingFormat {
  var migratesStores: Bool { migrationFaults != nil && base.migratesStores }

  func migrateStore(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport {
    try migrationFaults?.admit(.migration)
    return try base.migrateStore(migration, from: source, to: destination)
  }

  func foreseeMigration(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport {
    try migrationFaults?.admit(.migration)
    return try base.foreseeMigration(migration, from: source, to: destination)
  }
}
