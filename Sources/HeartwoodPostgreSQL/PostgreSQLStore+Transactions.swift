import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore
import Synchronization

// MARK: Connections

extension PostgreSQLStore {
  /// Calls `body` with the connection, in the transaction that is under way or outside of one. A connection that was lost is made again, and
  /// `body` called again, unless a transaction was lost with it.
  func withConnection<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
    try withPersistenceErrors {
      if let connection = state.withLock({ $0.transaction == nil ? nil : $0.connection }) {
        return try body(connection)
      }
      return try connectingAgain { try body(try openConnection()) }
    }
  }

  /// The connection, which is made if there is none that can be used.
  private func openConnection() throws -> PostgreSQLConnection {
    if let connection = state.withLock({ $0.connection }), !connection.isLost { return connection }
    let connection = try PostgreSQLConnection(location, options: options)
    state.withLock { $0.connection = connection }
    return connection
  }

  private func dropConnection() {
    state.withLock { state in
      state.connection = nil
      state.transaction = nil
    }
  }

  /// Calls `body`, and once more if the connection was lost meanwhile.
  private func connectingAgain<Value>(_ body: () throws -> Value) throws -> Value {
    let hadConnection = state.withLock { $0.connection != nil }
    do {
      return try body()
    } catch let error where hadConnection && error.tellsOfLostConnection {
      dropConnection()
      return try body()
    }
  }

  /// Calls `body`, and lets errors of the server be Heartwood's.
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

  /// Ends a transaction without its changes. A connection that cannot do so is closed, and the server ends the transaction then.
  func rollBack(_ connection: PostgreSQLConnection) {
    if connection.isIdle { return }
    do {
      try connection.execute("ROLLBACK")
    } catch {
      dropConnection()
    }
  }
}

/// Rows that were to be saved have another version, or are gone: another client has changed them.
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
  /// Whether another client was faster, so that the same may succeed if it is tried again.
  fileprivate var tellsOfLostRace: Bool {
    if self is SavedOver { return true }
    return ["40001", "40P01"].contains(serverError?.sqlState)
  }

  /// Whether a constraint of the database does not hold: it may be others' records that nobody has read yet.
  fileprivate var mayBeOfLostRace: Bool { ["23505", "23503"].contains(serverError?.sqlState) }

  private var serverError: PostgreSQLError? {
    self as? PostgreSQLError ?? (self as? PersistenceError)?.underlyingError as? PostgreSQLError
  }

  /// Whether it is the loss of a connection, also if that is the cause of another error.
  fileprivate var tellsOfLostConnection: Bool {
    serverError?.isOfConnection ?? false
  }
}

// MARK: Transactions

extension PostgreSQLStore {
  /// A transaction that is under way.
  struct Transaction: Sendable {
    /// The mark of the store that it sees.
    let mark: UInt64
    /// What is written when it is committed; nil if it reads only.
    var commit: Commit?
    /// Whether something was written.
    var hasWritten = false
  }

  /// What a transaction that writes leaves beside the records.
  struct Commit: Sendable {
    /// What stands in the store's slot from then on.
    let stamp: Int64
    /// The mark of the store with it. Those who save meanwhile have slots of their own, and what they leave there is another mark.
    let mark: UInt64
    /// The number by which the server knows whether it was committed; nil if it has told none.
    let number: Int64?
  }

  /// The number that the last save has put beside the records.
  func dataVersion() throws -> UInt64 {
    if let transaction = state.withLock({ $0.transaction }) {
      if transaction.hasWritten, let commit = transaction.commit { return commit.mark }
      return transaction.mark
    }
    return try withConnection { connection in
      var stamps: [Int64] = []
      try connection.run("SELECT stamp FROM \(markTable)").forEachRow { row in
        stamps.append(try row.required(0, row.bigint))
      }
      return Self.mark(stamps)
    }
  }

  private var markTable: String { schema.qualified(PostgreSQLSchema.markTable) }

  /// The mark that stamps make together: another one after any of them has changed, in whatever order those who did so came.
  private static func mark(_ stamps: [Int64]) -> UInt64 { UInt64(bitPattern: stamps.reduce(0, ^)) }

  /// Reads in one transaction, which sees the database as it is at one moment.
  func reading<Result>(_ body: () throws -> Result) throws -> Result {
    if state.withLock({ $0.transaction != nil }) { return try body() }
    return try withPersistenceErrors {
      try connectingAgain {
        let connection = try openConnection()
        let begin =
          "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SELECT slot, stamp FROM \(markTable)"
        do {
          let stamps = try Self.stamps(try connection.execute(begin))
          let transaction = Transaction(mark: Self.mark(Array(stamps.values)))
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

  /// The stamps in a result in text, by their slots.
  private static func stamps(_ result: PostgreSQLResult) throws -> [Int64: Int64] {
    var stamps: [Int64: Int64] = [:]
    try result.forEachRow { row in
      guard let slot = try row.text(0).flatMap({ Int64($0) }),
        let stamp = try row.text(1).flatMap({ Int64($0) })
      else {
        throw FieldFault("of the table \(PostgreSQLSchema.markTable) holds no number")
      }
      stamps[slot] = stamp
    }
    return stamps
  }

  private func within<Value>(_ transaction: Transaction, _ body: () throws -> Value) throws -> Value {
    state.withLock { $0.transaction = transaction }
    defer { state.withLock { $0.transaction = nil } }
    return try body()
  }

  /// Calls `body`, which writes within the transaction that is under way.
  func writing<Value>(_ body: (PostgreSQLConnection) throws -> Value) throws -> Value {
    try withConnection { connection in
      state.withLock { $0.transaction?.hasWritten = true }
      return try body(connection)
    }
  }
}

// MARK: Saving

extension PostgreSQLStore {
  /// Saves in one transaction, which sees the database as it is at one moment. Others may save meanwhile.
  ///
  /// If others have changed rows that are to be saved, or that must be as they were, the transaction is undone, and `body` is called again: it reads
  /// what has changed then, and finds the conflicts. What the server refuses since others have saved, such as values that must be unique, is tried
  /// once more too.
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

  /// How often a save is tried, and how many microseconds lie between the first two attempts at most: later ones wait longer.
  private static let (greatestAttempts, leastPause) = (10, 1_000)

  private func savingOnce<Result>(_ body: () throws -> Result) throws -> Result {
    // Before the transaction has begun, a lost connection costs nothing.
    let (connection, transaction) = try connectingAgain { try beginSaving() }
    let result: Result
    let hasWritten: Bool
    do {
      (result, hasWritten) = try within(transaction) {
        let result = try body()
        return (result, state.withLock { $0.transaction?.hasWritten ?? false })
      }
    } catch {
      rollBack(connection)
      throw error
    }
    try commit(transaction, hasWritten: hasWritten, connection)
    return result
  }

  private func beginSaving() throws -> (PostgreSQLConnection, Transaction) {
    let connection = try openConnection()
    let begin =
      "BEGIN ISOLATION LEVEL REPEATABLE READ, READ WRITE; "
      + "SELECT slot, stamp, pg_current_xact_id()::text FROM \(markTable)"
    do {
      let result = try connection.execute(begin)
      var stamps = try Self.stamps(result)
      let number = try result.first { row in try row.text(2).flatMap { Int64($0) } }
      var transaction = Transaction(mark: Self.mark(Array(stamps.values)))
      let stamp = Int64.random(in: .min ... .max)
      stamps[slot] = stamp
      transaction.commit = Commit(
        stamp: stamp,
        mark: Self.mark(Array(stamps.values)),
        number: number ?? nil
      )
      return (connection, transaction)
    } catch {
      rollBack(connection)
      throw error
    }
  }

  private func commit(
    _ transaction: Transaction,
    hasWritten: Bool,
    _ connection: PostgreSQLConnection
  ) throws {
    guard hasWritten, let commit = transaction.commit else {
      try connection.execute("COMMIT")
      return
    }
    do {
      try connection.execute(
        """
        INSERT INTO \(markTable) AS m (slot, saves, stamp) VALUES (\(slot), 1, \(commit.stamp)) ON CONFLICT (slot) \
        DO UPDATE SET saves = m.saves + 1, stamp = excluded.stamp, saved_at = now(); COMMIT
        """
      )
    } catch let error as PostgreSQLError where error.isOfConnection {
      try settle(commit, error)
    } catch {
      rollBack(connection)
      throw error
    }
  }

  /// How often and at what intervals a server is asked what became of a transaction that may still be under way.
  private static let (lookCount, lookInterval) = (50, 100_000)

  /// Finds out what became of a transaction whose connection was lost when it was to be committed.
  ///
  /// - Throws: the error if the transaction was not committed. If it cannot be found out, that is said.
  private func settle(_ commit: Commit, _ error: PostgreSQLError) throws {
    guard let number = commit.number else { throw error }
    for look in 0..<Self.lookCount {
      if look > 0 { Waiting.sleep(microseconds: Self.lookInterval) }
      dropConnection()
      guard let outcome = outcome(ofTransaction: number) else { continue }
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

  /// Whether a transaction was committed; nil if it is under way, or the server cannot be asked.
  private func outcome(ofTransaction number: Int64) -> Bool? {
    do {
      let connection = try openConnection()
      let status = try connection.runOnce(
        "SELECT pg_xact_status($1::text::xid8)",
        [.text("\(number)")]
      )
      .first { row in try row.text(0) }
      switch status ?? nil {
      case "committed"?: return true
      case "aborted"?: return false
      default: return nil
      }
    } catch let error as PostgreSQLError where error.sqlState == "22023" {
      // The server has not come so far: it is another one, to which the transaction was not brought.
      return false
    } catch {
      return nil
    }
  }
}
