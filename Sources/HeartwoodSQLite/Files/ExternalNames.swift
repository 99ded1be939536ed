import GRDB

/// Finds which files with large binary data the rows of a database lead to.
enum ExternalNames {
  /// The mark, a UUID as text, and a NUL, which some may leave out.
  static let cellLengths = 37...38
  private static let uuidLength = 36

  /// All names, of whatever table and column: a model may not know all of them. O(rows), of which only the heads are read.
  static func all(in db: Database) throws -> Set<String> {
    let tables = try FileCatalog(db).tables.values
    return try all(
      in: tables.flatMap { table in
        table.columns.values.filter { $0.type == SQLiteColumnType.blob.rawValue }.map { (table.name, $0.name) }
      },
      db
    )
  }

  /// The same of tables that are known, or of views that stand for them.
  static func all(of tables: [SQLiteTable], in db: Database) throws -> Set<String> {
    try all(
      in: tables.flatMap { table in table.columns.filter { $0.type == .blob }.map { (table.name, $0.name) } },
      db
    )
  }

  private static func all(in columns: [(table: String, name: String)], _ db: Database) throws -> Set<String> {
    try columns.reduce(into: Set<String>()) { names, column in
      let query = selection(SQLiteName.quoted(column.name), SQLiteName.quoted(column.table))
      names.formUnion(try String.fetchSet(db, sql: query))
    }
  }

  /// The name in a column of one row, or nil where there is none.
  static func name(in column: String, ofRow key: Int64, of table: String, _ db: Database) throws -> String? {
    let query = selection(SQLiteName.quoted(column), SQLiteName.quoted(table)) + " AND Z_PK = ?"
    return try String.fetchOne(try db.cachedStatement(sql: query), arguments: [key])
  }

  private static func selection(_ column: String, _ table: String) -> String {
    "SELECT CAST(substr(\(column), 2, \(uuidLength)) AS TEXT) FROM \(table)"
      + " WHERE length(\(column)) BETWEEN \(cellLengths.lowerBound) AND \(cellLengths.upperBound)"
      + " AND typeof(\(column)) = 'blob' AND hex(substr(\(column), 1, 1)) = '02'"
  }
}
