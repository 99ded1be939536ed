import GRDB
import GRDBSQLite
import HeartwoodModel
import HeartwoodStore

/// Runs a migration in SQL, in the transaction that creates the new file.
struct MigrationStatements {
  private let translation: MigrationTranslation
  private let migration: InStoreMigration
  private let history: HistoryCopy
  private let db: Database

  /// - Throws: ``MigrationObstacle`` if records prevent the migration, or are invalid.
  static func run(
    _ translation: MigrationTranslation,
    _ migration: InStoreMigration,
    _ history: HistoryCopy,
    _ db: Database
  ) throws -> MigrationSurvey.Result {
    do {
      return try MigrationStatements(translation: translation, migration: migration, history: history, db: db).run()
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
      throw MigrationObstacle.repeatedValues
    }
  }

  private func run() throws -> MigrationSurvey.Result {
    let new = translation.new
    var survey = MigrationSurvey(translation, migration, db)
    try survey.countLosses()
    try survey.checkLosses()
    try new.createTables(in: db)
    try survey.countRows(insert)
    for join in translation.joins { try execute(join.insertion) }
    for narrowing in translation.narrowings {
      try survey.check(narrowing)
      try execute(narrowing.update)
    }
    for order in translation.orders { try execute(order.update) }
    try new.createIndexesAndTriggers(in: db)
    try survey.checkRequiredValues()
    try raiseKeys()
    try history.run(db)
    try SQLiteMetadata(migration.metadata).write(to: db, model: new.model)
    try SQLiteModelCache.write(new.model, to: db)
    return try survey.result()
  }

  private func execute(_ text: String) throws {
    try migration.progress.check()
    try db.execute(sql: text)
  }

  private func insert(_ entity: EntityTranslation, _ range: ClosedRange<Int64>) throws {
    let insertion = entity.insertion
    let arguments = insertion.arguments + [range.lowerBound, range.upperBound]
    try db.cachedStatement(sql: insertion.text).execute(arguments: StatementArguments(arguments))
  }

  /// Raises the key counters, so that no key of an earlier record is used again.
  private func raiseKeys() throws {
    for entity in translation.entities {
      let former =
        "SELECT Z_MAX FROM \(SQLFragment.old(SQLiteName.primaryKeyTable)) WHERE Z_ENT = \(entity.source.rootNumber)"
      let present = "SELECT max(Z_PK) FROM \(SQLFragment.new(entity.destination.tableName))"
      try execute(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = max(Z_MAX, ifnull((\(former)), 0), ifnull((\(present)), 0)) "
          + "WHERE Z_ENT = \(entity.destination.rootNumber)"
      )
    }
  }
}

// MARK: MigrationViews

/// Views on the old tables with the names of the new ones, so that the result of a migration can be queried before it
/// is made.
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
    return Self.union(try parts.map { try Self.literal($0, db) })
  }

  /// Joins the rows of several statements. SQLite accepts at most 500 of them side by side.
  private static func union(_ parts: [String]) -> String {
    let most = 400
    guard parts.count > most else { return parts.joined(separator: " UNION ALL ") }
    return union(
      stride(from: 0, to: parts.count, by: most).map { start in
        "SELECT * FROM (\(parts[start..<min(start + most, parts.count)].joined(separator: " UNION ALL ")))"
      }
    )
  }

  private func records(of table: SQLiteTable) -> [SQLFragment] {
    entities(of: table.name).map { entity in
      let narrowings = translation.narrowings.filter { $0.destination.number == entity.destination.number }
      let links = narrowings.map { narrowing in
        // The view of the members may be this one.
        let link = narrowing.member(of: "record.Z_PK", among: keys(of: narrowing.memberTable))
        return (name: narrowing.column, value: SQLFragment(link))
      }
      let rows = "\(SQLFragment.old(entity.source.tableName)) AS record WHERE \(entity.condition)"
      return Self.selection(entity.cells + links, table, from: rows)
    }
  }

  private func entities(of table: String) -> [EntityTranslation] {
    translation.entities.filter { $0.destination.tableName == table }
  }

  /// Returns a statement for the keys of the rows that a table would have.
  private func keys(of table: String) -> String {
    let parts = entities(of: table).map {
      "SELECT Z_PK FROM \(SQLFragment.old($0.source.tableName)) WHERE \($0.condition)"
    }
    return parts.isEmpty ? "SELECT NULL WHERE 0" : Self.union(parts)
  }

  private func pairs(of table: SQLiteTable) -> [SQLFragment] {
    translation.joins.filter { $0.place.table == table.name }.map { join in
      Self.selection(join.cells.map { (name: $0.name, value: SQLFragment($0.value)) }, table, from: join.rows)
    }
  }

  /// Returns all columns of a table in their order; NULL for those without a value.
  private static func selection(
    _ cells: [(name: String, value: SQLFragment)],
    _ table: SQLiteTable,
    from rows: String
  ) -> SQLFragment {
    let values = table.columns.map { column -> SQLFragment in
      guard let value = cells.first(where: { $0.name == column.name })?.value else { return SQLFragment("NULL") }
      // A column of reals converts integers to reals, and some of them become equal.
      return column.type == .float ? SQLFragment("CAST(\(value.text) AS REAL)", value.arguments) : value
    }
    return SQLFragment("SELECT \(values.map(\.text).joined(separator: ", ")) FROM \(rows)", values.flatMap(\.arguments))
  }

  /// Returns a statement with literals in place of its arguments: a view cannot have arguments.
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
