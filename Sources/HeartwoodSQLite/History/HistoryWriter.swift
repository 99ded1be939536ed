import GRDB
import GRDBSQLite
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Adds transactions to the history of a file, within a transaction of the database.
struct HistoryWriter {
  let tables: HistoryTables
  let schema: SQLiteSchema
  let path: String
  let db: Database

  /// Adds a transaction, and returns its number.
  func write(_ transaction: RecordedTransaction) throws -> Int64 {
    let number = try raise(by: 1, tables.transactionNumber, HistoryTables.transactionTable).lowerBound
    var columns = ["Z_PK", "Z_ENT", "ZTIMESTAMP"]
    var values: [(any DatabaseValueConvertible)?] = [
      number, tables.transactionNumber, transaction.date.timeIntervalSinceReferenceDate,
    ]
    for (origin, text) in transaction.origins {
      guard let text, !text.isEmpty, let place = tables.place(of: origin) else { continue }
      switch place {
      case .text(let column):
        columns.append(column)
        values.append(text)
      case .key(let column):
        columns.append(column)
        values.append(try key(of: text))
      }
    }
    try insert(values, columns, HistoryTables.transactionTable)
    for changes in transaction.changes { try write(changes, number) }
    return number
  }

  /// Returns the key of a text, and adds the text if no transaction has used it before.
  private func key(of text: String) throws -> Int64 {
    let known = try Int64.fetchOne(
      db.cachedStatement(sql: "SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?"),
      arguments: [text]
    )
    if let known { return known }
    guard let number = tables.stringNumber else { return 0 }
    let key = try raise(by: 1, number, HistoryTables.stringTable).lowerBound
    try insert([key, number, text], ["Z_PK", "Z_ENT", "ZNAME"], HistoryTables.stringTable)
    return key
  }

  private func insert(_ values: [(any DatabaseValueConvertible)?], _ columns: [String], _ table: String) throws {
    let arguments = values.map(StoredValue.argument)
    let places = arguments.map(\.place).joined(separator: ", ")
    let text = "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))"
    try db.cachedStatement(sql: text).execute(arguments: StatementArguments(arguments.map(\.value)))
  }

  /// Reserves keys that no row of a table has had.
  private func raise(by count: Int, _ number: Int, _ table: String) throws -> Range<Int64> {
    let query =
      "SELECT max(ifnull((SELECT max(Z_PK) FROM \(table)), 0), ifnull(max(Z_MAX), 0)) FROM Z_PRIMARYKEY WHERE Z_ENT = ?"
    let last = try Int64.fetchOne(db.cachedStatement(sql: query), arguments: [number]) ?? 0
    let (end, overflow) = last.addingReportingOverflow(Int64(count))
    guard last >= 0, !overflow, end < .max else {
      throw PersistenceError(
        .capabilityMissing,
        "The history has no number left in the table \(table).",
        context: .init(path: path, storeType: .sqlite)
      )
    }
    try db.cachedStatement(sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_ENT = ?").execute(arguments: [end, number])
    return (last + 1)..<(end + 1)
  }
}

// MARK: Changes

extension HistoryWriter {
  private static let leadingColumns = [
    "Z_PK", "Z_ENT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS",
  ]

  private func write(_ changes: RecordedChanges, _ transaction: Int64) throws {
    let placement = try placement(of: changes.entityName)
    let ordinals = changes.kind == .delete ? placement.entity.tombstoneOrdinals(tables.propertyOrder) : []
    guard ordinals.count <= tables.tombstoneCount else { throw lacksColumns(placement.entity) }
    let keys = try raise(by: changes.references.count, tables.changeNumber, HistoryTables.changeTable)
    let bits = changes.kind == .update ? Data(bits(changes, placement.entity)) : nil
    let leading: [(any DatabaseValueConvertible)?] = [
      nil, tables.changeNumber, Int(changes.kind.rawValue), placement.number, nil, transaction, bits,
    ]
    if ordinals.isEmpty || changes.preservedValues.isEmpty { return try insert(changes, keys, leading) }
    let columns = Self.leadingColumns + ordinals.indices.map(HistoryTables.tombstoneColumn)
    for (index, key) in keys.enumerated() {
      var values = leading
      values[Self.keyIndex] = key
      values[Self.recordIndex] = try record(changes, index)
      values += try tombstone(ofRecordAt: index, changes, ordinals, placement)
      try insert(values, columns, HistoryTables.changeTable)
    }
  }

  private static let (keyIndex, recordIndex) = (0, 4)

  private func record(_ changes: RecordedChanges, _ index: Int) throws(PersistenceError) -> Int64 {
    try SQLiteKey.key(changes.references[index], path: path, entity: changes.entityName)
  }

  /// Adds rows that differ only in their own key and in the key of the record.
  private func insert(
    _ changes: RecordedChanges,
    _ keys: Range<Int64>,
    _ values: [(any DatabaseValueConvertible)?]
  ) throws {
    let places = values.map { _ in "?" }.joined(separator: ", ")
    let columns = Self.leadingColumns.joined(separator: ", ")
    let statement = try db.cachedStatement(
      sql: "INSERT INTO \(HistoryTables.changeTable) (\(columns)) VALUES (\(places))"
    )
    try statement.setArguments(StatementArguments(values))
    let raw = statement.sqliteStatement
    defer {
      sqlite3_reset(raw)
      sqlite3_clear_bindings(raw)
    }
    for (index, key) in keys.enumerated() {
      sqlite3_reset(raw)
      sqlite3_bind_int64(raw, CInt(Self.keyIndex + 1), key)
      sqlite3_bind_int64(raw, CInt(Self.recordIndex + 1), try record(changes, index))
      let code = sqlite3_step(raw)
      guard code == SQLITE_DONE else { throw SQLiteFailure.step(code, of: raw) }
    }
  }

  private func bits(_ changes: RecordedChanges, _ entity: EntityDescription) -> [UInt8] {
    ChangedProperties(entity, tables.propertyOrder).bits(of: changes.propertyNames)
  }

  /// Returns the values that are kept of a deleted record, as they were in its row.
  private func tombstone(
    ofRecordAt index: Int,
    _ changes: RecordedChanges,
    _ ordinals: [Int],
    _ placement: EntityPlacement
  ) throws -> [(any DatabaseValueConvertible)?] {
    guard changes.preservedValues.indices.contains(index) else { return ordinals.map { _ in nil } }
    let values = changes.preservedValues[index]
    return try ordinals.map { ordinal in
      let name = placement.entity.properties[ordinal].name
      guard let place = changes.propertyNames.firstIndex(of: name), values.indices.contains(place),
        case .attribute(let attribute) = placement.properties[ordinal]
      else { return nil }
      return try StoredValue(placement.entity.name, name, path).value(values[place], attribute.storage)
    }
  }

  private func placement(of name: String) throws(PersistenceError) -> EntityPlacement {
    if let entity = schema.model.entity(named: name) { return try schema.keptPlacement(of: entity, path: path) }
    throw PersistenceError(
      .modelIncompatible,
      "The history names an entity that the model does not have.",
      recovery: "Leave the history out: set tracksPersistentHistory to false for the new store.",
      context: .init(path: path, storeType: .sqlite, entity: name)
    )
  }

  private func lacksColumns(_ entity: EntityDescription) -> PersistenceError {
    PersistenceError(
      .capabilityMissing,
      "The history of the file has no columns for the values that are preserved of deleted records of the entity.",
      context: .init(path: path, storeType: .sqlite, entity: entity.name)
    )
  }
}

extension RecordedTransaction {
  /// The origin of the save, by the names that the file uses.
  fileprivate var origins: [(HistoryTables.Origin, String?)] {
    [(.author, author), (.bundleID, bundleID), (.contextName, contextName), (.processID, processID)]
  }
}
