import GRDB
import GRDBSQLite
import HeartwoodStore

/// GRDB has a type with this name too. In this module, the name always refers to Heartwood's type.
typealias PersistenceError = HeartwoodStore.PersistenceError

/// Converts SQLite's errors to Heartwood's.
enum SQLiteFailure {
  /// Returns the error for `error` at the file at `path`. An error that is already Heartwood's is kept, with the path
  /// added.
  static func error(_ error: any Error, path: String) -> PersistenceError {
    if let error = error as? PersistenceError { return error.locating(path: path, storeType: .sqlite) }
    let context = PersistenceError.Context(path: path, storeType: .sqlite)
    guard let failure = error as? DatabaseError else {
      return PersistenceError(.fileReadFailed, "\(error)", context: context, underlyingError: error)
    }
    let (code, problem) = meaning(failure)
    let recovery = recovery(failure)
    return PersistenceError(code, problem, recovery: recovery, context: context, underlyingError: failure)
  }

  /// Returns the error for a table with damaged pages.
  static func damage(_ error: DatabaseError, path: String, entity: String, table: String) -> PersistenceError {
    PersistenceError(
      .fileCorrupt,
      "The database is damaged where the table \(table) is, or an index of it (\(error.message ?? "\(error.resultCode)")).",
      recovery: remedy,
      context: .init(path: path, storeType: .sqlite, entity: entity),
      underlyingError: error
    )
  }

  /// Returns the error for a step that ended with `code`.
  static func step(_ code: CInt, of statement: SQLiteStatement) -> DatabaseError {
    let message = sqlite3_errmsg(sqlite3_db_handle(statement)).map { String(cString: $0) }
    return DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
  }

  private static let remedy: PersistenceError.Recovery =
    "Go back to a backup, or save what `sqlite3 FILE .recover` finds."

  private static func meaning(_ error: DatabaseError) -> (PersistenceError.Code, String) {
    let detail = error.message.map { " (\($0))" } ?? ""
    switch error.resultCode {
    case .SQLITE_NOTADB: return (.fileMalformed, "The file is not an SQLite database, or it is encrypted.")
    case .SQLITE_CORRUPT: return (.fileCorrupt, "The database is damaged\(detail).")
    case .SQLITE_BUSY, .SQLITE_LOCKED:
      return (
        .storeBusy,
        "Another process or connection has held the file for longer than the store was told to wait. Nothing was changed."
      )
    case .SQLITE_FULL: return (.fileWriteFailed, "The disk is full. Nothing was changed.")
    case .SQLITE_READONLY where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK:
      return (.fileReadFailed, interruptedTransaction)
    case .SQLITE_READONLY:
      return (.storeReadOnly, "The file or its folder cannot be written\(detail).")
    case .SQLITE_CANTOPEN:
      return (.fileReadFailed, "The file, or one beside it that SQLite needs, cannot be opened\(detail).")
    case .SQLITE_PERM, .SQLITE_AUTH: return (.fileReadFailed, "The file may not be accessed\(detail).")
    case .SQLITE_IOERR: return (ioCode(error), "The system could not read or write the file\(detail).")
    case .SQLITE_NOMEM: return (.fileReadFailed, "There is no memory left for SQLite.")
    case .SQLITE_TOOBIG: return (.valueUnsupported, "A value is too large for SQLite: a billion bytes are the most.")
    case .SQLITE_CONSTRAINT: return (.constraintConflict, "The database does not allow the change\(detail).")
    case .SQLITE_ERROR, .SQLITE_SCHEMA, .SQLITE_FORMAT:
      return (.fileMalformed, "The database does not have the expected form\(detail).")
    default: return (.fileReadFailed, "SQLite failed with the code \(error.extendedResultCode.rawValue)\(detail).")
    }
  }

  private static func recovery(_ error: DatabaseError) -> PersistenceError.Recovery? {
    switch error.resultCode {
    case .SQLITE_CORRUPT: remedy
    case .SQLITE_BUSY, .SQLITE_LOCKED: .waitLonger(.sqliteBusyTimeout)
    case .SQLITE_FULL: "Make room and try again."
    case .SQLITE_READONLY where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK: interruptedTransactionRecovery
    case .SQLITE_READONLY: "Change its permissions, or open the store for reading."
    case .SQLITE_CANTOPEN:
      .custom(
        "Look at the permissions of the file and its folder. If the folder cannot be written, a store can be opened for "
          + "reading only; if a file -wal lies beside it, copy both to where they can be written, and open the copy."
      )
    default: nil
    }
  }

  private static func ioCode(_ error: DatabaseError) -> PersistenceError.Code {
    switch error.extendedResultCode {
    case .SQLITE_IOERR_WRITE, .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC, .SQLITE_IOERR_TRUNCATE,
      .SQLITE_IOERR_DELETE:
      .fileWriteFailed
    default: .fileReadFailed
    }
  }
}
