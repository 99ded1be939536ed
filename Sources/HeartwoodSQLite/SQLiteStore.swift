import GRDB
public import HeartwoodModel
public import HeartwoodStore
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Core Data's own SQLite files: an application's files are opened, read, edited and saved as they are.
///
/// Changes are written row by row, in a transaction that is on the disk when the save returns. Other processes may have the file open at
/// the same time; what they save shows with the next fetch. A file that Core Data keeps a history in, mirrors to CloudKit, or keeps
/// derived attributes in by triggers, can be read, and is refused for writing with the reason.
///
/// `Formats/SQLite/README.md` in the repository says what is read and written.
public final class SQLiteStore: IncrementalStore {
  /// What is kept how: all attribute types, decimal numbers as long as a real holds them.
  public static let typeDescription = StoreTypeDescription(
    type: .sqlite,
    displayName: "SQLite",
    fileExtensions: ["sqlite", "sqlite3", "db"],
    mimeTypes: ["application/vnd.sqlite3"],
    capabilities: StoreCapabilities(
      kind: .incremental,
      isPersistent: true,
      maximumEntityCount: nil,
      attributeTypes: Set(AttributeType.allCases),
      supportsRelationships: true,
      referenceKinds: [.integer],
      supportsUserMetadata: true,
      embedsModel: true,
      supportsHistory: false
    )
  )

  let setup: StoreSetup
  let path: String
  private let connection = Mutex<Connection?>(nil)
  /// Keys that were taken from the file for records to come, by the number of the topmost entity.
  let reservedKeys = Mutex<[Int: Range<Int64>]>([:])
  /// The files with large data that saves have replaced, and that are still there.
  let replacedFiles = Mutex<[String: Int]>([:])
  /// What the transaction that is under way does to the files with large data.
  private let externals: ExternalChanges

  /// Makes a store that has a file.
  public init(_ setup: StoreSetup) throws {
    guard let path = setup.path else {
      throw PersistenceError(
        .fileNotFound,
        "An SQLite store has a file. Add it with a location.",
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
  public static var keepsInversesTogether: Bool { true }

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

// MARK: Connecting

extension SQLiteStore {
  /// An open file, and what of it is known.
  struct Connection: Sendable {
    let file: SQLiteFile
    /// The store's identifier, as it was when the file was opened.
    var storeIdentifier: UUID?
    /// Where everything is; nil until something is looked for.
    var schema: SQLiteSchema?
    /// What reads records, by the ordinal of their entity.
    var readers: [Int: RecordReader] = [:]
    /// The database within a transaction; nil outside of one.
    var transaction: Transaction?
  }

  /// The database that a transaction is of.
  ///
  /// `@unchecked Sendable`: it is set only while the closure of ``SQLiteFile/read(_:)`` or ``SQLiteFile/write(_:)`` runs, which is given
  /// the database; and what uses it is called by that closure, one call at a time.
  struct Transaction: @unchecked Sendable {
    let database: Database
    /// The state of the file that the transaction sees.
    let mark: UInt64
    let isWriting: Bool
  }

  /// Opens the file; nil where there is none, or one without a byte.
  public func connect() throws -> StoreMetadata? {
    guard let status = try POSIXFileSystem().status(atPath: path), status.size > 0 || !status.isRegularFile else {
      return nil
    }
    let file = try SQLiteFile.open(
      atPath: path,
      options: setup.options,
      isReadOnly: setup.options[.isReadOnly] ?? false
    )
    connection.withLock { $0 = Connection(file: file) }
    let metadata = try metadata()
    connection.withLock { $0?.storeIdentifier = metadata.identifier }
    if !file.isReadOnly { try tidy(file) }
    return metadata
  }

  /// Makes the file, with all tables and no record, and opens it.
  public func create(_ metadata: StoreMetadata) throws {
    try removeEmptyFile()
    let schema = try SQLiteSchema(model: setup.model, entities: setup.entities)
    try SQLiteFile.create(atPath: path, options: setup.options) { db in
      try schema.create(in: db)
      try SQLiteMetadata(metadata).write(to: db, model: setup.model)
      try SQLiteModelCache.write(setup.model, to: db)
    }
    _ = try connect()
  }

  /// Makes room for the file, unless another process has filled it meanwhile.
  private func removeEmptyFile() throws {
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
    // Where it cannot be closed in order, the system closes it, and SQLite puts the rest right when it is opened again.
    try? open?.file.close()
  }

  func file() throws(PersistenceError) -> SQLiteFile {
    if let file = connection.withLock({ $0?.file }) { return file }
    throw PersistenceError(.storeNotOpen, "The file is not open.", context: .init(path: path, storeType: .sqlite))
  }
}

// MARK: Transactions

extension SQLiteStore {
  /// The number that SQLite gives to the state of the file as other connections have left it: the one that the transaction which is under
  /// way sees.
  public func changeMark() throws -> UInt64 {
    if let transaction { return transaction.mark }
    return try file().mark()
  }

  /// How often reading begins anew where others save meanwhile.
  static let greatestAttempts = 5
  /// The mark of a state that nobody can tell: it differs from all others, so that what was read is read anew.
  private static let unknownMark = UInt64.max

  /// Reads in one transaction, which is of the moment that ``changeMark()`` tells. Where reading fails and another process has saved
  /// meanwhile, whose save may have removed a file with large data that rows of the transaction lead to, it begins anew.
  public func reading<Result>(_ body: () throws -> Result) throws -> Result {
    let file = try file()
    for _ in 1..<Self.greatestAttempts {
      let mark = try file.mark()
      do {
        if let result = try file.read(at: mark, { db in try within(db, mark, body) }) { return result }
      } catch {
        guard try file.mark() != mark else { throw error }
      }
    }
    return try file.read { db in try within(db, Self.unknownMark, body) }
  }

  /// Saves in one transaction, for which no other writer is let in.
  public func saving<Result>(_ body: () throws -> Result) throws -> Result {
    var isComplete = false
    do {
      let result = try file().write { db in
        let refusals = try schema(db).writeRefusals
        guard refusals.isEmpty else { throw refused(refusals) }
        let result = try within(db, try SQLiteFile.mark(db), isWriting: true, body)
        isComplete = true
        return result
      }
      removeReplacedFiles(externals.commit())
      return result
    } catch {
      externals.rollBack(isUndone: !isComplete)
      // Keys that the transaction took are the file's again.
      reservedKeys.withLock { $0 = [:] }
      throw error
    }
  }

  private func refused(_ reasons: [String]) -> PersistenceError {
    PersistenceError(
      .storeReadOnly,
      "The file can be read, but not written by others than Core Data. \(reasons.joined(separator: " ")) To change its records, convert "
        + "it to another file with migratePersistentStore(_:to:) or heartwood convert, and open that one.",
      context: .init(path: path, storeType: .sqlite)
    )
  }

  private func within<Result>(
    _ db: Database,
    _ mark: UInt64,
    isWriting: Bool = false,
    _ body: () throws -> Result
  ) throws -> Result {
    let transaction = Transaction(database: db, mark: mark, isWriting: isWriting)
    connection.withLock { $0?.transaction = transaction }
    defer { connection.withLock { $0?.transaction = nil } }
    return try body()
  }

  /// Calls `body` with the database of the transaction, or of one for it alone.
  func withDatabase<Result>(_ body: (Database) throws -> Result) throws -> Result {
    if let transaction {
      do {
        return try body(transaction.database)
      } catch {
        throw SQLiteFailure.error(error, path: path)
      }
    }
    return try file().read(body)
  }

  /// The transaction that is under way.
  var transaction: Transaction? { connection.withLock { $0?.transaction } }

  /// Where everything is in the file.
  func schema(_ db: Database) throws -> SQLiteSchema {
    if let schema = connection.withLock({ $0?.schema }) { return schema }
    var schema = try SQLiteSchema.existing(in: db, model: setup.model, entities: setup.entities, path: path)
    schema.storeIdentifier = connection.withLock { $0?.storeIdentifier }
    connection.withLock { [schema] in $0?.schema = schema }
    return schema
  }

  func placement(of entity: EntityDescription, _ db: Database) throws -> EntityPlacement {
    try schema(db).keptPlacement(of: entity, path: path)
  }
}

// MARK: Records

extension SQLiteStore {
  /// The metadata as they are in the file.
  public func metadata() throws -> StoreMetadata {
    try withDatabase { db in try SQLiteMetadata.read(from: db, path: path).metadata }
  }

  /// Reads all records of `entities`.
  public func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
    try withDatabase { db in
      for entity in entities {
        let reader = try reader(of: entity, db)
        try tellingDamage(reader.placement) { loader.setTable(try wholeTable(reader, db)) }
      }
    }
  }

  /// Reads records by their keys: those that lie near each other together.
  public func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws {
    try withDatabase { db in
      let keys = references.compactMap { reference -> Int64? in
        if case .integer(let key) = reference { key } else { nil }
      }
      let reader = try reader(of: entity, db)
      try tellingDamage(reader.placement) { loader.setTable(try reader.table(keys, db)) }
    }
  }

  private func reader(of entity: EntityDescription, _ db: Database) throws -> RecordReader {
    if let reader = connection.withLock({ $0?.readers[entity.ordinal] }) { return reader }
    let reader = try RecordReader(try placement(of: entity, db), schema: try schema(db), path: path)
    connection.withLock { $0?.readers[entity.ordinal] = reader }
    return reader
  }

  /// Calls `body`, which reads a table, and lets an error of damaged pages say which table.
  func tellingDamage<Result>(_ placement: EntityPlacement, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
      throw SQLiteFailure.damage(error, path: path, entity: placement.entity.name, table: placement.tableName)
    }
  }

  /// Counts the rows.
  public func count(of entity: EntityDescription) throws -> Int {
    try withDatabase { db in try count(placement(of: entity, db), passingOverOthers: true, db) }
  }

  /// Counts the rows of the whole table where it is the entity's alone: for these the shortest index is enough. A migration may have left
  /// rows of others there.
  public func estimatedCount(of entity: EntityDescription) throws -> Int {
    try withDatabase { db in
      let placement = try placement(of: entity, db)
      return try count(placement, passingOverOthers: try !schema(db).isAlone(placement), db)
    }
  }

  private func count(_ placement: EntityPlacement, passingOverOthers: Bool, _ db: Database) throws -> Int {
    let query = "SELECT count(*) FROM \(SQLiteName.quoted(placement.tableName))"
    let condition = passingOverOthers ? " WHERE Z_ENT = \(placement.number)" : ""
    return try Int.fetchOne(try db.cachedStatement(sql: query + condition)) ?? 0
  }

  /// Writes changes.
  public func save(_ changes: ChangeSet, over contents: StoreContents) throws {
    try withDatabase { db in
      try RecordWriter(schema: try schema(db), contents: contents, path: path, db: db, externals: externals).write(
        changes
      )
    }
  }

  /// Writes metadata; what Core Data has noted beside them stays.
  public func saveMetadata(_ metadata: StoreMetadata) throws {
    try withDatabase { db in
      var row = try SQLiteMetadata.read(from: db, path: path)
      row.metadata = metadata
      try row.write(to: db, model: setup.model)
    }
  }
}
