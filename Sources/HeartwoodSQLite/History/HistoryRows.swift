import GRDB
import GRDBSQLite
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Reads the transactions in a file's history, whether Heartwood or Core Data wrote them.
struct HistoryRows {
  let tables: HistoryTables
  let schema: SQLiteSchema
  let path: String
  let db: Database

  /// Returns the transactions after the one with a number, in order, and at most `limit`.
  func transactions(after number: Int64, limit: Int = .max) throws -> [RecordedTransaction] {
    var transactions = try heads(after: number, limit: limit)
    guard let last = transactions.last?.number else { return [] }
    let readers = try ChangeReaders(self)
    let statement = try db.makeStatement(sql: changesQuery)
    defer { statement.end() }
    try statement.setArguments([number, last])
    let row = statement.sqliteStatement
    var place = transactions.startIndex
    var changes = ChangeGroups()
    while try statement.nextRow() {
      // Rows without a transaction do not belong to the history.
      let transaction = sqlite3_column_int64(row, ChangeReaders.transactionIndex)
      while place < transactions.endIndex, transactions[place].number < transaction {
        transactions[place].changes = changes.take()
        place += 1
      }
      guard place < transactions.endIndex, transactions[place].number == transaction else { continue }
      try readers.read(row, into: &changes)
    }
    if place < transactions.endIndex { transactions[place].changes = changes.take() }
    return transactions
  }

  /// Returns the greatest transaction number that the file has assigned; 0 if there is none.
  func greatestNumber() throws -> Int64 {
    let query = "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?"
    return try Int64.fetchOne(db, sql: query, arguments: [tables.transactionNumber]) ?? 0
  }

  private var changesQuery: String {
    let columns = ChangeReaders.columns + (0..<tables.tombstoneCount).map(HistoryTables.tombstoneColumn)
    return
      "SELECT \(columns.joined(separator: ", ")) FROM ACHANGE WHERE ZTRANSACTIONID > ? AND ZTRANSACTIONID <= ? ORDER BY ZTRANSACTIONID, Z_PK"
  }

  /// Returns the transactions without their changes.
  private func heads(after number: Int64, limit: Int) throws -> [RecordedTransaction] {
    let texts = HistoryTables.Origin.allCases.map { origin in
      switch tables.place(of: origin) {
      case nil: "NULL"
      case .text(let column): "head.\(column)"
      case .key(let column): "(SELECT ZNAME FROM ATRANSACTIONSTRING WHERE Z_PK = head.\(column))"
      }
    }
    let sql =
      "SELECT Z_PK, ZTIMESTAMP, \(texts.joined(separator: ", ")) FROM ATRANSACTION AS head WHERE Z_PK > ? ORDER BY Z_PK LIMIT ?"
    return try Row.fetchAll(db, sql: sql, arguments: [number, limit]).map(head)
  }

  private func head(_ row: Row) throws -> RecordedTransaction {
    let key = Self.number(in: row[0])
    guard let key, let seconds = Self.seconds(in: row[1]), seconds.isFinite else {
      throw fault(HistoryTables.transactionTable, key ?? 0, "has no date")
    }
    return RecordedTransaction(
      number: key,
      date: Date(timeIntervalSinceReferenceDate: seconds),
      author: Self.text(in: row[2]),
      contextName: Self.text(in: row[4]),
      bundleID: Self.text(in: row[3]),
      processID: Self.text(in: row[5]),
      changes: []
    )
  }

  // The optimizer of Swift 6.3.1 fails with an internal error if these are inlined beside each other.

  @inline(never)
  private static func number(in value: DatabaseValue) -> Int64? { Int64.fromDatabaseValue(value) }

  @inline(never)
  private static func seconds(in value: DatabaseValue) -> Double? { Double.fromDatabaseValue(value) }

  @inline(never)
  private static func text(in value: DatabaseValue) -> String? {
    String.fromDatabaseValue(value).flatMap { $0.isEmpty ? nil : $0 }
  }

  fileprivate func fault(_ table: String, _ key: Int64, _ problem: String, entity: String? = nil) -> PersistenceError {
    PersistenceError(
      .fileMalformed,
      "The row with the key \(key) of the table \(table) \(problem), so the history cannot be read.",
      recovery: "Read the records without it, or convert the store with tracksPersistentHistory set to false.",
      context: .init(path: path, storeType: .sqlite, entity: entity)
    )
  }
}

// MARK: ChangeGroups

/// Groups the changes of a transaction by their kind.
private struct ChangeGroups {
  struct Key: Hashable {
    let kind: PersistentHistoryChange.ChangeType
    let entity: Int
    /// The value of `ZCOLUMNS`.
    let bits: [UInt8]
  }

  private var places: [Key: Int] = [:]
  private var groups: [RecordedChanges] = []

  mutating func append(
    _ reference: ReferenceID,
    _ values: [PropertyValue]?,
    _ key: Key,
    names: () -> (entity: String, properties: [String])
  ) {
    let place: Int
    if let known = places[key] {
      place = known
    } else {
      place = groups.count
      places[key] = place
      let names = names()
      groups.append(
        RecordedChanges(key.kind, entityName: names.entity, propertyNames: names.properties, references: [])
      )
    }
    groups[place].references.append(reference)
    if let values { groups[place].preservedValues.append(values) }
  }

  /// Returns the insertions, the updates, and the deletions, and removes them.
  mutating func take() -> [RecordedChanges] {
    defer { self = ChangeGroups() }
    return PersistentHistoryChange.ChangeType.allCases.flatMap { kind in groups.filter { $0.kind == kind } }
  }
}

// MARK: ChangeReaders

/// Reads rows of `ACHANGE`.
private struct ChangeReaders {
  static let columns = ["ZTRANSACTIONID", "Z_PK", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZCOLUMNS"]
  static let transactionIndex: CInt = 0
  private static let (keyIndex, kindIndex, entityIndex, recordIndex, bitsIndex): (CInt, CInt, CInt, CInt, CInt) = (
    1, 2, 3, 4, 5
  )

  /// The entity of changes.
  private struct Entity {
    let name: String
    let changed: ChangedProperties?
    /// The attributes in tombstones, each with the reader of its column.
    var tombstone: [(attribute: AttributeDescription, reader: ColumnReader)] = []
  }

  private let rows: HistoryRows
  private var entities: [Int: Entity] = [:]

  init(_ rows: HistoryRows) throws {
    self.rows = rows
    // Entities that the model does not have are reported by their names.
    for row in try Row.fetchAll(rows.db, sql: "SELECT Z_ENT, Z_NAME FROM Z_PRIMARYKEY") {
      guard let number = Int.fromDatabaseValue(row[0]), let name = String.fromDatabaseValue(row[1]) else { continue }
      entities[number] = Entity(name: name, changed: nil)
    }
    for placement in rows.schema.entities.compactMap(\.self) {
      entities[placement.number] = Self.entity(placement, rows.tables)
    }
  }

  private static func entity(_ placement: EntityPlacement, _ tables: HistoryTables) -> Entity {
    let entity = placement.entity
    let ordinals = entity.tombstoneOrdinals(tables.propertyOrder).prefix(tables.tombstoneCount)
    var result = Entity(name: entity.name, changed: ChangedProperties(entity, tables.propertyOrder))
    for (index, ordinal) in ordinals.enumerated() {
      guard let attribute = entity.properties[ordinal].attribute,
        case .attribute(let place) = placement.properties[ordinal]
      else { continue }
      let reader = ColumnReader(type: attribute.type, storage: place.storage, index: CInt(columns.count + index))
      result.tombstone.append((attribute, reader))
    }
    return result
  }

  func read(_ row: SQLiteStatement, into changes: inout ChangeGroups) throws {
    let key = sqlite3_column_int64(row, Self.keyIndex)
    guard let rawKind = UInt8(exactly: sqlite3_column_int64(row, Self.kindIndex)),
      let kind = PersistentHistoryChange.ChangeType(rawValue: rawKind),
      sqlite3_column_type(row, Self.kindIndex) == SQLITE_INTEGER
    else { throw rows.fault(HistoryTables.changeTable, key, "is of no known kind of change") }
    guard sqlite3_column_type(row, Self.entityIndex) == SQLITE_INTEGER,
      sqlite3_column_type(row, Self.recordIndex) == SQLITE_INTEGER
    else { throw rows.fault(HistoryTables.changeTable, key, "names no record") }
    let number = Int(sqlite3_column_int64(row, Self.entityIndex))
    let reference = ReferenceID.integer(sqlite3_column_int64(row, Self.recordIndex))
    let bits = kind == .update ? Array(ColumnBytes.blob(row, Self.bitsIndex)) : []
    // If the model lacks the entity, the error is thrown when its changes are read.
    let entity = entities[number] ?? Entity(name: "entity number \(number)", changed: nil)
    let values = kind == .delete && !entity.tombstone.isEmpty ? try values(of: entity, row, key) : nil
    changes.append(reference, values, ChangeGroups.Key(kind: kind, entity: number, bits: bits)) {
      switch kind {
      case .insert: (entity.name, [])
      case .update: (entity.name, bits.withUnsafeBytes { entity.changed?.names(in: $0) ?? [] })
      case .delete: (entity.name, entity.tombstone.map(\.attribute.name))
      }
    }
  }

  private func values(of entity: Entity, _ row: SQLiteStatement, _ key: Int64) throws -> [PropertyValue] {
    try entity.tombstone.map { attribute, reader in
      let column = ColumnBuilder(kind: ColumnKind(.attribute(attribute)))
      do {
        try reader.append(row, to: column, ExternalFiles(ofStoreAt: rows.path))
      } catch let fault as ValueFault {
        let context = PersistenceError.Context(
          path: rows.path,
          storeType: .sqlite,
          entity: entity.name,
          property: attribute.name
        )
        throw fault.error(in: ValueFault.Row(table: HistoryTables.changeTable, key: key), context)
      }
      return column.sealed().value(in: 0, of: attribute.type)
    }
  }
}
