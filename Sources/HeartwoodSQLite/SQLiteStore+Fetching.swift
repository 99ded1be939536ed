import GRDB
import GRDBSQLite
public import HeartwoodModel
public import HeartwoodStore

extension SQLiteStore {
  /// Finds records in SQL; nil where SQL would not find just what the predicate means.
  public func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? {
    try withDatabase { db in
      guard let query = FetchTranslator.keys(fetch, in: try schema(db)) else { return nil }
      let statement = try db.cachedStatement(sql: query.text)
      try statement.setArguments(query.arguments)
      return try tellingDamage(try mapping(of: fetch.entity, db)) { try Self.references(statement) }
    }
  }

  private static func references(_ statement: Statement) throws -> [ReferenceID] {
    defer { statement.end() }
    var references: [ReferenceID] = []
    while try statement.nextRow() {
      references.append(.integer(sqlite3_column_int64(statement.sqliteStatement, 0)))
    }
    return references
  }

  /// Counts records in SQL.
  public func count(_ fetch: RecordFetch) throws -> Int? {
    try withDatabase { db in
      guard let query = FetchTranslator.count(fetch, in: try schema(db)) else { return nil }
      return try tellingDamage(try mapping(of: fetch.entity, db)) {
        try Int.fetchOne(try db.cachedStatement(sql: query.text), arguments: query.arguments)
      }
    }
  }

  /// The statement that finds the records, and SQLite's plan for it.
  public func queryPlan(_ fetch: RecordFetch) throws -> [String]? {
    try withDatabase { db in
      guard let query = FetchTranslator.keys(fetch, in: try schema(db)) else { return nil }
      let plan = try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(query.text)", arguments: query.arguments)
      return [query.text] + plan.map { $0["detail"] ?? "" }
    }
  }
}
