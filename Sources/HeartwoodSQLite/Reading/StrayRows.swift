import GRDB
import GRDBSQLite
import HeartwoodModel
import HeartwoodStore

/// Rows in the table of an entity that belong to no entity which the file knows: their entity number is another one, is
/// missing, or is not a number.
///
/// It is unknown what they represent, so reading them is an error. Rows of other entities are skipped: those that share
/// the table, and those that a migration has left there.
struct StrayRows: Sendable {
  /// A condition that is true for the rows of the entity and for stray ones.
  let condition: String
  /// A condition that is true for the rows of the entity; a stray one ends the statement with an error that
  /// ``key(in:)`` recognizes. In a table of several entities, an index finds the rows of one of them, and ``query``
  /// finds the stray ones.
  let wholeCondition: String
  /// Finds the keys of stray rows that ``wholeCondition`` skips, except for those whose number has a fraction; nil if
  /// it skips none.
  let query: String?

  /// The fault of such a row.
  let fault = ValueFault("has no number (Z_ENT) of an entity that the file knows and that can have records")

  init(_ placement: EntityPlacement, _ schema: SQLiteSchema) {
    let numbers = schema.knownNumbers.sorted()
    let isOfEntity = "Z_ENT = \(placement.number)"
    let table = SQLiteName.quoted(placement.tableName)
    condition = Handling.found.condition(isOfEntity, schema, alias: table)
    if schema.isAlone(placement) {
      wholeCondition = Handling.refused.condition(isOfEntity, schema, alias: table)
      query = nil
    } else {
      wholeCondition = isOfEntity
      query = "SELECT Z_PK FROM \(SQLiteName.quoted(placement.tableName)) WHERE \(Self.isOutside(numbers))"
    }
  }

  /// How a statement about the rows of an entity handles stray ones.
  enum Handling {
    /// They are skipped: only a record can be changed or deleted.
    case passedOver
    /// They are found like those of the entity, and reading them is an error.
    case found
    /// They end the statement with an error.
    case refused

    /// Returns a condition that is true for the rows of the entity, at the same cost as `isOfEntity` alone, and for
    /// stray rows that are handled.
    func condition(_ isOfEntity: String, _ schema: SQLiteSchema, alias: String) -> String {
      let numbers = schema.knownNumbers.sorted().map(String.init).joined(separator: ", ")
      let isStray = "\(alias).Z_ENT IS NULL OR \(alias).Z_ENT NOT IN (\(numbers))"
      switch self {
      case .passedOver: return isOfEntity
      case .found: return "(\(isOfEntity) OR (\(isStray)))"
      case .refused: return "(\(isOfEntity) OR (\(isStray)) AND \(StrayRows.functionName)(\(alias).Z_PK))"
      }
    }
  }

  /// Returns a condition that is true for a row whose number is not in the range of the known ones, in a form for which
  /// an index can be searched.
  private static func isOutside(_ numbers: [Int]) -> String {
    guard let least = numbers.first, let greatest = numbers.last else { return "1" }
    let ends = ["Z_ENT IS NULL", "Z_ENT < \(least)", "Z_ENT > \(greatest)"]
    let gaps = zip(numbers, numbers.dropFirst()).filter { $1 > $0 + 1 }.map { "Z_ENT > \($0) AND Z_ENT < \($1)" }
    return (ends + gaps.map { "(\($0))" }).joined(separator: " OR ")
  }

  // MARK: In a statement that reads all rows

  fileprivate static let functionName = "heartwood_stray"

  /// Registers with a connection the function that is called with a stray row.
  static func addFunction(to db: Database) throws {
    let code = sqlite3_create_function_v2(
      db.sqliteConnection,
      functionName,
      1,
      SQLITE_UTF8,
      nil,
      { context, _, values in
        let key = values?[0].map { sqlite3_value_int64($0) } ?? 0
        sqlite3_result_error(context, "\(StrayRows.functionName) \(key)", -1)
      },
      nil,
      nil,
      nil
    )
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  /// Returns the key of the stray row that ended a statement; nil if it ended for another reason.
  static func key(in failure: DatabaseError) -> Int64? {
    guard let message = failure.message, message.hasPrefix(functionName + " ") else { return nil }
    return Int64(message.dropFirst(functionName.count + 1))
  }
}

// MARK: RecordReader: strays

extension RecordReader {
  /// Checks for rows that reading all rows by their keys would skip: rows of no entity, rows whose key is not a number,
  /// and links whose owner is not a key. Indexes find them, so this takes O(log n) for a table as Core Data creates it.
  func checkStrays(_ db: Database) throws {
    try forEachStray(db, strays.query) { throw error($0, 0, ordinal: $1) }
  }

  /// Calls `body` with the faults of such rows, and with the ordinal of the to-many relationship if they are links.
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
