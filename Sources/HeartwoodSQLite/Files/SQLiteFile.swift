package import GRDB
import GRDBSQLite
package import HeartwoodStore

/// An open database: a connection that reads, and a second one that writes, which in write-ahead mode do not wait for each other. Where
/// the file is only read, the second one reads too.
///
/// Foreign keys are not enforced (Core Data's files declare none), functions in the schema of the file are not trusted, and errors are
/// ``PersistenceError``s that name the file.
package final class SQLiteFile: Sendable {
  /// The path without symbolic links.
  let path: String
  package let isReadOnly: Bool
  let reader: DatabaseQueue
  let second: DatabaseQueue
  /// The file, where nothing was beside it when it was opened for reading.
  private let bareLocation: SQLiteLocation?
  /// The file, where it is read as one that nobody writes.
  let resting: RestingFile?
  /// Whether there is one connection, which reads in one transaction as long as it is open.
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

  /// Opens the database at `path`, which is never made by that.
  ///
  /// For writing, the journal mode of the options is set, which stays with the file. For reading only, nothing is changed in the file,
  /// but that a transaction is undone which a process that died has left half done; where its changes go to a log, SQLite makes a file `-shm`
  /// beside it, unless there is no log and the file or its folder cannot be written. It is gone when the file is closed, unless it was there before or
  /// others have the file open.
  ///
  /// - Parameter check: looks at a database that is opened for writing before anything in it is changed, and may refuse it.
  /// - Throws: ``PersistenceError/Code/fileReadFailed`` where there is a log and no `-shm`, and the file cannot be written: it would be in the
  ///   way of those who can.
  package static func open(
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
    // Before SQLite makes files beside this one that nobody could remove.
    if !location.isWritable { throw notWritable(location.path) }
    let writer = try connections.writer(checking: check)
    try checkWritable(writer, location.path)
    return SQLiteFile(path: location.path, reader: try connections.reader(), second: writer, isReadOnly: false)
  }

  /// SQLite opens a file for reading where its permissions do not allow more, and says so when it is written.
  private static func checkWritable(_ writer: DatabaseQueue, _ path: String) throws(PersistenceError) {
    let isReadOnly = writer.inDatabase { db in sqlite3_db_readonly(db.sqliteConnection, "main") == 1 }
    if isReadOnly { throw notWritable(path) }
  }

  private static func notWritable(_ path: String) -> PersistenceError {
    PersistenceError(
      .storeReadOnly,
      "The file's permissions do not let it be written.",
      recovery: "Change them, or open the store for reading only.",
      context: .init(path: path, storeType: .sqlite)
    )
  }

  /// Reads in one transaction, so that everything is of one time.
  package func read<Value>(_ body: (Database) throws -> Value) throws(PersistenceError) -> Value {
    do {
      if isSnapshot { return try reader.unsafeRead(body) }
      return try RestingFile.reading(resting) { try reader.read(body) }
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
  }

  /// Writes in one transaction, which is undone where `body` throws. It begins by waiting until nobody else writes.
  ///
  /// - Throws: ``PersistenceError/Code/storeReadOnly`` where the file was opened for reading.
  package func write<Value>(_ body: (Database) throws -> Value) throws(PersistenceError) -> Value {
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
    // Statements that are kept compiled: these are a good part of what it costs to save one record.
    try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
    do {
      let result = try body(db)
      try db.cachedStatement(sql: "COMMIT").execute()
      return result
    } catch {
      // SQLite itself has undone some that failed.
      // try?: the error is thrown, and SQLite undoes the rest when the file is closed.
      if db.isInsideTransaction { try? db.cachedStatement(sql: "ROLLBACK").execute() }
      throw error
    }
  }

  /// Uses the second connection outside of a transaction: for a checkpoint, a backup, or to take up free pages.
  package func withoutTransaction<Value>(_ body: (Database) throws -> Value) throws(PersistenceError) -> Value {
    do {
      return try RestingFile.reading(resting) { try second.writeWithoutTransaction(body) }
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
  }

  /// Calls `body` while nobody can save into the file; not where this process must not write it, which can hold off nobody, and then it is nil.
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

  /// Brings what lies beside the file into it. Where there is nothing to bring, the file keeps each of its bytes.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` where anybody has the file open.
  static func checkpoint(ofFileAt path: String) throws(PersistenceError) {
    let connections = SQLiteConnections(
      location: try SQLiteLocation(path, fileSystem: POSIXFileSystem()),
      options: StoreOptions()
    )
    // A connection alone with the file keeps the shared memory in its own heap, and may leave a stale -shm behind; the next connection
    // removes it.
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

  /// Closes the connections. The last one to close a file carries its log over. No other call may follow.
  package func close() throws(PersistenceError) {
    do {
      try reader.close()
      if !isSnapshot { try second.close() }
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
    if let bareLocation { Self.removeTraces(at: bareLocation) }
  }

  /// Lets SQLite remove the files that it made for readers, which only one may that could write, and only while nobody else has the file
  /// open. Where that cannot be they stay, with the permissions of the file, which who may write that can write too.
  private static func removeTraces(at location: SQLiteLocation) {
    // try?: files that cannot be removed stay, as documented.
    guard (try? location.hasSideFiles()) == true, (try? location.isAtRest()) == true else { return }
    var options = StoreOptions()
    options[.sqliteBusyTimeout] = .zero
    // try?: as above.
    guard let writer = try? SQLiteConnections(location: location, options: options).plainWriter() else { return }
    // try?: a log is only taken up, and so removed in the end, by who reads.
    _ = try? writer.inDatabase { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") }
    try? writer.close()
  }
}

// MARK: States

// MARK: States of the file

extension SQLiteFile {
  /// A number for the state of the file as others have left it. Numbers of different connections cannot be compared: it is always the
  /// second one's.
  ///
  /// - Throws: ``PersistenceError/Code/fileChangedOnDisk`` where it is read as a file that nobody writes, and somebody has.
  package func mark() throws(PersistenceError) -> UInt64 { isSnapshot ? 0 : try withoutTransaction(Self.mark) }

  /// The same, within a transaction that ``write(_:)`` or ``readBeside(at:_:)`` has begun.
  static func mark(_ db: Database) throws -> UInt64 {
    let statement = try db.cachedStatement(sql: "PRAGMA data_version")
    defer { statement.end() }
    return try statement.nextRow() ? UInt64(clamping: sqlite3_column_int64(statement.sqliteStatement, 0)) : 0
  }

  /// Whether the file is at its path no longer, or another one is there.
  static func isMoved(_ db: Database) throws -> Bool {
    var isMoved: CInt = 0
    let code = sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &isMoved)
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    return isMoved != 0
  }

  /// Reads in one transaction, which sees the state of the file that has `mark`; nil where others have saved since then.
  package func read<Value>(at mark: UInt64, _ body: (Database) throws -> Value) throws(PersistenceError) -> Value? {
    try read { db in
      if isSnapshot { return try body(db) }
      try Self.beginReading(db)
      return try self.mark() == mark ? body(db) : nil
    }
  }

  /// A number for the state of the file as others than the connection that reads have left it, the connection that writes among them.
  func readerMark() throws(PersistenceError) -> UInt64 {
    do {
      // One statement is a transaction by itself, and costs a save the less.
      return try reader.unsafeRead(Self.mark)
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
  }

  /// Reads in one transaction, which sees the state of the file that has the mark ``readerMark()``; nil where somebody has saved since then. The
  /// connection that writes is not needed for it.
  func read<Value>(
    atReaderMark mark: UInt64,
    _ body: (Database) throws -> Value
  ) throws(PersistenceError) -> Value? {
    try read { db in
      try Self.beginReading(db)
      return try Self.mark(db) == mark ? body(db) : nil
    }
  }

  /// Reads with the second connection, while another thread reads with the first one, in a transaction that sees the state of the file that
  /// has `mark`; nil where others have saved since then.
  package func readBeside<Value>(at mark: UInt64, _ body: (Database) throws -> Value) throws(PersistenceError) -> Value?
  {
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

  /// What a transaction sees is settled when it first reads.
  private static func beginReading(_ db: Database) throws {
    let statement = try db.cachedStatement(sql: "SELECT count(*) FROM Z_METADATA")
    _ = try statement.nextRow()
    statement.end()
  }
}

// MARK: Snapshots

extension SQLiteFile {
  /// The file as it is now, whatever is saved until the result is closed; nil if it has no write-ahead log: then nobody could save meanwhile.
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
  /// Reads from the file at `path` without opening it as a store, and without a file beside it where that can be: where the file is at
  /// rest. A file with a log has one beside it already; reading then makes a `-shm` too, as any reader does, or is refused where the file
  /// cannot be written.
  ///
  /// `body` may be called twice, where somebody begins to write meanwhile.
  package static func inspect<Value>(
    atPath path: String,
    options: StoreOptions = StoreOptions(),
    fileSystem: any FileSystem = POSIXFileSystem(),
    _ body: (Database) throws -> Value
  ) throws(PersistenceError) -> Value {
    try inspect(atPath: path, options, fileSystem) { connections, access in
      try closing(try connections.reader(access)) { try $0.read(body) }
    }
  }

  /// The same, but `body` finds the file by the name ``sourceName``, in a connection that can have temporary views and nothing else of its own.
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
