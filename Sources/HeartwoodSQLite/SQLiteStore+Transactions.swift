import GRDB
import HeartwoodModel
public import HeartwoodStore
import Synchronization

// MARK: Transactions

extension SQLiteStore {
  /// The database that a transaction is of.
  ///
  /// `@unchecked Sendable`: it is set only while the closure of ``SQLiteFile/read(_:)`` or ``SQLiteFile/write(_:)`` runs, which is given
  /// the database; and what uses it is called by that closure, one call at a time.
  struct Transaction: @unchecked Sendable {
    let database: Database
    /// The state of the file that the transaction sees.
    let mark: UInt64
    /// Whether the other connection is busy.
    let isAlone: Bool
  }

  /// A transaction that has written all that it has to write, and waits for the disk. Others read what was there before it.
  struct Commit: Sendable {
    /// The state of the file before it, to the connection that writes.
    let mark: UInt64
    /// The same to the connection that reads.
    let readerMark: UInt64
  }

  /// The number that SQLite gives to the state of the file as other connections have left it: the one that the transaction which is under
  /// way sees.
  public func dataVersion() throws -> UInt64 {
    if let transaction { return transaction.mark }
    // Nobody else can write meanwhile.
    if let commit { return commit.mark }
    return try file().mark()
  }

  /// How often reading begins anew where others save meanwhile.
  static let greatestAttempts = 5
  /// The mark of a state that nobody can tell. It differs from all others, also from that of another such state, so that what was read is
  /// read anew.
  private func unknownMark() -> UInt64 { leastUnknownMark.wrappingSubtract(1, ordering: .relaxed).newValue }

  /// Reads in one transaction, which is of the moment that ``dataVersion()`` tells. Where reading fails, or a file with large data is
  /// missing, and another process has saved meanwhile, whose save may have removed a file that rows of the transaction lead to, it begins anew.
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

  /// Saves in one transaction, for which no other writer is let in.
  public func saving<Result>(_ body: () throws -> Result) throws -> Result {
    try saving(body, beforeCommit: { _ in }, afterCommit: {})
  }

  /// - Parameters:
  ///   - beforeCommit: called with the transaction once all is written, when only the disk is to be waited for.
  ///   - afterCommit: called when the transaction has ended, also where it has failed.
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
      // Keys that the transaction took are the file's again.
      reservedKeys.withLock { $0 = [:] }
      connection.withLock { if $0?.hasBegunHistory == true { $0?.schema = nil } }
      throw error
    }
    connection.withLock { $0?.hasBegunHistory = false }
    removeReplacedFiles(externals.commit())
    return value
  }

  /// - Throws: ``PersistenceError/Code/storeReadOnly`` with all reasons why the file is not written.
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

  /// Calls `body` with the database of the transaction, or of one for it alone.
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

// MARK: Snapshots

extension SQLiteStore {
  /// A store that reads the file as it is now, whatever is saved; nil without a write-ahead log, and for a model with large data in files beside the store: a save may remove these.
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

// In write-ahead mode readers need not wait for a writer: until its transaction is in the log, they see the file as it was. The disk is what a
// save waits for longest, so it is then that others are let in.

extension SQLiteStore {
  /// Saves, and lets others read while the log is written to the disk.
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

  /// What readers have to know of a transaction that is about to be committed; nil where they have to wait for it.
  private func commit(of transaction: Transaction) -> Commit? {
    // try?: if it cannot be known, readers wait for the commit.
    guard let file = try? file(), isLogged(transaction.database),
      // Nobody can save between this and the commit.
      let readerMark = try? file.readerMark()
    else { return nil }
    return Commit(mark: transaction.mark, readerMark: readerMark)
  }

  /// Whether the file has a write-ahead log. It stays so as long as the file is open.
  private func isLogged(_ db: Database) -> Bool {
    if let known = connection.withLock({ $0?.isLogged }) { return known }
    // try?: if it cannot be known, readers wait for the commit.
    let mode = try? String.fetchOne(db, sql: "PRAGMA journal_mode")
    let isLogged = mode?.lowercased() == SQLiteJournalMode.writeAheadLog.rawValue.lowercased()
    connection.withLock { $0?.isLogged = isLogged }
    return isLogged
  }

  /// The transaction that waits for the disk, where there is one that others read beside.
  var commit: Commit? { connection.withLock { $0?.commit } }

  /// Reads the file as it was before a transaction that waits for the disk.
  ///
  /// - Throws: `SaveIsVisible` where that has come there meanwhile.
  func beside<Value>(_ commit: Commit, _ body: (Database) throws -> Value) throws -> Value {
    let value: Value? = try file().read(atReaderMark: commit.readerMark, body)
    guard let value else { throw SaveIsVisible() }
    return value
  }
}
