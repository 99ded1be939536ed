import GRDB
import HeartwoodStore

/// Makes connections to a file, configured by the options of a store.
struct SQLiteConnections {
  private typealias Pragma = (name: String, value: String)

  let location: SQLiteLocation
  let options: StoreOptions

  /// Returns a connection that writes, in the requested journal mode, which stays with the file.
  ///
  /// - Parameter check: inspects the database before anything in it is changed.
  func writer(
    checking check: @escaping @Sendable (Database) throws -> Void
  ) throws(PersistenceError) -> DatabaseQueue {
    do {
      return try queue(.write, [("journal_mode", journalMode.rawValue)], checking: check)
    } catch {
      // try?: the error is thrown in any case, only without the explanation.
      guard error.code == .storeBusy, journalMode == .rollback, (try? location.keepsLog()) == true else { throw error }
      throw keptInLogMode(error)
    }
  }

  /// Explains that another connection keeps the file in write-ahead mode, for however long this one waits.
  private func keptInLogMode(_ error: PersistenceError) -> PersistenceError {
    PersistenceError(
      .storeBusy,
      "Another connection has the file open in write-ahead mode, and sqliteJournalMode asks for another mode, which "
        + "can be set only while no other process has the file open. Nothing was changed.",
      recovery: "Open the store with writeAheadLog, or when no other process has it open.",
      context: error.context,
      underlyingError: error.underlyingError
    )
  }

  private var journalMode: SQLiteJournalMode { options[.sqliteJournalMode] }

  /// Returns a connection that has the file to itself, in the journal mode of the file.
  func onlyWriter() throws(PersistenceError) -> DatabaseQueue {
    try queue(.write) { db in try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT") }
  }

  /// Returns a connection that fills a new file, with the settings that Core Data uses: 4 KB pages, and a list of free
  /// ones.
  func creator() throws(PersistenceError) -> DatabaseQueue {
    // The page size comes first, because the other pragma writes the first page.
    try queue(.write, [("page_size", "4096"), ("auto_vacuum", "INCREMENTAL")])
  }

  /// Returns a connection that writes, in the journal mode of the file.
  func plainWriter() throws(PersistenceError) -> DatabaseQueue { try queue(.write) }

  /// - Parameter access: `unchanging` for a connection that assumes that nothing writes to the file.
  func reader(_ access: SQLiteLocation.Access = .read) throws(PersistenceError) -> DatabaseQueue {
    try undoingInterruptedTransaction { () throws(PersistenceError) in try queue(access) }
  }

  /// Returns a connection that may stay in a transaction from one call to the next.
  func snapshotReader() throws(PersistenceError) -> DatabaseQueue {
    try undoingInterruptedTransaction { () throws(PersistenceError) in try queue(.read, keepsTransactions: true) }
  }

  /// Returns a connection to an empty database in memory, to which the file is attached for reading under the name
  /// ``SQLiteFile/sourceName``.
  func readerAsSource(_ access: SQLiteLocation.Access) throws(PersistenceError) -> DatabaseQueue {
    try undoingInterruptedTransaction { () throws(PersistenceError) in
      try queue(.write, isInMemory: true) { db in try location.attach(access, to: db) }
    }
  }

  /// - Parameters:
  ///   - pragmas: settings in addition to those of every connection.
  ///   - check: called before any setting that may change the file.
  private func queue(
    _ access: SQLiteLocation.Access,
    _ pragmas: [Pragma] = [],
    isInMemory: Bool = false,
    keepsTransactions: Bool = false,
    checking check: @escaping @Sendable (Database) throws -> Void = { _ in },
    _ prepare: @escaping @Sendable (Database) throws -> Void = { _ in }
  ) throws(PersistenceError) -> DatabaseQueue {
    if access == .read { try location.checkReadable() }
    var configuration = Configuration()
    configuration.label = "Heartwood.SQLite"
    configuration.readonly = access != .write
    configuration.foreignKeysEnabled = false
    configuration.allowsUnsafeTransactions = keepsTransactions
    configuration.busyMode = .timeout(options[.sqliteBusyTimeout].seconds)
    let (general, special) = try settings(pragmas)
    let observer = options[.sqliteStatementObserver]
    // The closure is kept as long as the connection, and with it the location.
    configuration.prepareDatabase { [location] db in
      withExtendedLifetime(location) {}
      try Self.run(general, access, db)
      try check(db)
      try Self.run(special, access, db)
      if let observer {
        db.trace(options: .statement) { event in
          if case .statement(let statement) = event { observer.observe(statement.sql) }
        }
      }
      try SQLiteFunctions.add(to: db)
      try prepare(db)
    }
    do {
      return try isInMemory
        ? DatabaseQueue(configuration: configuration)
        : DatabaseQueue(path: location.name(for: access), configuration: configuration)
    } catch {
      throw SQLiteFailure.error(error, path: location.path)
    }
  }

  /// Settings that change the file are only for a connection that may write to it.
  private static func run(_ settings: [String], _ access: SQLiteLocation.Access, _ db: Database) throws {
    for setting in settings {
      let statement = try db.makeStatement(sql: setting)
      if access == .write || statement.isReadonly { try statement.execute() }
    }
  }

  /// The settings of every connection, none of which changes the file. The schema of a file from another source must
  /// not call functions with side effects.
  private var ownSettings: [Pragma] {
    let synchronization = options[.sqliteSynchronization]
    var settings: [Pragma] = [("trusted_schema", "OFF"), ("synchronous", synchronization.rawValue)]
    #if canImport(Darwin)
      if synchronization == .full { settings += [("fullfsync", "ON"), ("checkpoint_fullfsync", "ON")] }
    #endif
    if let size = options[.sqliteCacheSize] { settings.append(("cache_size", "-\(max(1, size >> 10))")) }
    return settings
  }

  /// Returns the statements for the settings of every connection, and those for `pragmas`, each with the value that the
  /// application sets, followed by the application's other settings.
  private func settings(_ pragmas: [Pragma]) throws(PersistenceError) -> (general: [String], special: [String]) {
    var others = try applicationPragmas
    func statements(_ pragmas: [Pragma]) -> [String] {
      pragmas.map { "PRAGMA \($0.name) = \(others.removeValue(forKey: $0.name) ?? $0.value)" }
    }
    let (general, special) = (statements(ownSettings), statements(pragmas))
    return (general, special + others.sorted { $0.key < $1.key }.map { "PRAGMA \($0.key) = \($0.value)" })
  }

  /// Pragmas that the application must not set, each with the reason.
  private static let refusedPragmas = [
    "encoding": "Leave it out: Core Data's files have UTF-8.",
    "journal_mode": "Set it with the option sqliteJournalMode: a connection that reads cannot.",
    "locking_mode": "Leave it out: a store has two connections, one of which would keep the other from the file.",
  ]

  /// The pragmas that the application sets, by their names in lower case.
  private var applicationPragmas: [String: String] {
    get throws(PersistenceError) {
      var settings: [String: String] = [:]
      let knownSettings = ["journal_mode": journalMode.rawValue, "locking_mode": "NORMAL"]
      for (name, value) in options[.sqlitePragmas].sorted(by: { $0.key < $1.key }) {
        guard Self.isName(name), Self.isValue(value) else {
          throw unsupported("The option sqlitePragmas contains something that is not a pragma: \(name) = \(value).")
        }
        if knownSettings[name.lowercased()] == value.uppercased() { continue }
        if let reason = Self.refusedPragmas[name.lowercased()] {
          throw unsupported("The option sqlitePragmas sets \(name).", recovery: .custom(reason))
        }
        settings[name.lowercased()] = value
      }
      return settings
    }
  }

  private func unsupported(_ problem: String, recovery: PersistenceError.Recovery? = nil) -> PersistenceError {
    PersistenceError(
      .valueUnsupported,
      problem,
      recovery: recovery,
      context: .init(path: location.path, storeType: .sqlite)
    )
  }

  private static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.unicodeScalars.allSatisfy { $0.isASCII && ($0.properties.isAlphabetic || $0 == "_") }
  }

  private static func isValue(_ text: String) -> Bool {
    !text.isEmpty
      && text.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0) || "_.-+".unicodeScalars.contains($0))
      }
  }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}

// MARK: Recovery

extension SQLiteConnections {
  /// Calls `open`, which opens the file for reading. If a process died and left an unfinished transaction, a reader
  /// cannot roll it back: then a writing connection makes SQLite do so, whose locks show whether that process is really
  /// gone, and the file is opened again.
  func undoingInterruptedTransaction<Result>(
    _ open: () throws(PersistenceError) -> Result
  ) throws(PersistenceError) -> Result {
    do {
      return try open()
    } catch {
      guard SQLiteFailure.isOfInterruptedTransaction(error) else { throw error }
      try undoInterruptedTransaction()
      return try open()
    }
  }

  private func undoInterruptedTransaction() throws(PersistenceError) {
    // The application's other settings are for a store that is open for writing.
    var waiting = StoreOptions()
    waiting[.sqliteBusyTimeout] = options[.sqliteBusyTimeout]
    do {
      let writer = try SQLiteConnections(location: location, options: waiting).plainWriter()
      _ = try writer.inDatabase { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") }
      try writer.close()
    } catch {
      throw SQLiteFailure.undoing(error, path: location.path)
    }
  }
}

extension SQLiteFailure {
  /// Returns whether a file could not be read because a process died and left an unfinished transaction.
  static func isOfInterruptedTransaction(_ error: PersistenceError) -> Bool {
    (error.underlyingError as? DatabaseError)?.extendedResultCode == .SQLITE_READONLY_ROLLBACK
  }

  /// The message for such a file if the transaction cannot be rolled back.
  static let interruptedTransaction =
    "A process that ended has left a transaction unfinished. Before the file can be read it must be undone, from the file -journal beside it."
  static let interruptedTransactionRecovery: PersistenceError.Recovery = .custom(
    "Opening the store again does that if both files and their folder can be written. If they cannot, copy both to where "
      + "they can."
  )

  /// Returns the error for a transaction that cannot be rolled back.
  fileprivate static func undoing(_ error: any Error, path: String) -> PersistenceError {
    let failure = Self.error(error, path: path)
    switch (failure.underlyingError as? DatabaseError)?.resultCode {
    case ResultCode.SQLITE_READONLY, ResultCode.SQLITE_CANTOPEN, ResultCode.SQLITE_PERM:
      return PersistenceError(
        .fileReadFailed,
        interruptedTransaction,
        recovery: interruptedTransactionRecovery,
        context: failure.context,
        underlyingError: failure.underlyingError
      )
    default: return failure
    }
  }
}
