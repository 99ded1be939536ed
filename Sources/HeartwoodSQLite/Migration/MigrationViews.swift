import GRDB
import GRDBSQLite
import HeartwoodStore

/// The tables of the new file as views on those of the old one, so that it can be asked what a migration would make before it is made.
struct MigrationViews {
  private let translation: MigrationTranslation

  init(_ translation: MigrationTranslation) {
    self.translation = translation
  }

  func create(in db: Database) throws {
    for table in translation.new.tables {
      let columns = table.columns.map { SQLiteName.quoted($0.name) }.joined(separator: ", ")
      try db.execute(
        sql: "CREATE TEMP VIEW \(SQLiteName.quoted(table.name)) (\(columns)) AS \(try selection(table, db))"
      )
    }
  }

  private func selection(_ table: SQLiteTable, _ db: Database) throws -> String {
    let parts = table.compoundKey.isEmpty ? records(of: table) : pairs(of: table)
    guard !parts.isEmpty else {
      return "SELECT \(table.columns.map { _ in "NULL" }.joined(separator: ", ")) WHERE 0"
    }
    return try parts.map { try Self.literal($0, db) }.joined(separator: " UNION ALL ")
  }

  private func records(of table: SQLiteTable) -> [SQLFragment] {
    translation.entities.filter { $0.destination.tableName == table.name }.map { entity in
      let narrowings = translation.narrowings.filter { $0.destination.number == entity.destination.number }
      let cells =
        entity.cells + narrowings.map { (name: $0.column, value: SQLFragment($0.member(of: "record.Z_PK"))) }
      return Self.selection(
        cells,
        table,
        from: "\(SQLFragment.old(entity.source.tableName)) AS record WHERE \(entity.condition)"
      )
    }
  }

  private func pairs(of table: SQLiteTable) -> [SQLFragment] {
    translation.joins.filter { $0.place.table == table.name }.map { join in
      Self.selection(join.cells.map { (name: $0.name, value: SQLFragment($0.value)) }, table, from: join.rows)
    }
  }

  /// All columns of a table in their order; nothing in those that get nothing.
  private static func selection(
    _ cells: [(name: String, value: SQLFragment)],
    _ table: SQLiteTable,
    from rows: String
  ) -> SQLFragment {
    let values = table.columns.map { column -> SQLFragment in
      guard let value = cells.first(where: { $0.name == column.name })?.value else { return SQLFragment("NULL") }
      // A column of reals makes reals of integers, and some of those the same.
      return column.type == .float ? SQLFragment("CAST(\(value.text) AS REAL)", value.arguments) : value
    }
    return SQLFragment("SELECT \(values.map(\.text).joined(separator: ", ")) FROM \(rows)", values.flatMap(\.arguments))
  }

  /// A statement with its values in the places of its question marks: a view has no others.
  private static func literal(_ fragment: SQLFragment, _ db: Database) throws -> String {
    if fragment.arguments.isEmpty { return fragment.text }
    let statement = try db.makeStatement(sql: fragment.text)
    try statement.setArguments(StatementArguments(fragment.arguments))
    guard let text = sqlite3_expanded_sql(statement.sqliteStatement) else {
      throw MigrationObstacle("a default value is too long for a statement")
    }
    defer { sqlite3_free(text) }
    return String(cString: text)
  }
}
