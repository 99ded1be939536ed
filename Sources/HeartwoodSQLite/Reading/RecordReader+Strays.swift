import GRDB
import GRDBSQLite
import HeartwoodStore

extension RecordReader {
  /// Refuses what reading all rows by their keys would pass over: rows of no entity, rows whose key is no number, and links whose owner is no
  /// key. Indexes find them, so it takes O(log n) for a table as Core Data makes it.
  func checkStrays(_ db: Database) throws {
    try forEachStray(db, strays.query) { throw error($0, 0, ordinal: $1) }
  }

  /// Calls `body` with the faults of such rows, and the ordinal of the relationship to many that they are of, if they are links.
  ///
  /// - Parameter query: finds the keys of rows of no entity.
  func forEachStray(
    _ db: Database,
    _ query: String?,
    _ body: (ValueFault, _ ordinal: Int?) throws -> Void
  ) throws {
    let table = placement.tableName
    if let query {
      try forEachRow(of: query, db) { row in
        try body(strays.fault.at(.init(table: table, key: sqlite3_column_int64(row, 0))), nil)
      }
    }
    try forEachRow(of: "SELECT Z_PK FROM \(SQLiteName.quoted(table)) WHERE Z_PK >= ''", db) { row in
      let fault = ValueFault(found: sqlite3_column_type(row, 0), insteadOf: "its key (Z_PK)")
      try body(fault.at(.init(table: table, key: nil)), nil)
    }
    for (ordinal, query) in toManies {
      guard let text = query.strays else { continue }
      try forEachRow(of: text, db) { row in
        let isOfPairs = sqlite3_column_type(row, 0) == SQLITE_NULL
        let member = isOfPairs ? nil : sqlite3_column_int64(row, 0)
        try body(query.located(.key(found: sqlite3_column_type(row, 1)), member: member), ordinal)
      }
    }
  }

  private func forEachRow(of query: String, _ db: Database, _ body: (SQLiteStatement) throws -> Void) throws {
    let statement = try db.cachedStatement(sql: query)
    statement.end()
    defer { statement.end() }
    while try statement.nextRow() { try body(statement.sqliteStatement) }
  }
}
