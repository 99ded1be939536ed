import HeartwoodFoundation
import HeartwoodStore
import Synchronization

// A history is in tables of the schema, which other programs can read too.

extension PostgreSQLStore: HistoryKeepingStore {
  private var historyTables: HistoryTables { HistoryTables(schema) }

  /// Returns the range of the transactions in the tables; nil if no history is kept.
  func historyExtent() throws -> HistoryExtent? {
    if let read = state.withLock({ $0.transaction?.history }) { return read.extent }
    return try withConnection { connection in try historyTables.extent(connection) }
  }

  /// Calls `body`, which changes the history, so that its range has to be read again.
  private func changingHistory<Value>(_ body: () throws -> Value) throws -> Value {
    state.withLock { $0.transaction?.history = nil }
    return try body()
  }

  /// Begins a history, whose first transaction gets the number after `number`.
  func beginHistory(after number: Int64) throws {
    try changingHistory { try withConnection { try historyTables.begin(after: number, $0) } }
  }

  /// Adds a row for the transaction, and one row for all records of an entity that changed in the same way.
  func record(_ transaction: RecordedTransaction) throws -> Int64 {
    try changingHistory {
      try writing { try historyTables.write(transaction, place: location.text, $0) }
    }
  }

  /// Reads the transactions after a number.
  func transactions(after number: Int64) throws -> [RecordedTransaction] {
    try withConnection { connection in try historyTables.transactions(after: number, connection) }
  }

  /// Reads the first transactions after a number.
  func transactions(after number: Int64, limit: Int) throws -> [RecordedTransaction] {
    try withConnection { connection in try historyTables.transactions(after: number, limit: limit, connection) }
  }

  /// Counts the transactions after a number.
  func transactionCount(after number: Int64) throws -> Int {
    try withConnection { connection in try historyTables.count(after: number, connection) }
  }

  /// Finds the first transaction that was saved at the date or later.
  func lastTransactionNumber(before date: Date) throws -> Int64 {
    try withConnection { connection in
      guard let extent = try historyTables.extent(connection) else { return 0 }
      let found = try historyTables.lastNumber(before: date, connection)
      return found.first == nil ? extent.lastNumber : found.before ?? extent.purgedNumber
    }
  }

  /// Deletes the rows of transactions. The mark stays the same, because no record has changed.
  func deleteHistory(through number: Int64) throws {
    try changingHistory { try withConnection { try historyTables.delete(through: number, $0) } }
  }
}
