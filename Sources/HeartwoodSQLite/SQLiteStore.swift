import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore
import Synchronization

/// Core Data's own SQLite files: an application's files are opened, read, edited and saved as they are.
///
/// Changes are written row by row, in a transaction that is on the disk when the save returns. Other processes may have the file open at
/// the same time; what they save shows with the next fetch. A file that has Core Data's history goes on with it, whoever saves; one that Core Data
/// mirrors to CloudKit can be read, and is refused for writing with the reason.
///
/// `Formats/SQLite/README.md` in the repository says what is read and written.
public final class SQLiteStore: IncrementalStore, StoreClass {
  /// What is kept how: all attribute types, decimal numbers as long as a real holds them.
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
  /// The last number that a state was given which nobody can tell: far from those of SQLite, and each less than the one before.
  let leastUnknownMark = Atomic<UInt64>(.max)
  /// Keys that were taken from the file for records to come, by the number of the topmost entity.
  let reservedKeys = Mutex<[Int: Range<Int64>]>([:])
  /// The files with large data that saves have replaced, and that are still there.
  let replacedFiles = Mutex<[String: Int]>([:])
  /// The files with large data that could not be read.
  let missingFiles = MissingFiles()
  /// What the transaction that is under way does to the files with large data.
  let externals: ExternalChanges

  /// Makes a store that has a file.
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
  /// True: the key of the record at one end, or a row of both keys, is all that there is.
  public var storesInversesOnce: Bool { true }

  /// Whether it is an SQLite database; whether it is Core Data's shows when it is read.
  public static func recognizes(prefix: [UInt8]) -> Bool { prefix.starts(with: Array("SQLite format 3\0".utf8)) }

  /// Reads the metadata without the records.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try SQLiteFile.inspect(atPath: file.path, options: options) { db in
      try SQLiteMetadata.read(from: db, path: file.path).metadata
    }
  }

  /// The model that Heartwood, or else Core Data, has put into the file.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try model(atPath: file.path, options: options)
  }

  /// The version of the framework that wrote the file, as it calls itself.
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
  /// Core Data's own SQLite files.
  public static let sqlite: StoreType = "SQLite"
}

// MARK: Connecting

// MARK: Connecting

extension SQLiteStore {
  /// An open file, and what of it is known.
  struct Connection: Sendable {
    let file: SQLiteFile
    /// The store's identifier, as it was when the file was opened.
    var storeIdentifier: UUID?
    /// Whether the model was recovered, and the file is of another.
    var isOfOtherModel = false
    /// Where everything is; nil until something is looked for.
    var schema: SQLiteSchema?
    /// What reads records, by the ordinal of their entity.
    var readers: [Int: RecordReader] = [:]
    /// The database within a transaction; nil outside of one.
    var transaction: Transaction?
    /// The transaction that waits for the disk, where others read beside it.
    var commit: Commit?
    /// Whether the file has a write-ahead log; nil until somebody asks.
    var isLogged: Bool?
    /// Whether the transaction that is under way has made the tables of the history.
    var hasBegunHistory = false
  }

  /// Opens the file; nil where there is none, or one without a byte.
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
      // What is closed in order leaves nothing beside the file.
      disconnect()
      throw error
    }
  }

  /// Makes the file, with all tables and no record, and opens it. Where a symbolic link leads to its place, the link stays.
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

  /// Makes room for the file, unless another process has filled it meanwhile.
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
    // try?: where it cannot be closed in order, the system closes it, and SQLite puts the rest right when it is opened again.
    try? open?.file.close()
  }

  func file() throws(PersistenceError) -> SQLiteFile {
    if let file = connection.withLock({ $0?.file }) { return file }
    throw PersistenceError(.storeNotOpen, "The file is not open.", context: .init(path: path, storeType: .sqlite))
  }
}
