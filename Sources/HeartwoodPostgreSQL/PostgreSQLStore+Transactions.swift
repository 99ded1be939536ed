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
      if let connection = state.withLock({ $0.transaction == nil ? nil : $0.connection }) {
        return try body(connection)
      }
      return try connectingAgain { try body(try openConnection()) }
    }
  }

  /// Returns the connection, and makes one if there is none that can be used.
  private func openConnection() throws -> PostgreSQLConnection {
    if let connection = state.withLock({ $0.connection }), !connection.isLost { return connection }
    let connection = try PostgreSQLConnection(location, options: options)
    // The connection may lead to another server, which has lost saves.
    state.withLock { ($0.connection, $0.marks) = (connection, KnownMarks()) }
    return connection
  }

  private func dropConnection() {
    state.withLock { state in
      state.connection = nil
      state.transaction = nil
    }
  }

  /// Calls `body`, and calls it once more if the connection was lost in the meantime.
  private func connectingAgain<Value>(_ body: () throws -> Value) throws -> Value {
    let hadConnection = state.withLock { $0.connection != nil }
    do {
      return try body()
    } catch let error where hadConnection && error.tellsOfLostConnection {
      dropConnection()
      return try body()
    }
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

  /// Rolls back the transaction. If the connection cannot do so, it is closed, and the server then ends the
  /// transaction.
  func rollBack(_ connection: PostgreSQLConnection) {
    if connection.isIdle { return }
    do {
      try connection.execute("ROLLBACK")
    } catch {
      dropConnection()
    }
  }
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

  private var serverError: PostgreSQLError? {
    self as? PostgreSQLError ?? (self as? PersistenceError)?.underlyingError as? PostgreSQLError
  }

  /// Whether a connection was lost, also if that is the cause of another error.
  var tellsOfLostConnection: Bool {
    serverError?.isOfConnection ?? false
  }
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
    /// The number by which the server knows whether the transaction was committed; nil if it did not report one.
    let number: Int64?
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
      try connectingAgain {
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
  func saving<Result>(_ body: () throws -> Result) throws -> Result {
    try withPersistenceErrors {
      var attempt = 1
      while true {
        do {
          return try savingOnce(body)
        } catch let error where error.tellsOfLostRace || attempt == 1 && error.mayBeOfLostRace {
          if attempt == Self.greatestAttempts {
            throw (error as? SavedOver)?.error(at: location.text) ?? error
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
    let (connection, transaction) = try connectingAgain { try beginSaving() }
    let result: Result
    let done: Transaction
    do {
      (result, done) = try within(transaction) {
        let result = try body()
        return (result, state.withLock { $0.transaction } ?? transaction)
      }
    } catch {
      rollBack(connection)
      throw error
    }
    try commit(done, connection)
    return result
  }

  private func beginSaving() throws -> (PostgreSQLConnection, Transaction) {
    let connection = try openConnection()
    let begin =
      "BEGIN ISOLATION LEVEL REPEATABLE READ, READ WRITE; "
      + "SELECT \(StoreMarks.columns), pg_current_xact_id()::text FROM \(markTable)"
    do {
      let result = try connection.execute(begin)
      var marks = try StoreMarks(result, PostgreSQLRow.textNumber)
      let number = try result.first { row in try row.textNumber(3) }
      var transaction = Transaction(marks: marks)
      let stamp = Int64.random(in: .min ... .max)
      // The slot may have been folded since the last save, but its numbers go on.
      let save = max(state.withLock { $0.saveCount }, marks.saves[slot] ?? 0) + 1
      marks.set(slot, saves: save, stamp: stamp)
      transaction.commit = Commit(stamp: stamp, save: save, marks: marks, number: number ?? nil)
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
    let log = transaction.logged.statements(slot: slot, save: commit.save, in: schema)
    do {
      try connection.execute(
        """
        \(log)INSERT INTO \(markTable) AS m (slot, saves, stamp) VALUES (\(slot), \(commit.save), \(commit.stamp)) \
        ON CONFLICT (slot) DO UPDATE SET saves = excluded.saves, stamp = excluded.stamp, saved_at = now(); COMMIT
        """
      )
    } catch let error as PostgreSQLError where error.isOfConnection {
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

  /// How often, and at what interval in microseconds, the server is asked for the outcome of a transaction that may
  /// still be in progress.
  private static let (lookCount, lookInterval) = (50, 100_000)

  /// Finds out the outcome of a transaction whose connection was lost during the commit.
  ///
  /// - Throws: the error if the transaction was not committed, or an error that says that the outcome is unknown.
  private func settle(_ commit: Commit, _ error: PostgreSQLError) throws {
    guard let number = commit.number else { throw error }
    for look in 0..<Self.lookCount {
      if look > 0 { Waiting.sleep(microseconds: Self.lookInterval) }
      dropConnection()
      guard let outcome = outcome(of: commit, number) else { continue }
      if outcome { return }
      throw error
    }
    throw PersistenceError(
      .fileWriteFailed,
      "The connection was lost when the save was to be committed, and the server could not be asked whether it was. "
        + "Nobody knows whether it was done.",
      recovery: "Read the records again.",
      context: .init(path: location.text, storeType: .postgreSQL),
      underlyingError: error
    )
  }

  /// Returns whether a transaction was committed; nil if it is in progress, or if the server cannot be asked.
  ///
  /// After a crash, the server may give the number to another transaction, so the mark of the save must be there, too.
  private func outcome(of commit: Commit, _ number: Int64) -> Bool? {
    do {
      let connection = try openConnection()
      let query = """
        SELECT pg_xact_status($1::text::xid8), EXISTS (SELECT 1 FROM \(markTable) WHERE slot = $2 AND stamp = $3)
        """
      let found = try connection.runOnce(query, [.text("\(number)"), .bigint(slot), .bigint(commit.stamp)]).first {
        row in
        (status: try row.text(0), hasMark: try row.boolean(1) ?? false)
      }
      switch found?.status {
      case "committed"?: return found?.hasMark ?? false
      case "aborted"?: return false
      default: return nil
      }
    } catch let error as PostgreSQLError where error.sqlState == "22023" {
      // The server has not reached this number: it is another server, to which the transaction was not replicated.
      return false
    } catch {
      return nil
    }
  }
}
