import GRDB
public import HeartwoodFoundation
import HeartwoodModel
public import HeartwoodStore
import Synchronization

// A file's history is in Core Data's own tables, so that applications of both frameworks can follow it.

extension SQLiteStore: HistoryKeepingStore {
  /// Returns the range of the transactions; nil for a file without the tables, and for one whose tables have an unknown
  /// form.
  public func historyExtent() throws -> HistoryExtent? {
    try withDatabase { db in
      guard let tables = try historyTables(db) else { return nil }
      let query =
        "SELECT (SELECT min(Z_PK) FROM ATRANSACTION), (SELECT max(Z_PK) FROM ATRANSACTION), "
        + "(SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?)"
      let row = try Row.fetchOne(db.cachedStatement(sql: query), arguments: [tables.transactionNumber])
      let numbers = (0..<3).map { index in row.flatMap { Int64.fromDatabaseValue($0[index]) } }
      let last = max(numbers[1] ?? 0, numbers[2] ?? 0, 0)
      return HistoryExtent(purgedNumber: numbers[0].map { max(0, $0 - 1) } ?? last, lastNumber: last)
    }
  }

  /// Creates the tables, in the newest known form.
  public func beginHistory(after number: Int64) throws {
    try withDatabase { db in
      if let tables = try historyTables(db) {
        try db.execute(
          sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = max(Z_MAX, ?) WHERE Z_ENT = ?",
          arguments: [number, tables.transactionNumber]
        )
        return
      }
      if case .unknown(let reason) = try schema(db).history { throw unknownHistory(reason) }
      try HistoryTables.create(in: db, entities: setup.entities, after: number)
      connection.withLock {
        $0?.schema = nil
        $0?.hasBegunHistory = true
      }
    }
  }

  /// Adds a row for the transaction, and one for each change.
  public func record(_ transaction: RecordedTransaction) throws -> Int64 {
    try withDatabase { db in
      guard let tables = try historyTables(db) else { throw unknownHistory("the tables are not there") }
      return try HistoryWriter(tables: tables, schema: try schema(db), path: path, db: db).write(transaction)
    }
  }

  /// Reads the transactions after a number, whether Heartwood or Core Data wrote them.
  public func transactions(after number: Int64) throws -> [RecordedTransaction] {
    try transactions(after: number, limit: .max)
  }

  /// Reads the first transactions after a number, whether Heartwood or Core Data wrote them.
  public func transactions(after number: Int64, limit: Int) throws -> [RecordedTransaction] {
    try withDatabase { db in
      guard let tables = try historyTables(db) else { return [] }
      let rows = HistoryRows(tables: tables, schema: try schema(db), path: path, db: db)
      return try rows.transactions(after: number, limit: limit)
    }
  }

  /// Counts the transactions after a number.
  public func transactionCount(after number: Int64) throws -> Int {
    try withDatabase { db in
      guard try historyTables(db) != nil else { return 0 }
      let query = "SELECT count(*) FROM ATRANSACTION WHERE Z_PK > ?"
      return try Int.fetchOne(db.cachedStatement(sql: query), arguments: [number]) ?? 0
    }
  }

  /// Finds the first transaction that was saved at the date or later.
  public func lastTransactionNumber(before date: Date) throws -> Int64 {
    let extent = try historyExtent() ?? HistoryExtent(purgedNumber: 0, lastNumber: 0)
    return try withDatabase { db in
      guard try historyTables(db) != nil else { return 0 }
      let query = "SELECT min(Z_PK) FROM ATRANSACTION WHERE ZTIMESTAMP >= ?"
      let first = try Int64.fetchOne(
        db.cachedStatement(sql: query),
        arguments: [date.timeIntervalSinceReferenceDate]
      )
      return first.map { $0 - 1 } ?? extent.lastNumber
    }
  }

  /// Deletes the rows of transactions. Texts that only these rows used stay, as Core Data leaves them.
  public func deleteHistory(through number: Int64) throws {
    try withDatabase { db in
      guard let tables = try historyTables(db) else { return }
      // No number is used again after its row is deleted.
      try db.execute(
        sql:
          "UPDATE Z_PRIMARYKEY SET Z_MAX = max(Z_MAX, ifnull((SELECT max(Z_PK) FROM ATRANSACTION), 0)) WHERE Z_ENT = ?",
        arguments: [tables.transactionNumber]
      )
      try db.execute(sql: "DELETE FROM ACHANGE WHERE ZTRANSACTIONID <= ?", arguments: [number])
      try db.execute(sql: "DELETE FROM ATRANSACTION WHERE Z_PK <= ?", arguments: [number])
    }
  }

  private func unknownHistory(_ reason: String) -> PersistenceError {
    PersistenceError(
      .storeReadOnly,
      "The file has tables of a history in a form that no known file has: \(reason).",
      recovery: "Open it without the option tracksPersistentHistory, or convert it to another file.",
      context: .init(path: path, storeType: .sqlite)
    )
  }

  /// Returns the history tables that the current transaction sees. Another process may have created them since the file
  /// was opened.
  func historyTables(_ db: Database) throws -> HistoryTables? {
    guard try HistoryTables.exist(in: db) else { return nil }
    if case .none = try schema(db).history { connection.withLock { $0?.schema = nil } }
    return try schema(db).history.tables
  }
}
