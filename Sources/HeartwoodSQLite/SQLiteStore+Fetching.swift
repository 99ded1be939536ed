import GRDB
import GRDBSQLite
public import HeartwoodModel
public import HeartwoodStore

extension SQLiteStore {
  /// Finds records in SQL; nil where SQL would not find just what the predicate means.
  public func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? {
    try withDatabase { db in
      guard let query = FetchTranslator.keys(fetch, in: try schema(db)) else { return nil }
      let statement = try query.prepared(db)
      return try tellingDamage(try placement(of: fetch.entity, db)) { try Self.references(statement) }
    }
  }

  static func references(_ statement: Statement) throws -> [ReferenceID] {
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
      return try tellingDamage(try placement(of: fetch.entity, db)) {
        try Int.fetchOne(try query.prepared(db))
      }
    }
  }

  /// The statement that finds the records, and SQLite's plan for it.
  public func queryPlan(_ fetch: RecordFetch) throws -> [String]? {
    try withDatabase { db in
      guard let query = FetchTranslator.keys(fetch, in: try schema(db)) else { return nil }
      return try Self.queryPlan(query, db)
    }
  }

  private static func queryPlan(_ query: FetchStatement, _ db: Database) throws -> [String] {
    let arguments = StatementArguments(query.arguments)
    let plan = try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(query.text)", arguments: arguments)
    return [query.text] + plan.map { $0["detail"] ?? "" }
  }
}

// MARK: Parts

extension SQLiteStore: NarrowingStore {
  package func narrowed(_ fetch: RecordFetch) throws -> NarrowedFetch? {
    try withDatabase { db in FetchTranslator.narrowed(fetch, in: try schema(db)) }
  }
}

// MARK: Groups

extension SQLiteStore: GroupingStore {
  package func groups(_ fetch: GroupFetch, scopes: [ObjectIDScope]) throws -> [RecordGroup]? {
    try withDatabase { db in
      guard let query = FetchTranslator.groups(fetch, in: try schema(db)) else { return nil }
      let statement = try query.query.prepared(db)
      let reader = try reader(of: fetch.records.entity, db)
      return try tellingDamage(reader.placement) {
        try reader.tellingStrays { try Self.groups(statement, query, scopes) }
      }
    }
  }

  /// Nil where there is a value that is none of its type: whoever reads the record finds out.
  private static func groups(
    _ statement: Statement,
    _ query: GroupStatement,
    _ scopes: [ObjectIDScope]
  ) throws -> [RecordGroup]? {
    defer { statement.end() }
    var groups: [RecordGroup] = []
    while try statement.nextRow() {
      do throws(Untranslatable) {
        groups.append(try query.group(statement.sqliteStatement, scopes))
      } catch {
        return nil
      }
    }
    return groups
  }

  package func queryPlan(_ fetch: GroupFetch) throws -> [String]? {
    try withDatabase { db in
      guard let query = FetchTranslator.groups(fetch, in: try schema(db)) else { return nil }
      let lines = try Self.queryPlan(query.query, db)
      return query.testsGroups ? lines : lines + ["then test the condition on groups"]
    }
  }
}

// MARK: Batches

extension SQLiteStore: BatchingStore {
  /// Changes or deletes records in SQL.
  package func execute(_ batch: RecordBatch) throws -> BatchedRecords? {
    try withDatabase { db in
      let schema = try schema(db)
      var done = BatchedRecords()
      do {
        let translations = try batch.records.map { fetch in
          (
            fetch.entity,
            try BatchTranslation(batch.action, fetch, isAlone: batch.records.count == 1, in: schema, path: path)
          )
        }
        for (entity, translation) in translations {
          let isDone = try tellingDamage(try placement(of: entity, db)) {
            try Self.run(translation, of: entity, tellingReferences: batch.tellsReferences, &done, db)
          }
          if !isDone { return nil }
        }
        return done
      } catch is Untranslatable {
        return nil
      }
    }
  }

  /// Whether it was done: in doubt it is not.
  private static func run(
    _ translation: BatchTranslation,
    of entity: EntityDescription,
    tellingReferences: Bool,
    _ done: inout BatchedRecords,
    _ db: Database
  ) throws -> Bool {
    for doubt in translation.doubts {
      let count = try Int.fetchOne(try doubt.prepared(db))
      if count != 0 { return false }
    }
    if tellingReferences {
      done.references[entity.ordinal] = try references(translation.keys, db)
      for unlinked in translation.unlinkedRecords {
        guard let ordinal = unlinked.entityOrdinal else { return false }
        done.unlinkedProperties.append((ordinal, unlinked.propertyOrdinal, try references(unlinked.keys, db)))
      }
    }
    for unlinked in translation.unlinkedRecords { try execute(unlinked.change, db) }
    try execute(translation.change, db)
    done.count += db.changesCount
    return true
  }

  private static func execute(_ statement: FetchStatement, _ db: Database) throws {
    try statement.prepared(db).execute()
  }

  private static func references(_ query: FetchStatement, _ db: Database) throws -> [ReferenceID] {
    try references(try query.prepared(db))
  }
}
