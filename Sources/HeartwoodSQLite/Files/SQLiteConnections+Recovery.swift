import GRDB
import HeartwoodStore

extension SQLiteConnections {
  /// Calls `open`, which opens the file for reading. Where a process that died has left a transaction half done, who only reads cannot undo
  /// that: then one who writes lets SQLite do it, whose locks tell whether the process is really gone, and the file is opened again.
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
    // What else the application sets is for a store that is open for writing.
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
  /// Whether a file was not read because a process that died has left a transaction half done.
  static func isOfInterruptedTransaction(_ error: PersistenceError) -> Bool {
    (error.underlyingError as? DatabaseError)?.extendedResultCode == .SQLITE_READONLY_ROLLBACK
  }

  /// What is said of such a file where the transaction cannot be undone.
  static let interruptedTransaction =
    "A process that died has left a transaction half done. Before the file can be read it must be undone, from the file -journal beside it."
  static let interruptedTransactionRecovery: PersistenceError.Recovery = .custom(
    "Opening the store again does that if both files and their folder can be written. If they cannot, copy both to where "
      + "they can."
  )

  /// What it means that such a transaction cannot be undone.
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
