import GRDB
import GRDBSQLite
public import HeartwoodModel
public import HeartwoodStore
import Synchronization

extension SQLiteStore {
  /// Finds records in SQL; returns nil if SQL would not find exactly what the predicate means.
  public func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? {
    try withDatabase { db in
      let schema = try schema(db)
      return try tellingDamage(try placement(of: fetch.entity, db)) {
        try db.stopping(with: fetch.progress) {
          let query =
            KeyMarks.help(fetch, db) ? try page(fetch, in: schema, db) : FetchTranslator.keys(fetch, in: schema)
          return try query.map { try Self.references(try $0.prepared(db)) }
        }
      }
    }
  }

  private func page(_ fetch: RecordFetch, in schema: SQLiteSchema, _ db: Database) throws -> FetchStatement? {
    var marks = connection.withLock { $0?.keyMarks } ?? KeyMarks()
    let statement = try marks.page(fetch, in: schema, db)
    connection.withLock { [marks] in $0?.keyMarks = marks }
    return statement
  }

  static func references(_ statement: Statement) throws -> [ReferenceID] {
    defer { statement.end() }
    var references: [ReferenceID] = []
    while try statement.nextRow() {
      references.append(.integer(sqlite3_column_int64(statement.sqliteStatement, 0)))
    }
    return references
  }

  /// Returns whether SQL finds exactly what the predicate means, in the order of the fetch.
  public func canAnswer(_ fetch: RecordFetch) throws -> Bool {
    try withDatabase { db in FetchTranslator.keys(fetch, in: try schema(db)) != nil }
  }

  /// Counts records in SQL; returns nil if SQL would not find exactly what the predicate means.
  public func count(_ fetch: RecordFetch) throws -> Int? {
    try withDatabase { db in
      guard let query = FetchTranslator.count(fetch, in: try schema(db)) else { return nil }
      return try tellingDamage(try placement(of: fetch.entity, db)) {
        try db.stopping(with: fetch.progress) { try Int.fetchOne(try query.prepared(db)) }
      }
    }
  }

  /// Returns the statement that finds the records, and SQLite's plan for it.
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

// MARK: Groups

extension SQLiteStore {
  /// Groups records in SQL; returns nil if SQL would not make exactly the same groups.
  public func groups(_ fetch: GroupFetch) throws -> [RecordGroup]? {
    try withDatabase { db in
      guard let query = FetchTranslator.groups(fetch, in: try schema(db)) else { return nil }
      let statement = try query.query.prepared(db)
      let reader = try reader(of: fetch.records.entity, db)
      return try tellingDamage(reader.placement) {
        try reader.tellingStrays {
          try db.stopping(with: fetch.records.progress) { try Self.groups(statement, query, fetch) }
        }
      }
    }
  }

  /// Returns nil if a value does not match its type: reading the record reports it.
  private static func groups(
    _ statement: Statement,
    _ query: GroupStatement,
    _ fetch: GroupFetch
  ) throws -> [RecordGroup]? {
    defer { statement.end() }
    var groups: [RecordGroup] = []
    while try statement.nextRow() {
      do throws(Untranslatable) {
        groups.append(try query.group(statement.sqliteStatement, fetch))
      } catch {
        return nil
      }
    }
    return groups
  }

  /// Returns the statement that makes the groups, and SQLite's plan for it.
  public func queryPlan(_ fetch: GroupFetch) throws -> [String]? {
    try withDatabase { db in
      guard let query = FetchTranslator.groups(fetch, in: try schema(db)) else { return nil }
      let lines = try Self.queryPlan(query.query, db)
      return query.testsGroups ? lines : lines + ["then test the condition on groups"]
    }
  }
}

// MARK: Cancelling

extension Database {
  /// The number of instructions of SQLite's virtual machine after which it looks whether a fetch is cancelled: some
  /// tenths of a millisecond.
  private static let instructionsBetweenLooks: CInt = 20_000

  /// Calls `body`. If `progress` is cancelled meanwhile, SQLite ends the statement with `SQLITE_INTERRUPT`.
  fileprivate func stopping<Result>(with progress: FetchProgress?, _ body: () throws -> Result) rethrows -> Result {
    guard let progress else { return try body() }
    let connection = sqliteConnection
    return try withExtendedLifetime(progress) {
      sqlite3_progress_handler(
        connection,
        Self.instructionsBetweenLooks,
        { pointer in
          guard let pointer else { return 0 }
          return Unmanaged<FetchProgress>.fromOpaque(pointer).takeUnretainedValue().isCancelled ? 1 : 0
        },
        Unmanaged.passUnretained(progress).toOpaque()
      )
      defer { sqlite3_progress_handler(connection, 0, nil, nil) }
      return try body()
    }
  }
}

// MARK: Batches

extension SQLiteStore {
  /// Updates or deletes records in SQL; returns nil if SQL would not do exactly the same.
  public func execute(_ batch: RecordBatch) throws -> RecordBatchResult? {
    try withDatabase { db in
      let schema = try schema(db)
      var done = RecordBatchResult()
      do {
        let translations = try batch.records.map { fetch in
          (
            fetch.entity,
            try BatchTranslation(batch.action, fetch, isAlone: batch.records.count == 1, in: schema, path: path)
          )
        }
        for (entity, translation) in translations {
          let isDone = try tellingDamage(try placement(of: entity, db)) {
            try Self.run(translation, of: entity, needingReferences: batch.needsReferences, &done, db)
          }
          if !isDone { return nil }
        }
        return done
      } catch is Untranslatable {
        return nil
      }
    }
  }

  /// Returns whether the batch was carried out: in case of doubt it is not.
  private static func run(
    _ translation: BatchTranslation,
    of entity: EntityDescription,
    needingReferences: Bool,
    _ done: inout RecordBatchResult,
    _ db: Database
  ) throws -> Bool {
    for doubt in translation.doubts {
      let count = try Int.fetchOne(try doubt.prepared(db))
      if count != 0 { return false }
    }
    if needingReferences {
      done.references[entity.ordinal] = try references(translation.keys, db)
      for unlinked in translation.unlinkedRecords {
        guard let ordinal = unlinked.entityOrdinal else { return false }
        done.unlinked.append(
          .init(
            entityOrdinal: ordinal,
            propertyOrdinal: unlinked.propertyOrdinal,
            references: try references(unlinked.keys, db)
          )
        )
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
