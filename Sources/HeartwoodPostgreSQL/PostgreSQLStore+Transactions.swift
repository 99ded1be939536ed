import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore
import Synchronization

// MARK: Connections

extension PostgreSQLStore {
  /// Calls `body` with the connection, in the current transaction or outside of one. If the connection was lost, it is
  /// made again and `body` is called again, unless a transaction was lost with it.
  func withConnection<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
    try withPersistenceErrors {
      if state.withLock({ $0.transaction != nil }), let connection = session.current { return try body(connection) }
      return try session.connectingAgain { try body(try openConnection()) }
    }
  }

  /// Returns the connection, and makes one if there is none that can be used.
  private func openConnection() throws -> PostgreSQLConnection {
    let (connection, isNew) = try session.connection()
    // The connection may lead to another server, which has lost saves.
    if isNew { state.withLock { $0.marks = KnownMarks() } }
    return connection
  }

  /// Calls `body`, and converts errors of the server to `PersistenceError`s.
  private func withPersistenceErrors<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch {
      throw persistenceError(error)
    }
  }

  func persistenceError(_ error: any Error, entity: String? = nil) -> any Error {
    Self.persistenceError(error, at: location, entity: entity)
  }

  static func persistenceError(
    _ error: any Error,
    at location: PostgreSQLLocation,
    entity: String? = nil
  ) -> any Error {
    switch error {
    case let error as PostgreSQLError:
      return error.persistenceError(at: location.text, entity: entity)
    case let error as FieldFault:
      return PersistenceError(
        .fileMalformed,
        "A column \(error.text).",
        context: .init(path: location.text, storeType: .postgreSQL, entity: entity)
      )
    case var error as PersistenceError:
      error.context.path = error.context.path ?? location.text
      error.context.storeType = error.context.storeType ?? .postgreSQL
      return error
    default: return error
    }
  }

  func rollBack(_ connection: PostgreSQLConnection) { session.rollBack(connection) }
}

/// Rows to be saved have another version, or are missing, because another client has changed them.
struct SavedOver: Error {
  let ids: [ManagedObjectID]

  func error(at place: String) -> PersistenceError {
    PersistenceError(
      .saveConflict,
      "Another client has changed or deleted rows of records that were to be saved. Nothing was saved.",
      recovery: "Read the records again.",
      context: .init(
        path: place,
        storeType: .postgreSQL,
        entity: ids.first?.entity.name,
        objectIDs: ids
      )
    )
  }
}

extension Error {
  /// Whether another client was faster, so that a second attempt may succeed.
  fileprivate var tellsOfLostRace: Bool {
    if self is SavedOver { return true }
    return ["40001", "40P01"].contains(serverError?.sqlState)
  }

  /// Whether a constraint of the database was violated, possibly by records of another client that were not read yet.
  fileprivate var mayBeOfLostRace: Bool { ["23505", "23503"].contains(serverError?.sqlState) }
}

// MARK: Transactions

extension PostgreSQLStore {
  /// A transaction in progress.
  struct Transaction: Sendable {
    /// The marks of the store in the state that the transaction sees.
    let marks: StoreMarks
    /// The data that is written at the commit; nil if the transaction only reads.
    var commit: Commit?
    /// Whether the transaction has written something.
    var hasWritten = false
    /// The records that the transaction has changed.
    var logged = LoggedChanges()
    /// The range of the history, which a save reads with the marks, until the transaction changes it.
    var history: ReadHistory?
  }

  /// The range of a history; nil if none is kept.
  struct ReadHistory: Sendable {
    let extent: HistoryExtent?
  }

  /// The data that a writing transaction leaves beside the records.
  struct Commit: Sendable {
    /// The value of the store's slot after the commit.
    let stamp: Int64
    /// The number of the save.
    let save: Int64
    /// The marks of the store after the commit. Concurrent saves use slots of their own, and their values give another
    /// mark.
    let marks: StoreMarks
  }

  /// Returns the mark that the saves so far have left beside the records.
  func dataVersion() throws -> UInt64 {
    if let transaction = state.withLock({ $0.transaction }) {
      if transaction.hasWritten, let commit = transaction.commit { return commit.marks.mark }
      return transaction.marks.mark
    }
    return try withConnection { connection in
      let marks = try StoreMarks(try connection.run("SELECT \(StoreMarks.columns) FROM \(markTable)"))
      state.withLock { $0.marks.note(marks) }
      return marks.mark
    }
  }

  private var markTable: String { schema.qualified(PostgreSQLSchema.markTable) }

  /// Reads in one transaction, which sees the database as it is at one moment.
  func reading<Result>(_ body: () throws -> Result) throws -> Result {
    if state.withLock({ $0.transaction != nil }) { return try body() }
    return try withPersistenceErrors {
      try session.connectingAgain {
        let connection = try openConnection()
        let begin =
          "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SELECT \(StoreMarks.columns) FROM \(markTable)"
        do {
          let transaction = Transaction(marks: try StoreMarks(try connection.execute(begin), PostgreSQLRow.textNumber))
          let result = try within(transaction, body)
          try connection.execute("COMMIT")
          return result
        } catch {
          rollBack(connection)
          throw error
        }
      }
    }
  }

  private func within<Value>(_ transaction: Transaction, _ body: () throws -> Value) throws -> Value {
    state.withLock { state in
      state.transaction = transaction
      state.marks.note(transaction.marks)
    }
    defer { state.withLock { $0.transaction = nil } }
    return try body()
  }

  /// Calls `body`, which notes records that the current transaction has changed.
  func logging(_ body: (inout LoggedChanges) throws -> Void) rethrows {
    var logged = state.withLock { $0.transaction?.logged } ?? LoggedChanges()
    try body(&logged)
    state.withLock { $0.transaction?.logged = logged }
  }

  /// Calls `body`, which writes within the current transaction.
  func writing<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
    try withConnection { connection in
      state.withLock { $0.transaction?.hasWritten = true }
      return try body(connection)
    }
  }
}

// MARK: Saving

extension PostgreSQLStore {
  /// Saves in one transaction, which sees the database as it is at one moment. Other clients may save at the same time.
  ///
  /// If others have changed rows that are to be saved, or that must not have changed, the transaction is rolled back
  /// and `body` is called again: it then reads the changes and finds the conflicts. If the server refuses something
  /// because of another save, such as values that must be unique, the save is also tried once more.
  ///
  /// If the connection is lost before the commit, nothing was saved, and the save is tried again on another connection,
  /// which may be to the server that has taken over.
  func saving<Result>(_ body: () throws -> Result) throws -> Result {
    try withPersistenceErrors {
      var attempt = 1
      while true {
        do {
          return try savingOnce(body)
        } catch let error where error.allowsAnotherAttempt(after: attempt) {
          if attempt == Self.greatestAttempts {
            throw (error as? SavedOver)?.error(at: location.text) ?? (error as? LostTransaction)?.cause ?? error
          }
          Waiting.sleep(microseconds: .random(in: 0...(Self.leastPause << attempt)))
          attempt += 1
        }
      }
    }
  }

  /// The maximum number of attempts of a save, and the maximum pause in microseconds between the first two: later
  /// pauses are longer.
  private static let (greatestAttempts, leastPause) = (10, 1_000)

  private func savingOnce<Result>(_ body: () throws -> Result) throws -> Result {
    // Before the transaction has begun, nothing is lost with a connection.
    let (connection, transaction) = try session.connectingAgain { try beginSaving() }
    let result: Result
    let done: Transaction
    do {
      (result, done) = try within(transaction) {
        let result = try body()
        return (result, state.withLock { $0.transaction } ?? transaction)
      }
    } catch {
      rollBack(connection)
      throw error.tellsOfLostConnection ? LostTransaction(cause: error) : error
    }
    try commit(done, connection)
    return result
  }

  private func beginSaving() throws -> (PostgreSQLConnection, Transaction) {
    let connection = try openConnection()
    let begin =
      "BEGIN ISOLATION LEVEL REPEATABLE READ, READ WRITE; "
      + "SELECT \(StoreMarks.columns), \(HistoryTables(schema).extentColumns) FROM \(markTable)"
    do {
      let result = try connection.execute(begin)
      var marks = try StoreMarks(result, PostgreSQLRow.textNumber)
      // There is always a slot, into which others are folded.
      let extent = try result.first { row in
        HistoryTables.extent(try row.textNumber(3), try row.textNumber(4))
      }
      var transaction = Transaction(marks: marks)
      let stamp = Int64.random(in: .min ... .max)
      // The slot may have been folded since the last save, but its numbers go on.
      let save = max(state.withLock { $0.saveCount }, marks.saves[slot] ?? 0) + 1
      marks.set(slot, saves: save, stamp: stamp)
      transaction.commit = Commit(stamp: stamp, save: save, marks: marks)
      transaction.history = extent.map { ReadHistory(extent: $0) }
      return (connection, transaction)
    } catch {
      rollBack(connection)
      throw error
    }
  }

  private func commit(_ transaction: Transaction, _ connection: PostgreSQLConnection) throws {
    guard transaction.hasWritten, let commit = transaction.commit else {
      try connection.execute("COMMIT")
      return
    }
    do {
      for (text, parameters) in transaction.logged.statements(slot: slot, save: commit.save, in: schema) {
        try connection.queue(text, parameters)
      }
      try connection.queue(
        """
        INSERT INTO \(markTable) AS m (slot, saves, stamp) VALUES ($1, $2, $3) \
        ON CONFLICT (slot) DO UPDATE SET saves = excluded.saves, stamp = excluded.stamp, saved_at = now()
        """,
        [.bigint(slot), .bigint(commit.save), .bigint(commit.stamp)]
      )
      try connection.runOnce("COMMIT")
    } catch let error where error.tellsOfLostConnection {
      try settle(commit, error)
    } catch {
      rollBack(connection)
      throw error
    }
    state.withLock { state in
      state.saveCount = commit.save
      state.marks.note(commit.marks)
    }
  }

  /// The time for which the server is asked for the outcome of a transaction, if it does not take longer to connect,
  /// and the interval in microseconds.
  private static let (settlingTime, lookInterval) = (Duration.seconds(5), 100_000)

  /// Finds out the outcome of a transaction whose connection was lost during the commit.
  ///
  /// - Throws: ``LostTransaction`` if the transaction was not committed, or an error that says that the outcome is
  ///   unknown.
  private func settle(_ commit: Commit, _ error: any Error) throws {
    let deadline = ContinuousClock.now + Self.settlingTime
    repeat {
      session.drop()
      if let isCommitted = isCommitted(commit) {
        if isCommitted { return }
        throw LostTransaction(cause: error)
      }
      Waiting.sleep(microseconds: Self.lookInterval)
    } while ContinuousClock.now < deadline
    throw PersistenceError(
      .fileWriteFailed,
      "The connection was lost when the save was to be committed, and the server could not be asked whether it was. "
        + "Nobody knows whether it was done.",
      recovery: "Read the records again.",
      context: .init(path: location.text, storeType: .postgreSQL),
      underlyingError: error
    )
  }

  /// Returns whether a transaction was committed; nil if the server cannot be asked.
  ///
  /// The statement writes the row of the slot, as the transaction does. If the transaction is in progress and has
  /// written the row, the statement waits for its end. If it has not, it can no longer be committed, because the row
  /// has changed since it began. So the answer is final, and it is right on a server that has lost the transaction.
  private func isCommitted(_ commit: Commit) -> Bool? {
    do {
      let stamp = try openConnection().runOnce(
        """
        INSERT INTO \(markTable) AS m (slot, saves, stamp) VALUES ($1, $2, 0) \
        ON CONFLICT (slot) DO UPDATE SET saved_at = now() RETURNING m.stamp
        """,
        [.bigint(slot), .bigint(commit.save - 1)]
      ).first { row in try row.bigint(0) }
      return stamp == commit.stamp
    } catch {
      return nil
    }
  }
}

/// A transaction was lost with its connection, and is not committed.
private struct LostTransaction: Error {
  let cause: any Error
}

extension Error {
  /// Whether a save may succeed if it is tried again.
  fileprivate func allowsAnotherAttempt(after attempt: Int) -> Bool {
    self is LostTransaction || tellsOfLostRace || attempt == 1 && mayBeOfLostRace
  }
}
