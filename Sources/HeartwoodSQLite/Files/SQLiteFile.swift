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
  package let path: String
  package let isReadOnly: Bool
  private let reader: DatabaseQueue
  private let second: DatabaseQueue
  /// The file, where nothing was beside it when it was opened for reading.
  private let bareLocation: SQLiteLocation?

  private init(
    path: String,
    reader: DatabaseQueue,
    second: DatabaseQueue,
    isReadOnly: Bool,
    bareLocation: SQLiteLocation? = nil
  ) {
    self.path = path
    self.reader = reader
    self.second = second
    self.isReadOnly = isReadOnly
    self.bareLocation = bareLocation
  }

  /// Opens the database at `path`, which is never made by that.
  ///
  /// For writing, the journal mode of the options is set, which stays with the file. For reading only, nothing is changed in the file;
  /// where its changes go to a log, SQLite makes a file `-shm` beside it, unless there is no log and the folder cannot be written. It is gone
  /// when the file is closed, unless it was there before or others have the file open.
  package static func open(
    atPath path: String,
    options: StoreOptions = StoreOptions(),
    isReadOnly: Bool = false,
    fileSystem: any FileSystem = POSIXFileSystem()
  ) throws(PersistenceError) -> SQLiteFile {
    let location = try SQLiteLocation(path, fileSystem: fileSystem)
    try location.checkMagic()
    let connections = SQLiteConnections(location: location, options: options)
    if isReadOnly {
      let bareLocation = try location.hasSideFiles() ? nil : location
      let (reader, second) = (try connections.readerOfAnyFolder(), try connections.readerOfAnyFolder())
      return SQLiteFile(
        path: location.path,
        reader: reader,
        second: second,
        isReadOnly: true,
        bareLocation: bareLocation
      )
    }
    let writer = try connections.writer()
    try checkWritable(writer, location.path)
    return SQLiteFile(path: location.path, reader: try connections.reader(), second: writer, isReadOnly: false)
  }

  /// SQLite opens a file for reading where its permissions do not allow more, and says so when it is written.
  private static func checkWritable(_ writer: DatabaseQueue, _ path: String) throws(PersistenceError) {
    let isReadOnly = writer.inDatabase { db in sqlite3_db_readonly(db.sqliteConnection, "main") == 1 }
    guard isReadOnly else { return }
    throw PersistenceError(
      .storeReadOnly,
      "The file's permissions do not let it be written. Change them, or open the store for reading only.",
      context: .init(path: path, storeType: .sqlite)
    )
  }

  /// Reads in one transaction, so that everything is of one time.
  package func read<Value>(_ body: (Database) throws -> Value) throws(PersistenceError) -> Value {
    do {
      return try reader.read(body)
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

  fileprivate static func transaction<Value>(_ db: Database, _ body: (Database) throws -> Value) throws -> Value {
    // Statements that are kept compiled: these are a good part of what it costs to save one record.
    try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
    do {
      let result = try body(db)
      try db.cachedStatement(sql: "COMMIT").execute()
      return result
    } catch {
      // SQLite itself has undone some that failed.
      if db.isInsideTransaction { try? db.cachedStatement(sql: "ROLLBACK").execute() }
      throw error
    }
  }

  /// Uses the second connection outside of a transaction: for a checkpoint, a backup, or to take up free pages.
  package func withoutTransaction<Value>(_ body: (Database) throws -> Value) throws(PersistenceError) -> Value {
    do {
      return try second.writeWithoutTransaction(body)
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
  }

  /// Calls `body` while nobody can save into the file.
  package static func holdingOffWriters(ofFileAt path: String, _ body: () throws -> Void) throws(PersistenceError) {
    let location = try SQLiteLocation(path, fileSystem: POSIXFileSystem())
    let writer = try SQLiteConnections(location: location, options: StoreOptions()).plainWriter()
    do {
      try writer.inDatabase { db in
        try db.inTransaction(.immediate) {
          try body()
          return .rollback
        }
      }
      try writer.close()
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
  }

  /// Brings what lies beside the file into it. Where there is nothing to bring, the file keeps each of its bytes.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` where anybody has the file open.
  package static func gatherSideFiles(ofFileAt path: String) throws(PersistenceError) {
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
      try second.close()
    } catch {
      throw SQLiteFailure.error(error, path: path)
    }
    if let bareLocation { Self.removeTraces(at: bareLocation) }
  }

  /// Lets SQLite remove the files that it made for readers, which only one may that could write, and only while nobody else has the file
  /// open. Where that cannot be they stay, which does no harm.
  private static func removeTraces(at location: SQLiteLocation) {
    guard (try? location.hasSideFiles()) == true, (try? location.isAtRest()) == true else { return }
    var options = StoreOptions()
    options[.sqliteBusyTimeout] = .zero
    guard let writer = try? SQLiteConnections(location: location, options: options).plainWriter() else { return }
    // A log is only taken up, and so removed in the end, by who reads.
    _ = try? writer.inDatabase { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_schema") }
    try? writer.close()
  }
}

// MARK: States of the file

extension SQLiteFile {
  /// A number for the state of the file as others have left it. Numbers of different connections cannot be compared: it is always the
  /// second one's.
  package func mark() throws(PersistenceError) -> UInt64 { try withoutTransaction(Self.mark) }

  /// The same, within a transaction that ``write(_:)`` or ``readBeside(at:_:)`` has begun.
  package static func mark(_ db: Database) throws -> UInt64 {
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
      try Self.beginReading(db)
      return try self.mark() == mark ? body(db) : nil
    }
  }

  /// Reads with the second connection, while another thread reads with the first one, in a transaction that sees the state of the file that
  /// has `mark`; nil where others have saved since then.
  package func readBeside<Value>(at mark: UInt64, _ body: (Database) throws -> Value) throws(PersistenceError) -> Value?
  {
    do {
      return try second.read { db in
        try Self.beginReading(db)
        return try Self.mark(db) == mark ? body(db) : nil
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

// MARK: Making

extension SQLiteFile {
  /// Makes a database at `path`, where nothing may be, and lets `body` fill it: the file has its name only when it is whole and on the disk.
  ///
  /// - Throws: ``PersistenceError/Code/fileExists``.
  package static func create(
    atPath path: String,
    options: StoreOptions = StoreOptions(),
    fileSystem: any FileSystem = POSIXFileSystem(),
    _ body: (Database) throws -> Void
  ) throws(PersistenceError) {
    try make(atPath: path, options, fileSystem) { writer in
      try writer.writeWithoutTransaction { db in try transaction(db, body) }
    }
  }

  /// Makes a database at `path`, where nothing may be, of another one: `body` finds that by the name ``sourceName``, and can only read it. What
  /// `body` answers nil for is not kept: then the file is one without a table.
  static func create<Value>(
    atPath path: String,
    from source: String,
    options: StoreOptions,
    _ body: (Database) throws -> Value?
  ) throws(PersistenceError) -> Value? {
    let fileSystem = POSIXFileSystem()
    let location = try SQLiteLocation(source, fileSystem: fileSystem)
    defer { withExtendedLifetime(location) {} }
    return try make(atPath: path, options, fileSystem) { writer in
      try writer.writeWithoutTransaction { db in
        try attach(location, to: db)
        var value: Value?
        try db.inTransaction(.immediate) {
          value = try body(db)
          return value == nil ? .rollback : .commit
        }
        return value
      }
    }
  }

  /// Lets a connection read another database, also where no file can be made beside that and none is needed.
  private static func attach(_ location: SQLiteLocation, to db: Database) throws {
    func attach(_ access: SQLiteLocation.Access) throws {
      try location.attach(access, to: db)
      _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(sourceName).sqlite_schema")
    }
    do {
      try attach(.read)
    } catch {
      guard try location.canBeReadAsUnchanging(after: error) else { throw error }
      try? db.execute(sql: "DETACH DATABASE \(sourceName)")
      try attach(.unchanging)
    }
  }

  /// What a database is called of which another one is made.
  static let sourceName = "source"

  /// Writes what is in the database now as a new one at `path`, where nothing may be, while others may save: page by page, as it is at one
  /// moment. `body` looks at the copy before it has its name.
  package func copy<Value>(toPath path: String, _ body: (Database) throws -> Value) throws(PersistenceError) -> Value {
    try Self.make(atPath: path, StoreOptions(), POSIXFileSystem()) { writer in
      try writer.writeWithoutTransaction { copy in try self.copy(to: copy, body) }
    }
  }

  private func copy<Value>(to copy: Database, _ body: (Database) throws -> Value) throws -> Value {
    try read { db in try db.backup(to: copy) }
    return try body(copy)
  }

  private static func make<Value>(
    atPath path: String,
    _ options: StoreOptions,
    _ fileSystem: any FileSystem,
    _ fill: (DatabaseQueue) throws -> Value
  ) throws(PersistenceError) -> Value {
    guard try fileSystem.status(atPath: path) == nil else {
      let context = PersistenceError.Context(path: path, storeType: .sqlite)
      throw PersistenceError(.fileExists, "There is a file already. Nothing was changed.", context: context)
    }
    try fileSystem.removeAbandonedTemporaryFiles(besidePath: path)
    let temporary = try fileSystem.createTemporaryFile(besidePath: path, permissions: nil)
    do {
      let value = try fillFile(atPath: temporary.path, options, fileSystem, fill)
      try place(temporary.path, at: path, fileSystem)
      try temporary.close()
      try fileSystem.synchronizeDirectory(ofPath: path)
      return value
    } catch {
      try? temporary.close()
      for path in [temporary.path] + SQLiteLocation.sideFiles(ofFileAt: temporary.path) {
        try? fileSystem.removeFile(atPath: path)
      }
      throw SQLiteFailure.error(error, path: path)
    }
  }

  /// Gives a file its name, by which no log is that was another file's: SQLite would take it for this one's.
  private static func place(_ temporary: String, at path: String, _ fileSystem: any FileSystem) throws {
    // Whoever else makes the file waits, so that no log is in use.
    let lock = try fileSystem.lockFile(atPath: PathParts.split(path).directory)
    defer { lock?.release() }
    if try fileSystem.status(atPath: path) == nil {
      for sideFile in SQLiteLocation.sideFiles(ofFileAt: path) { try fileSystem.removeFile(atPath: sideFile) }
    }
    try fileSystem.moveFile(atPath: temporary, toPath: path, exclusively: true)
  }

  private static func fillFile<Value>(
    atPath path: String,
    _ options: StoreOptions,
    _ fileSystem: any FileSystem,
    _ fill: (DatabaseQueue) throws -> Value
  ) throws -> Value {
    let location = try SQLiteLocation(path, fileSystem: fileSystem)
    let writer = try SQLiteConnections(location: location, options: options).creator()
    do {
      let value = try fill(writer)
      try writer.close()
      return value
    } catch {
      try? writer.close()
      throw error
    }
  }
}
