package import GRDB
import GRDBSQLite

// MARK: States of the file

extension SQLiteFile {
  /// A number for the state of the file as others have left it. Numbers of different connections cannot be compared: it is always the
  /// second one's.
  ///
  /// - Throws: ``PersistenceError/Code/fileChangedOnDisk`` where it is read as a file that nobody writes, and somebody has.
  package func mark() throws(PersistenceError) -> UInt64 { try withoutTransaction(Self.mark) }

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
