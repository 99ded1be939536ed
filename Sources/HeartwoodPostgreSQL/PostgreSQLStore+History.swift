import HeartwoodFoundation
import HeartwoodStore

// A history is in tables of the schema, which other programs read too.

extension PostgreSQLStore: HistoryKeepingStore {
  private var historyTables: HistoryTables { HistoryTables(schema) }

  /// Which transactions the tables have; nil if no history is kept.
  func historyExtent() throws -> HistoryExtent? {
    try withConnection { connection in try historyTables.extent(connection) }
  }

  /// Begins a history.
  func beginHistory(after number: Int64) throws {
    try withConnection { connection in try historyTables.begin(after: number, connection) }
  }

  /// Adds a row for the transaction, and one for all records of an entity to which the same was done.
  func record(_ transaction: RecordedTransaction) throws -> Int64 {
    try writing { connection in
      try historyTables.write(transaction, lockKey: historyLockKey, place: location.text, connection)
    }
  }

  /// Reads transactions.
  func transactions(after number: Int64) throws -> [RecordedTransaction] {
    try withConnection { connection in try historyTables.transactions(after: number, connection) }
  }

  /// Counts rows.
  func transactionCount(after number: Int64) throws -> Int {
    try withConnection { connection in try historyTables.count(after: number, connection) }
  }

  /// Looks for the first transaction that was saved at the date or later.
  func lastTransactionNumber(before date: Date) throws -> Int64 {
    try withConnection { connection in
      guard let extent = try historyTables.extent(connection) else { return 0 }
      let found = try historyTables.lastNumber(before: date, connection)
      return found.first == nil ? extent.lastNumber : found.before ?? extent.purgedNumber
    }
  }

  /// Deletes rows. The mark stays as it is: no record has changed.
  func deleteHistory(through number: Int64) throws {
    try withConnection { connection in try historyTables.delete(through: number, connection) }
  }

  /// A number for the lock of those who number transactions.
  private var historyLockKey: Int64 {
    Int64(bitPattern: PostgreSQLName.hash("heartwood/\(schema.name)/history"))
  }
}
