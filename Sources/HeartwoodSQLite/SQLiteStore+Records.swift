import GRDB
public import HeartwoodModel
public import HeartwoodStore
import Synchronization

// MARK: Records

extension SQLiteStore {
  /// Returns the metadata that is in the file.
  public func metadata() throws -> StoreMetadata {
    try withDatabase { db in try SQLiteMetadata.read(from: db, path: path).metadata }
  }

  /// Reads all records of `entities`.
  public func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
    try withDatabase { db in
      for entity in entities {
        let reader = try reader(of: entity, db)
        let groups = try tellingDamage(reader.placement) { try wholeTable(reader, db) }
        try loader.setCheckedRowGroups(groups, of: entity)
      }
    }
  }

  /// Reads records by their keys: keys that are close to each other are read together.
  public func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws {
    try withDatabase { db in
      let keys = references.compactMap { reference -> Int64? in
        if case .integer(let key) = reference { key } else { nil }
      }
      let reader = try reader(of: entity, db)
      let groups = try tellingDamage(reader.placement) { try reader.groups(withKeys: keys, db) }
      try loader.setCheckedRowGroups(groups, of: entity)
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

  /// Calls `body`, which reads a table, and adds the table to an error about damaged pages.
  func tellingDamage<Result>(_ placement: EntityPlacement, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
      throw SQLiteFailure.damage(error, path: path, entity: placement.entity.name, table: placement.tableName)
    }
  }

  /// Counts the rows of the entity.
  public func count(of entity: EntityDescription) throws -> Int {
    try withDatabase { db in try count(placement(of: entity, db), passingOverOthers: true, db) }
  }

  /// Counts all rows of the table if it belongs to the entity alone: the shortest index is enough for that. A migration
  /// may have left rows of other entities there.
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

  /// Writes the changes of a save.
  public func save(_ changes: ChangeSet, over contents: StoreContents) throws {
    try withDatabase { db in
      try RecordWriter(schema: try schema(db), contents: contents, path: path, db: db, externals: externals).write(
        changes
      )
    }
  }

  /// Writes the metadata; Core Data's own entries are kept.
  public func saveMetadata(_ metadata: StoreMetadata) throws {
    try withDatabase { db in
      var row = try SQLiteMetadata.read(from: db, path: path)
      row.metadata = metadata
      try row.write(to: db, model: setup.model)
    }
  }
}

// MARK: Links

// A file stores a relationship and its inverse as one: in the column of the to-one side, or as rows with both keys. A
// pair of to-one relationships has one column each.

extension SQLiteSchema {
  /// Returns the relationship that is stored in the same place as the to-many relationship `ordinal` of an entity; nil
  /// if there is none. Models from other sources may name an inverse whose destination is another entity: the two then
  /// cannot be distinguished.
  func sharedInverse(_ entity: EntityDescription, _ ordinal: Int) -> RelationshipSide? {
    guard let placement = placement(of: entity), let target = entity.relationshipTargets[ordinal],
      let destination = entities[target.entityOrdinal]
    else { return nil }
    let inverse = destination.properties.firstIndex { property in
      switch (placement.properties[ordinal], property) {
      case (.toMany(let place), .toOne(let other)): !place.ownsColumn && place.column == other.column
      case (.join(let place), .join(let other)): (place.isReflexive ? place : place.inverse) == other
      default: false
      }
    }
    guard let inverse, let back = destination.entity.relationshipTargets[inverse],
      model.entities[back.entityOrdinal].isRelated(to: placement.entity)
    else { return nil }
    return RelationshipSide(destination.entity, inverse)
  }
}

extension EntityDescription {
  /// Returns whether one of the two inherits from the other, or they are the same.
  fileprivate func isRelated(to other: EntityDescription) -> Bool { isKind(of: other) || other.isKind(of: self) }
}

// MARK: Keys of new records

extension SQLiteStore {
  /// The number of keys that are reserved in the file at once, so that few saves of single records need a second
  /// reservation.
  private static let leastReservation = 64

  /// Returns keys that no other record of the entity's table has or will have, in any process: the file's key counter
  /// is raised at once.
  public func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID] {
    let root = try withDatabase { db in try placement(of: entity, db).rootNumber }
    let kept = reservedKeys.withLock { $0[root] } ?? 0..<0
    guard kept.count < count else { return take(count, of: kept, root) }
    let wanted = max(count - kept.count, Self.leastReservation)
    let added = try writing { db in try Self.raise(by: wanted, root, db, path) }
    let keys = kept.upperBound == added.lowerBound ? kept.lowerBound..<added.upperBound : added
    if keys.count >= count { return take(count, of: keys, root) }
    // Another process has reserved keys in between: the remaining keys are used first.
    return kept.map { .integer($0) } + take(count - kept.count, of: added, root)
  }

  private func take(_ count: Int, of keys: Range<Int64>, _ root: Int) -> [ReferenceID] {
    let taken = keys.prefix(count)
    reservedKeys.withLock { $0[root] = taken.upperBound..<keys.upperBound }
    return taken.map { .integer($0) }
  }

  /// Calls `body` in the current transaction, or in a new one.
  private func writing<Result>(_ body: (Database) throws -> Result) throws -> Result {
    if transaction != nil { return try withDatabase(body) }
    return try saving { try withDatabase(body) }
  }

  /// Raises the key counter in `Z_PRIMARYKEY`, and returns the reserved keys.
  private static func raise(by count: Int, _ root: Int, _ db: Database, _ path: String) throws -> Range<Int64> {
    let last = try Int64.fetchOne(db, sql: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", arguments: [root]) ?? 0
    let (end, overflow) = last.addingReportingOverflow(Int64(count))
    guard !overflow, end < .max else {
      throw PersistenceError(
        .capabilityMissing,
        "There are no keys left: the greatest one is in use.",
        context: .init(path: path, storeType: .sqlite)
      )
    }
    try db.execute(sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?", arguments: [end, root])
    return (last + 1)..<(end + 1)
  }
}
