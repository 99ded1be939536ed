import GRDB
import HeartwoodModel
public import HeartwoodStore
import Synchronization

// MARK: Transactions

extension SQLiteStore {
  /// The database within a transaction.
  ///
  /// `@unchecked Sendable`: it is set only while the closure of ``SQLiteFile/read(_:)`` or ``SQLiteFile/write(_:)``
  /// runs, which receives the database; that closure makes all calls that use it, one at a time.
  struct Transaction: @unchecked Sendable {
    let database: Database
    /// The state of the file that the transaction sees.
    let mark: UInt64
    /// Whether the other connection is busy.
    let isAlone: Bool
  }

  /// A transaction that has written all its changes, and waits for the disk. Others read the state before it.
  struct Commit: Sendable {
    /// The state of the file before the transaction, as the writing connection numbers it.
    let mark: UInt64
    /// The same state, as the reading connection numbers it.
    let readerMark: UInt64
  }

  /// Returns SQLite's number for the state of the file that the current transaction sees, as other connections have
  /// left it.
  public func dataVersion() throws -> UInt64 {
    if let transaction { return transaction.mark }
    // No other connection can write in the meantime.
    if let commit { return commit.mark }
    return try file().mark()
  }

  /// The maximum number of times that reading is started again because others save in the meantime.
  static let greatestAttempts = 5
  /// Returns the mark of a state that cannot be identified. It differs from all other marks, also from that of another
  /// such state, so that the data is read again.
  private func unknownMark() -> UInt64 { leastUnknownMark.wrappingSubtract(1, ordering: .relaxed).newValue }

  /// Reads in one transaction, in the state that ``dataVersion()`` reports. Reading is started again if it fails or a
  /// file with large data is missing, and another process has saved in the meantime: its save may have removed a file
  /// that rows of the transaction refer to.
  public func reading<Result>(_ body: () throws -> Result) throws -> Result {
    let file = try file()
    if let commit { return try beside(commit) { db in try within(db, commit.mark, isAlone: true, body) } }
    for _ in 1..<Self.greatestAttempts {
      let (mark, missingCount) = (try file.mark(), missingFiles.count)
      do {
        guard let result = try file.read(at: mark, { db in try within(db, mark, body) }) else { continue }
        if try missingFiles.count == missingCount || file.mark() == mark { return result }
      } catch {
        guard try file.mark() != mark else { throw error }
      }
    }
    return try file.read { db in try within(db, unknownMark(), body) }
  }

  /// Saves in one transaction, during which no other connection can write.
  public func saving<Result>(_ body: () throws -> Result) throws -> Result {
    try saving(body, beforeCommit: { _ in }, afterCommit: {})
  }

  /// - Parameters:
  ///   - beforeCommit: called with the transaction after everything is written, when only the disk remains to be waited
  ///     for.
  ///   - afterCommit: called when the transaction has ended, also if it failed.
  func saving<Value>(
    _ body: () throws -> Value,
    beforeCommit: (Transaction) -> Void,
    afterCommit: () -> Void
  ) throws -> Value {
    try checkIsOfModel()
    var isComplete = false
    let value: Value
    do {
      defer { afterCommit() }
      value = try file().write { db in
        _ = try historyTables(db)
        let schema = try schema(db)
        try checkIsWritable(schema)
        if schema.hasDerivedTriggers { try DerivedTriggers.switchOff(in: db) }
        let transaction = Transaction(database: db, mark: try SQLiteFile.mark(db), isAlone: true)
        let value = try within(transaction, body)
        isComplete = true
        beforeCommit(transaction)
        return value
      }
    } catch {
      externals.rollBack(isUndone: !isComplete)
      // The keys that the transaction reserved are available in the file again.
      reservedKeys.withLock { $0 = [:] }
      connection.withLock { if $0?.hasBegunHistory == true { $0?.schema = nil } }
      throw error
    }
    connection.withLock { $0?.hasBegunHistory = false }
    removeReplacedFiles(externals.commit())
    return value
  }

  /// - Throws: ``PersistenceError/Code/storeReadOnly`` with all reasons why the file must not be written.
  private func checkIsWritable(_ schema: SQLiteSchema) throws(PersistenceError) {
    let mirroring = setup.options[.sqliteAllowsMirroredChanges] ? nil : schema.mirroring
    let reasons = schema.writeRefusals + [mirroring].compactMap(\.self)
    if reasons.isEmpty { return }
    let advice =
      "To change its records, convert it to another file with convert(_:to:) or heartwood convert, and open that one."
    let permission =
      "If a change is to go where the app's own changes go, open the store with the option sqliteAllowsMirroredChanges, "
      + "or give --allow-mirrored to heartwood edit, while the app is closed. "
    throw PersistenceError(
      .storeReadOnly,
      "The file can be read, but not written by others than Core Data. \(reasons.joined(separator: " "))",
      recovery: .custom((schema.writeRefusals.isEmpty ? permission : "") + advice),
      context: .init(path: path, storeType: .sqlite)
    )
  }

  private func within<Result>(
    _ db: Database,
    _ mark: UInt64,
    isAlone: Bool = false,
    _ body: () throws -> Result
  ) throws -> Result {
    try within(Transaction(database: db, mark: mark, isAlone: isAlone), body)
  }

  private func within<Result>(_ transaction: Transaction, _ body: () throws -> Result) throws -> Result {
    connection.withLock { $0?.transaction = transaction }
    defer { connection.withLock { $0?.transaction = nil } }
    return try body()
  }

  /// Calls `body` with the database of the current transaction, or of a new one.
  func withDatabase<Result>(_ body: (Database) throws -> Result) throws -> Result {
    if let transaction {
      do {
        return try body(transaction.database)
      } catch {
        throw SQLiteFailure.error(error, path: path)
      }
    }
    if let commit { return try beside(commit, body) }
    return try file().read(body)
  }

  /// The current transaction.
  var transaction: Transaction? { connection.withLock { $0?.transaction } }

  /// Returns the schema: the tables and columns of all entities and properties in the file.
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

// MARK: Snapshots

extension SQLiteStore {
  /// Returns a store that reads the file as it is now, whatever is saved later. Nil if there is no write-ahead log, or
  /// if the model has large data in files beside the store, because a save may remove these.
  public func snapshot() throws -> (any IncrementalStore)? {
    let hasFiles = setup.entities.contains { entity in
      entity.properties.contains { $0.attribute?.allowsExternalBinaryDataStorage == true }
    }
    guard !hasFiles, let file = try file().snapshot(setup.options) else { return nil }
    let snapshot = try SQLiteStore(setup)
    let known = connection.withLock { $0 }
    snapshot.connection.withLock { connection in
      var own = Connection(file: file)
      own.storeIdentifier = known?.storeIdentifier
      own.isOfOtherModel = known?.isOfOtherModel ?? false
      own.schema = known?.schema
      connection = own
    }
    return snapshot
  }
}

// MARK: Committing

// In write-ahead mode readers need not wait for a writer: until its transaction is in the log, they see the file as it
// was. A save waits for the disk longest, and others can read during that time.

extension SQLiteStore {
  /// Saves, and allows others to read while the log is written to the disk.
  public func saving<Result>(
    _ body: () throws -> Result,
    release: () -> Void,
    retake: () -> Void
  ) throws -> Result {
    try saving(body) { transaction in
      guard let commit = commit(of: transaction) else { return }
      connection.withLock { $0?.commit = commit }
      release()
    } afterCommit: {
      if commit == nil { return }
      retake()
      connection.withLock { $0?.commit = nil }
    }
  }

  /// Returns the information that readers need about a transaction that is about to be committed; nil if they have to
  /// wait for it.
  private func commit(of transaction: Transaction) -> Commit? {
    // try?: if the marks cannot be read, readers wait for the commit.
    guard let file = try? file(), isLogged(transaction.database),
      // No other connection can save between this and the commit.
      let readerMark = try? file.readerMark()
    else { return nil }
    return Commit(mark: transaction.mark, readerMark: readerMark)
  }

  /// Returns whether the file has a write-ahead log. This does not change while the file is open.
  private func isLogged(_ db: Database) -> Bool {
    if let known = connection.withLock({ $0?.isLogged }) { return known }
    // try?: if the mode cannot be read, readers wait for the commit.
    let mode = try? String.fetchOne(db, sql: "PRAGMA journal_mode")
    let isLogged = mode?.lowercased() == SQLiteJournalMode.writeAheadLog.rawValue.lowercased()
    connection.withLock { $0?.isLogged = isLogged }
    return isLogged
  }

  /// The transaction that waits for the disk, if others can read beside it.
  var commit: Commit? { connection.withLock { $0?.commit } }

  /// Reads the file as it was before a transaction that waits for the disk.
  ///
  /// - Throws: `SaveIsVisible` if the transaction has become visible in the meantime.
  func beside<Value>(_ commit: Commit, _ body: (Database) throws -> Value) throws -> Value {
    let value: Value? = try file().read(atReaderMark: commit.readerMark, body)
    guard let value else { throw SaveIsVisible() }
    return value
  }
}
