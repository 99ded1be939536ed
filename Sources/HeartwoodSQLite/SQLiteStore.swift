import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore
import Synchronization

/// A store in Core Data's own SQLite format: it opens, reads, edits and saves an application's files as they are.
///
/// Changes are written row by row, in a transaction that is on the disk when the save returns. Other processes may have
/// the file open at the same time; their saves are visible to the next fetch. If a file has Core Data's history, each
/// save adds to it. A file that Core Data mirrors to CloudKit can be read, but is written only with the option
/// ``StoreOptionKey/sqliteAllowsMirroredChanges``; otherwise the error of the save gives the reason.
///
/// `Formats/SQLite/README.md` in the repository describes the data that is read and written.
public final class SQLiteStore: IncrementalStore, StoreClass {
  /// The capabilities of the format: it keeps all attribute types, and decimal numbers as far as a real can represent
  /// them.
  public static let typeDescription = StoreTypeDescription(
    type: .sqlite,
    displayName: "SQLite",
    fileExtensions: ["sqlite", "sqlite3", "db"],
    mimeTypes: ["application/vnd.sqlite3"],
    capabilities: StoreCapabilities(
      kind: .incremental,
      features: [.persistence, .relationships, .userMetadata, .embeddedModel, .history],
      attributeTypes: Set(AttributeType.allCases),
      referenceKinds: [.integer]
    )
  )

  let setup: StoreSetup
  let path: String
  let connection = Mutex<Connection?>(nil)
  /// The last mark of a state that could not be identified: far from SQLite's numbers, and each less than the one
  /// before.
  let leastUnknownMark = Atomic<UInt64>(.max)
  /// Reserved keys for new records, by the number of the root entity.
  let reservedKeys = Mutex<[Int: Range<Int64>]>([:])
  /// The files with large data that saves have replaced, and that still exist.
  let replacedFiles = Mutex<[String: Int]>([:])
  /// The files with large data that could not be read.
  let missingFiles = MissingFiles()
  /// The changes of the current transaction to the files with large data.
  let externals: ExternalChanges

  /// Creates a store that has a file, without opening it.
  public init(_ setup: StoreSetup) throws {
    guard let path = setup.path else {
      throw PersistenceError(
        .fileNotFound,
        "An SQLite store has a file.",
        recovery: "Add it with a location.",
        context: .init(storeType: .sqlite)
      )
    }
    self.setup = setup
    self.path = path
    externals = ExternalChanges(ExternalFiles(ofStoreAt: path))
  }
}

// MARK: Without opening

extension SQLiteStore {
  /// Always `true`: a relationship and its inverse are stored once, as the key of the record at one end or as a row of
  /// both keys.
  public var storesInversesOnce: Bool { true }

  /// Returns whether it is an SQLite database. Whether it is one of Core Data's is known only when it is read.
  public static func recognizes(prefix: [UInt8]) -> Bool { prefix.starts(with: SQLiteLocation.magic) }

  /// Reads the metadata without the records.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try SQLiteFile.inspect(atPath: file.path, options: options) { db in
      try SQLiteMetadata.read(from: db, path: file.path).metadata
    }
  }

  /// Reads the model that Heartwood, or else Core Data, wrote to the file.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try model(atPath: file.path, options: options)
  }

  /// Returns the version of the framework that wrote the file, as the file states it.
  public static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? {
    try SQLiteFile.inspect(atPath: file.path, options: options) { db in
      let members = try SQLiteMetadata.read(from: db, path: file.path).frameworkMembers
      guard case .integer(let version) = members["NSPersistenceFrameworkVersion"] else { return nil }
      return "Core Data \(version)"
    }
  }
}

// MARK: StoreType: SQLite

#if !canImport(GRDB)
  #error("HeartwoodSQLite needs GRDB: add \"SQLite\" to the traits of your dependency on Heartwood.")
#endif

extension StoreType {
  /// A store in Core Data's own SQLite format.
  public static let sqlite: StoreType = "SQLite"
}

// MARK: Connecting

// MARK: Connecting

extension SQLiteStore {
  /// An open file, and the information that was read from it.
  struct Connection: Sendable {
    let file: SQLiteFile
    /// The store's identifier when the file was opened.
    var storeIdentifier: UUID?
    /// Whether the model was recovered, and the file was written with another one.
    var isOfOtherModel = false
    /// The tables and columns of the file; nil until they are needed.
    var schema: SQLiteSchema?
    /// The record readers, by the ordinal of their entity.
    var readers: [Int: RecordReader] = [:]
    /// The keys from which later pages are reached.
    var keyMarks = KeyMarks()
    /// The current transaction; nil outside of one.
    var transaction: Transaction?
    /// The transaction that waits for the disk, if others can read beside it.
    var commit: Commit?
    /// Whether the file has a write-ahead log; nil until it is needed.
    var isLogged: Bool?
    /// Whether the current transaction has created the history tables.
    var hasBegunHistory = false
  }

  /// Opens the file; returns nil if there is none, or if it is empty.
  public func connect() throws -> StoreMetadata? {
    guard let status = try POSIXFileSystem().status(atPath: path), status.size > 0 || !status.isRegularFile else {
      return nil
    }
    let file = try SQLiteFile.open(
      atPath: path,
      options: setup.options,
      isReadOnly: setup.options[.isReadOnly],
      checking: SQLiteMetadata.checkPresence
    )
    connection.withLock { $0 = Connection(file: file) }
    do {
      let metadata = try metadata()
      let isOfOtherModel = setup.isRecovered(of: metadata)
      connection.withLock {
        $0?.storeIdentifier = metadata.identifier
        $0?.isOfOtherModel = isOfOtherModel
      }
      if !file.isReadOnly, !isOfOtherModel { try tidy(file) }
      return metadata
    } catch {
      // A connection that is closed properly leaves no file beside the store.
      disconnect()
      throw error
    }
  }

  /// Creates the file with all tables and no records, and opens it. If its path is a symbolic link, the link stays.
  public func create(_ metadata: StoreMetadata) throws {
    let target = try POSIXFileSystem().resolvingSymbolicLinks(inPath: path)
    try removeEmptyFile(atPath: target)
    let schema = try SQLiteSchema(model: setup.model, entities: setup.entities)
    try SQLiteFile.create(atPath: target, options: setup.options) { db in
      try schema.create(in: db)
      if setup.options[.tracksPersistentHistory] {
        try HistoryTables.create(in: db, entities: setup.entities, after: 0)
      }
      try SQLiteMetadata(metadata).write(to: db, model: setup.model)
      try SQLiteModelCache.write(setup.model, to: db)
    }
    _ = try connect()
  }

  /// Removes an empty file, unless another process has filled it in the meantime.
  private func removeEmptyFile(atPath path: String) throws {
    let fileSystem = POSIXFileSystem()
    guard let lock = try fileSystem.lockFile(atPath: path) else { return }
    defer { lock.release() }
    if let status = try fileSystem.status(atPath: path), status.isRegularFile, status.size == 0 {
      try fileSystem.removeFile(atPath: path)
    }
  }

  /// Closes the file.
  public func disconnect() {
    let open = connection.withLock { $0.take() }
    // try?: if it cannot be closed, the system closes it, and SQLite repairs the rest when it is opened again.
    try? open?.file.close()
  }

  func file() throws(PersistenceError) -> SQLiteFile {
    if let file = connection.withLock({ $0?.file }) { return file }
    throw PersistenceError(.storeNotOpen, "The file is not open.", context: .init(path: path, storeType: .sqlite))
  }
}
