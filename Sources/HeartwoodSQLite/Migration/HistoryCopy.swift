import GRDB
import HeartwoodModel
import HeartwoodStore

/// The history of a new file that is made from another one in SQL.
///
/// A copy, whose records are the same, gets the whole history, in tables of the same form. A migration leaves it out,
/// because the transactions describe entities and properties of the old model: the next transaction gets the next
/// number, so that earlier tokens are known to be expired.
struct HistoryCopy {
  private enum Action {
    case none
    case copy(HistoryTables)
    /// Begins after the last transaction of the old file, if it has history tables.
    case begin(after: HistoryTables?)
  }

  private let action: Action
  private let entities: [EntityDescription]
  /// The numbers of entities that have a different one in the new file.
  private let renumbered: [(old: Int, new: Int)]
  private let knownNumbers: Set<Int>

  init(_ translation: MigrationTranslation, from source: StoreSetup, to destination: StoreSetup) {
    entities = destination.entities
    let numbers = translation.entities.map { (old: $0.source.number, new: $0.destination.number) }
    renumbered = numbers.filter { $0.old != $0.new }
    knownNumbers = Set(numbers.map(\.old))
    let isKept = destination.keepsHistory(SQLiteStore.typeDescription)
    switch translation.old.history {
    case .known(let tables) where isKept:
      action = source.model === destination.model ? .copy(tables) : .begin(after: tables)
    default: action = destination.options[.tracksPersistentHistory] ? .begin(after: nil) : .none
    }
  }

  /// - Throws: ``MigrationObstacle`` if the history names entities whose numbers in the new file are unknown.
  func run(_ db: Database) throws {
    switch action {
    case .none: return
    case .begin(after: nil): try HistoryTables.create(in: db, entities: entities, after: 0)
    case .begin(after: let tables?):
      let query =
        "SELECT max(ifnull((SELECT max(Z_PK) FROM \(SQLFragment.old(HistoryTables.transactionTable))), 0), ifnull(max(Z_MAX), 0)) "
        + "FROM \(SQLFragment.old(SQLiteName.primaryKeyTable)) WHERE Z_ENT = ?"
      let last = try Int64.fetchOne(db, sql: query, arguments: [tables.transactionNumber]) ?? 0
      try HistoryTables.create(in: db, entities: entities, after: last)
    case .copy(let tables): try copy(tables, db)
    }
  }

  private func copy(_ tables: HistoryTables, _ db: Database) throws {
    try checkNumbers(db)
    let names = tables.tableNames
    let places = names.map { _ in "?" }.joined(separator: ", ")
    // Tables come before their indexes.
    let statements = try String.fetchAll(
      db,
      sql:
        "SELECT sql FROM \(SQLiteFile.sourceName).sqlite_schema WHERE tbl_name IN (\(places)) AND type IN ('table', 'index') "
        + "AND sql IS NOT NULL ORDER BY type DESC, name",
      arguments: StatementArguments(names)
    )
    for statement in statements { try db.execute(sql: statement) }
    for name in names {
      try db.execute(sql: "INSERT INTO \(SQLFragment.new(name)) SELECT * FROM \(SQLFragment.old(name))")
    }
    if !renumbered.isEmpty {
      let cases = renumbered.map { "WHEN \($0.old) THEN \($0.new)" }.joined(separator: " ")
      try db.execute(sql: "UPDATE ACHANGE SET ZENTITY = CASE ZENTITY \(cases) ELSE ZENTITY END")
    }
    let numbers = tables.numbers.map(String.init).joined(separator: ", ")
    try db.execute(
      sql: "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX "
        + "FROM \(SQLFragment.old(SQLiteName.primaryKeyTable)) WHERE Z_ENT IN (\(numbers))"
    )
  }

  private func checkNumbers(_ db: Database) throws {
    if renumbered.isEmpty { return }
    let numbers = knownNumbers.sorted().map(String.init).joined(separator: ", ")
    let query =
      "SELECT EXISTS (SELECT 1 FROM \(SQLFragment.old(HistoryTables.changeTable)) WHERE ZENTITY NOT IN (\(numbers)))"
    guard try Bool.fetchOne(db, sql: query) != true else {
      throw MigrationObstacle(.file, "the history names entities that the model does not have")
    }
  }
}
