import GRDB

/// The indexes of an empty table, taken away while it is filled with many rows, and made of all rows at once: that is quicker than to keep
/// them up row by row, and the more so the less the rows are in their order.
struct DeferredIndexes {
  /// With fewer rows it is not worth it.
  private static let leastRowCount = 1 << 14

  /// The statements that make them.
  private let statements: [String]

  /// Takes away the indexes of a table that gets `rowCount` rows, where it has none yet. The caller has begun a transaction.
  init(of table: String, for rowCount: Int, _ db: Database) throws {
    guard rowCount >= Self.leastRowCount, try Self.isEmpty(table, db) else {
      statements = []
      return
    }
    // What SQLite has made for itself, to keep a column unique, has no statement.
    let query = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
    let indexes = try Row.fetchAll(db, sql: query, arguments: [table]).compactMap { row in
      // In a file that somebody has tampered with, either may be no text.
      String.fromDatabaseValue(row[0]).flatMap { name in String.fromDatabaseValue(row[1]).map { (name, $0) } }
    }
    for (name, _) in indexes { try db.execute(sql: "DROP INDEX \(SQLiteName.quoted(name))") }
    statements = indexes.map(\.1)
  }

  private static func isEmpty(_ table: String, _ db: Database) throws -> Bool {
    try Row.fetchOne(db, sql: "SELECT 1 FROM \(SQLiteName.quoted(table)) LIMIT 1") == nil
  }

  /// Makes the indexes again.
  func restore(_ db: Database) throws {
    for statement in statements { try db.execute(sql: statement) }
  }
}
