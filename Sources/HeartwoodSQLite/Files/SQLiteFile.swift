import GRDB
import GRDBSQLite
import HeartwoodStore

/// An open database: a connection that reads, and a second one that writes. In write-ahead mode they do not wait for
/// each other. If the file is only read, the second connection reads too.
///
/// Foreign keys are not enforced (Core Data's files declare none), functions in the schema of the file are not trusted,
/// and errors are ``PersistenceError``s that name the file.
final class SQLiteFile: Sendable {
  /// The path without symbolic links.
  let path: String
  let isReadOnly: Bool
  let reader: DatabaseQueue
  let second: DatabaseQueue
  /// The file, if no file was beside it when it was opened for reading.
  private let bareLocation: SQLiteLocation?
  /// The file, if it is read as if nothing writes to it.
  let resting: RestingFile?
  /// Whether there is only one connection, which reads in one transaction as long as it is open.
  let isSnapshot: Bool

  private init(
    path: String,
    reader: DatabaseQueue,
    second: DatabaseQueue,
    isReadOnly: Bool,
    bareLocation: SQLiteLocation? = nil,
    resting: RestingFile? = nil,
    isSnapshot: Bool = false
  ) {
    self.path = path
    self.reader = reader
    self.second = second
    self.isReadOnly = isReadOnly
    self.bareLocation = bareLocation
    self.resting = resting
    self.isSnapshot = isSnapshot
  }

  /// Opens the database at `path`, and never creates it.
  ///
  /// For writing, the journal mode of the options is set, and stays with the file. For reading only, the file is not
  /// changed, except that the unfinished transaction of a process that died is rolled back. If its changes go to a log,
  /// SQLite makes a file `-shm` beside it, unless there is no log and the file or its folder cannot be written to. The
  /// `-shm` is removed when the file is closed, unless it existed before or others have the file open.
  ///
  /// - Parameter check: inspects a database that is opened for writing before anything in it is changed, and may refuse
  ///   it.
  /// - Throws: ``PersistenceError/Code/fileReadFailed`` if there is a log and no `-shm`, and the file cannot be written
  ///   to: a `-shm` made here would hinder processes that can write.
  static func open(
    atPath path: String,
    options: StoreOptions = StoreOptions(),
    isReadOnly: Bool = false,
    fileSystem: any FileSystem = POSIXFileSystem(),
    checking check: @escaping @Sendable (Database) throws -> Void = { _ in }
  ) throws(PersistenceError) -> SQLiteFile {
    let location = try SQLiteLocation(path, fileSystem: fileSystem)
    try location.checkHeader()
    let connections = SQLiteConnections(location: location, options: options)
    if isReadOnly {
      let bareLocation = try location.hasSideFiles() ? nil : location
      let readers = try connections.readers()
      return SQLiteFile(
        path: location.path,
        reader: readers.first,
        second: readers.second,
        isReadOnly: true,
        bareLocation: readers.resting == nil ? bareLocation : nil,
        resting: readers.resting
      )
    }
    // This is checked before SQLite makes files beside this one that no process could remove.
    if !location.isWritable { throw notWritable(location.path) }
    let writer = try connections.writer(checking: check)
    try checkWritable(writer, location.path)
    return SQLiteFile(path: location.path, reader: try connections.reader(), second: writer, isReadOnly: false)
  }

  /// SQLite opens a file for reading if its permissions do not allow more, and reports that only at the first write.
  private static func checkWritable(_ writer: DatabaseQueue, _ path: String) throws(PersistenceError) {
    let isReadOnly = writer.inDatabase { db in sqlite3_db_readonly(db.sqliteConnection, "main") == 1 }
    if isReadOnly { throw notWritable(path) }
  }

  private static func notWritable(_ path: String) -> PersistenceError {
    PersistenceError(
      .storeReadOnly,
      "The file's permissions do not allow writing.",
      recovery: "Change them, or open the store for reading only.",
      context: .init(path: path, storeType: .sqlite)
    )
  }

  /// Reads in one transaction, so that all data is from the same moment.
  func read<Value>(_ body: (Database) throws -> Value) throws(PersistenceError) -> Value {
    do {
      if isSnapshot { return try reader.unsafeRead(body) }
      return try RestingFile.reading(resting) { try reader.read(body) }
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
  }

  /// Writes in one transaction, which is rolled back if `body` throws. It first waits until no other connection writes.
  ///
  /// - Throws: ``PersistenceError/Code/storeReadOnly`` if the file was opened for reading.
  func write<Value>(_ body: (Database) throws -> Value) throws(PersistenceError) -> Value {
    guard !isReadOnly else {
      throw PersistenceError(
        .storeReadOnly,
        "The store was opened for reading only.",
        context: .init(path: path, storeType: .sqlite)
      )
    }
    do {
      return try second.writeWithoutTransaction { db in try Self.transaction(db, body) }
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
  }

  static func transaction<Value>(_ db: Database, _ body: (Database) throws -> Value) throws -> Value {
    // Cached statements, because preparing them is a considerable part of the time to save one record.
    try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
    do {
      let result = try body(db)
      try db.cachedStatement(sql: "COMMIT").execute()
      return result
    } catch {
      // SQLite itself rolls back some transactions that failed.
      // try?: the error is thrown, and SQLite rolls back the rest when the file is closed.
      if db.isInsideTransaction { try? db.cachedStatement(sql: "ROLLBACK").execute() }
      throw error
    }
  }

  /// Uses the second connection outside of a transaction: for a checkpoint, a backup, or to reclaim free pages.
  func withoutTransaction<Value>(_ body: (Database) throws -> Value) throws(PersistenceError) -> Value {
    do {
      return try RestingFile.reading(resting) { try second.writeWithoutTransaction(body) }
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
  }

  /// Calls `body` while no other connection can save to the file. Returns nil if this process must not write to the
  /// file, because it then cannot stop others from saving.
  static func holdingOffWriters<Value>(
    ofFileAt path: String,
    _ body: () throws -> Value
  ) throws(PersistenceError) -> Value? {
    let location = try SQLiteLocation(path, fileSystem: POSIXFileSystem())
    guard location.isWritable else { return nil }
    let writer = try SQLiteConnections(location: location, options: StoreOptions()).plainWriter()
    do {
      var value: Value?
      try writer.inDatabase { db in
        try db.inTransaction(.immediate) {
          value = try body()
          return .rollback
        }
      }
      try writer.close()
      return value
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
  }

  /// Brings the contents of the files beside the file into it. If there is nothing to bring, no byte of the file
  /// changes.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` if another connection has the file open.
  static func checkpoint(ofFileAt path: String) throws(PersistenceError) {
    let connections = SQLiteConnections(
      location: try SQLiteLocation(path, fileSystem: POSIXFileSystem()),
      options: StoreOptions()
    )
    // A connection that has the file to itself keeps the shared memory in its own heap, and may leave a stale -shm
    // behind; the next connection removes it.
    for open in [connections.onlyWriter, connections.plainWriter] {
      let writer = try open()
      do {
        _ = try writer.inDatabase { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") }
        try writer.close()
      } catch {
        throw SQLiteFailure.error(error, path: path)
      }
    }
  }

  /// Closes the connections. The last one to close a file copies its log to it. No other call may follow.
  func close() throws(PersistenceError) {
    do {
      try reader.close()
      if !isSnapshot { try second.close() }
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
    if let bareLocation { Self.removeTraces(at: bareLocation) }
  }

  /// Makes SQLite remove the files that it made for readers. Only a connection that could write may do so, and only if
  /// no other connection has the file open. Otherwise they stay, with the permissions of the file, so that a process
  /// that may write to that can write to them too.
  private static func removeTraces(at location: SQLiteLocation) {
    // try?: files that cannot be removed stay, as documented.
    guard (try? location.hasSideFiles()) == true, (try? location.isAtRest()) == true else { return }
    var options = StoreOptions()
    options[.sqliteBusyTimeout] = .zero
    // try?: as above.
    guard let writer = try? SQLiteConnections(location: location, options: options).plainWriter() else { return }
    // try?: SQLite opens a log only for a query, and so removes it in the end only after one.
    _ = try? writer.inDatabase { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") }
    try? writer.close()
  }
}

// MARK: States

// MARK: States of the file

extension SQLiteFile {
  /// Returns a number for the state of the file as others have left it. Numbers of different connections cannot be
  /// compared: it is always the number of the second one.
  ///
  /// - Throws: ``PersistenceError/Code/fileChangedOnDisk`` if the file is read as if nothing writes to it, but another
  ///   process did.
  func mark() throws(PersistenceError) -> UInt64 { isSnapshot ? 0 : try withoutTransaction(Self.mark) }

  /// Returns the same number, within a transaction that ``write(_:)`` or ``readBeside(at:_:)`` has begun.
  static func mark(_ db: Database) throws -> UInt64 {
    let statement = try db.cachedStatement(sql: "PRAGMA data_version")
    defer { statement.end() }
    return try statement.nextRow() ? UInt64(clamping: sqlite3_column_int64(statement.sqliteStatement, 0)) : 0
  }

  /// Returns whether the file is no longer at its path, or another file is there.
  static func isMoved(_ db: Database) throws -> Bool {
    var isMoved: CInt = 0
    let code = sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &isMoved)
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    return isMoved != 0
  }

  /// Reads in one transaction, which sees the state of the file that has `mark`; returns nil if others have saved since
  /// then.
  func read<Value>(at mark: UInt64, _ body: (Database) throws -> Value) throws(PersistenceError) -> Value? {
    try read { db in
      if isSnapshot { return try body(db) }
      try Self.beginReading(db)
      return try self.mark() == mark ? body(db) : nil
    }
  }

  /// Returns a number for the state of the file as connections other than the reading one have left it, including the
  /// writing connection.
  func readerMark() throws(PersistenceError) -> UInt64 {
    do {
      // A single statement is a transaction by itself, which makes a save faster.
      return try reader.unsafeRead(Self.mark)
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
  }

  /// Reads in one transaction, which sees the state of the file that has the mark ``readerMark()``; returns nil if
  /// another connection has saved since then. The writing connection is not needed for it.
  func read<Value>(
    atReaderMark mark: UInt64,
    _ body: (Database) throws -> Value
  ) throws(PersistenceError) -> Value? {
    try read { db in
      try Self.beginReading(db)
      return try Self.mark(db) == mark ? body(db) : nil
    }
  }

  /// Reads with the second connection, while another thread reads with the first one, in a transaction that sees the
  /// state of the file that has `mark`; returns nil if others have saved since then.
  func readBeside<Value>(at mark: UInt64, _ body: (Database) throws -> Value) throws(PersistenceError) -> Value? {
    if isSnapshot { return nil }
    do {
      return try RestingFile.reading(resting) {
        try second.read { db in
          try Self.beginReading(db)
          return try Self.mark(db) == mark ? body(db) : nil
        }
      }
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
  }

  /// Begins reading: the first read determines the state that a transaction sees.
  private static func beginReading(_ db: Database) throws {
    let statement = try db.cachedStatement(sql: "SELECT count(*) FROM Z_METADATA")
    _ = try statement.nextRow()
    statement.end()
  }
}

// MARK: Snapshots

extension SQLiteFile {
  /// Returns the file as it is now, whatever is saved until the result is closed; nil if it has no write-ahead log,
  /// because others could then not save in the meantime.
  func snapshot(_ options: StoreOptions) throws(PersistenceError) -> SQLiteFile? {
    guard resting == nil else { return nil }
    let location = try SQLiteLocation(path, fileSystem: POSIXFileSystem())
    let reader = try SQLiteConnections(location: location, options: options).snapshotReader()
    do {
      let isLogged = try reader.unsafeRead { db in
        let mode = try String.fetchOne(db, sql: "PRAGMA journal_mode")
        guard mode?.lowercased() == SQLiteJournalMode.writeAheadLog.rawValue.lowercased() else { return false }
        try db.execute(sql: "BEGIN DEFERRED")
        try Self.beginReading(db)
        return true
      }
      if isLogged {
        return SQLiteFile(path: path, reader: reader, second: reader, isReadOnly: true, isSnapshot: true)
      }
      try reader.close()
      return nil
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
  }
}

// MARK: Inspecting

extension SQLiteFile {
  /// Reads from the file at `path` without opening it as a store, and without making a file beside it if the file is at
  /// rest. A file with a log has a file beside it already; reading it then makes a `-shm` too, as any reader does, or
  /// is refused if the file cannot be written to.
  ///
  /// `body` may be called twice, if another process begins to write in the meantime.
  static func inspect<Value>(
    atPath path: String,
    options: StoreOptions = StoreOptions(),
    fileSystem: any FileSystem = POSIXFileSystem(),
    _ body: (Database) throws -> Value
  ) throws(PersistenceError) -> Value {
    try inspect(atPath: path, options, fileSystem) { connections, access in
      try closing(try connections.reader(access)) { try $0.read(body) }
    }
  }

  /// Does the same, but the file is attached under the name ``sourceName`` to a connection that can contain temporary
  /// views and nothing else.
  static func inspectAsSource<Value>(
    atPath path: String,
    options: StoreOptions,
    _ body: (Database) throws -> Value?
  ) throws(PersistenceError) -> Value? {
    try inspect(atPath: path, options, POSIXFileSystem()) { connections, access in
      try closing(try connections.readerAsSource(access)) { reader in
        try reader.inDatabase { db in
          var value: Value?
          try db.inTransaction(.deferred) {
            value = try body(db)
            return .rollback
          }
          return value
        }
      }
    }
  }

  private static func inspect<Value>(
    atPath path: String,
    _ options: StoreOptions,
    _ fileSystem: any FileSystem,
    _ read: (SQLiteConnections, SQLiteLocation.Access) throws -> Value
  ) throws(PersistenceError) -> Value {
    let location = try SQLiteLocation(path, fileSystem: fileSystem)
    try location.checkHeader()
    try location.checkReadable()
    let connections = SQLiteConnections(location: location, options: options)
    if SQLiteLocation.readsURIs, try location.isAtRest() {
      let before = try location.identity()
      let result = Result { try read(connections, .unchanging) }
      if try location.isAtRest(), try location.identity() == before { return try unwrapped(result, location.path) }
    }
    return try unwrapped(Result { try read(connections, .read) }, location.path)
  }

  private static func closing<Value>(
    _ reader: DatabaseQueue,
    _ body: (DatabaseQueue) throws -> Value
  ) throws -> Value {
    let result = Result { try body(reader) }
    try reader.close()
    return try result.get()
  }

  private static func unwrapped<Value>(
    _ result: Result<Value, any Error>,
    _ path: String
  ) throws(PersistenceError) -> Value {
    do {
      return try result.get()
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
  }
}
