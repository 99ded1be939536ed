import GRDB
public import HeartwoodModel
public import HeartwoodStore
import Synchronization

// MARK: Records

extension SQLiteStore {
  /// The metadata as they are in the file.
  public func metadata() throws -> StoreMetadata {
    try withDatabase { db in try SQLiteMetadata.read(from: db, path: path).metadata }
  }

  /// Reads all records of `entities`.
  public func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
    try withDatabase { db in
      for entity in entities {
        let reader = try reader(of: entity, db)
        try tellingDamage(reader.placement) { loader.setTable(try wholeTable(reader, db)) }
      }
    }
  }

  /// Reads records by their keys: those that lie near each other together.
  public func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws {
    try withDatabase { db in
      let keys = references.compactMap { reference -> Int64? in
        if case .integer(let key) = reference { key } else { nil }
      }
      let reader = try reader(of: entity, db)
      try tellingDamage(reader.placement) { loader.setTable(try reader.table(keys, db)) }
    }
  }

  func reader(of entity: EntityDescription, _ db: Database) throws -> RecordReader {
    if let reader = connection.withLock({ $0?.readers[entity.ordinal] }) { return reader }
    let reader = try RecordReader(
      try placement(of: entity, db),
      schema: try schema(db),
      path: path,
      missingFiles: missingFiles
    )
    connection.withLock { $0?.readers[entity.ordinal] = reader }
    return reader
  }

  /// Calls `body`, which reads a table, and lets an error of damaged pages say which table.
  func tellingDamage<Result>(_ placement: EntityPlacement, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
      throw SQLiteFailure.damage(error, path: path, entity: placement.entity.name, table: placement.tableName)
    }
  }

  /// Counts the rows.
  public func count(of entity: EntityDescription) throws -> Int {
    try withDatabase { db in try count(placement(of: entity, db), passingOverOthers: true, db) }
  }

  /// Counts the rows of the whole table where it is the entity's alone: for these the shortest index is enough. A migration may have left
  /// rows of others there.
  public func estimatedCount(of entity: EntityDescription) throws -> Int {
    try withDatabase { db in
      let placement = try placement(of: entity, db)
      return try count(placement, passingOverOthers: try !schema(db).isAlone(placement), db)
    }
  }

  private func count(_ placement: EntityPlacement, passingOverOthers: Bool, _ db: Database) throws -> Int {
    let query = "SELECT count(*) FROM \(SQLiteName.quoted(placement.tableName))"
    let condition = passingOverOthers ? " WHERE Z_ENT = \(placement.number)" : ""
    return try Int.fetchOne(try db.cachedStatement(sql: query + condition)) ?? 0
  }

  /// Writes changes.
  public func save(_ changes: ChangeSet, over contents: StoreContents) throws {
    try withDatabase { db in
      try RecordWriter(schema: try schema(db), contents: contents, path: path, db: db, externals: externals).write(
        changes
      )
    }
  }

  /// Writes metadata; what Core Data has noted beside them stays.
  public func saveMetadata(_ metadata: StoreMetadata) throws {
    try withDatabase { db in
      var row = try SQLiteMetadata.read(from: db, path: path)
      row.metadata = metadata
      try row.write(to: db, model: setup.model)
    }
  }
}
