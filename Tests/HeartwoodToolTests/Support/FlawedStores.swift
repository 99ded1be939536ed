import GRDB
import Heartwood
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodWrappers

/// A binary store that reads a record more than was written.
final class AddingStore: ForwardingStore {
  typealias Base = BinaryStore

  static var name: String { "Adding" }
  static var displayName: String { "Adding" }

  private let base: BinaryStore

  init(_ setup: StoreSetup) throws {
    base = try BinaryStore(setup)
  }

  func load(_ file: StoreInput, into loader: StoreLoader) throws {
    try base.load(file, into: loader)
    loader.metadata.storeType = Self.typeDescription.type
    try loader.addNode(.integer(.max), to: loader.entity(named: "ToDo")) { _ in }
  }

  func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    let type = contents.metadata.storeType
    contents.metadata.storeType = BinaryStore.typeDescription.type
    defer { contents.metadata.storeType = type }
    try base.save(&contents, over: previous, to: output)
  }
}

/// An SQLite store that does not save what is inserted, and leaves out a record where it copies a file.
final class ForgettingStore: IncrementalStore, StoreClass {
  static var typeDescription: StoreTypeDescription {
    let base = SQLiteStore.typeDescription
    return StoreTypeDescription(
      type: "Forgetting",
      displayName: "Forgetting",
      fileExtensions: [],
      capabilities: base.capabilities
    )
  }

  private let base: SQLiteStore

  init(_ setup: StoreSetup) throws {
    base = try SQLiteStore(setup)
  }

  private static func named(_ type: StoreType, _ metadata: StoreMetadata) -> StoreMetadata {
    var metadata = metadata
    metadata.storeType = type
    return metadata
  }

  private static func own(_ metadata: StoreMetadata) -> StoreMetadata { named(typeDescription.type, metadata) }
  private static func inner(_ metadata: StoreMetadata) -> StoreMetadata {
    named(SQLiteStore.typeDescription.type, metadata)
  }

  func connect() throws -> StoreMetadata? { try base.connect().map(Self.own) }
  func create(_ metadata: StoreMetadata) throws { try base.create(Self.inner(metadata)) }
  func disconnect() { base.disconnect() }
  func dataVersion() throws -> UInt64 { try base.dataVersion() }
  func reading<Result>(_ body: () throws -> Result) throws -> Result { try base.reading(body) }
  func saving<Result>(_ body: () throws -> Result) throws -> Result { try base.saving(body) }
  func metadata() throws -> StoreMetadata { Self.own(try base.metadata()) }
  func saveMetadata(_ metadata: StoreMetadata) throws { try base.saveMetadata(Self.inner(metadata)) }
  func count(of entity: EntityDescription) throws -> Int { try base.count(of: entity) }

  func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
    try base.load(entities, into: loader)
  }

  func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws {
    try base.load(references, of: entity, into: loader)
  }

  func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID] {
    try base.newReferences(count: count, for: entity)
  }

  func save(_ changes: ChangeSet, over contents: StoreContents) throws {
    var columns = changes.byColumn
    columns.insertions = []
    try base.save(ChangeSet(byColumn: columns, byRecord: changes.byRecord), over: contents)
  }

  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    own(try SQLiteStore.readMetadata(from: file, options: options))
  }

  static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try SQLiteStore.readModel(from: file, options: options)
  }
}

extension ForgettingStore {
  static var migratesStores: Bool { true }

  static func migrateStore(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport {
    let report = try SQLiteStore.migrateStore(migration, from: source, to: destination)
    let queue = try DatabaseQueue(path: destination.path ?? "")
    try queue.write { try $0.execute(sql: "DELETE FROM ZTODO WHERE Z_PK = 3") }
    try queue.close()
    return report
  }

  static func foreseeMigration(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport {
    try SQLiteStore.foreseeMigration(migration, from: source, to: destination)
  }
}
