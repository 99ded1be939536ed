import GRDB
import GRDBSQLite
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The statement that inserts records of one entity. Its arguments are bound directly from columns, without
/// intermediate values.
struct InsertStatement {
  private enum Source {
    case attribute(ordinal: Int, AttributeStorage)
    case toOne(ordinal: Int)
    /// The number of the entity of a to-one relationship's destination.
    case destination(ordinal: Int)
  }

  private static let leadingColumns: CInt = 3

  private let placement: EntityPlacement
  private let schema: SQLiteSchema
  private let path: String
  private let externals: ExternalChanges
  private var sources: [Source] = []
  private var columns: [String] = []

  init(_ placement: EntityPlacement, schema: SQLiteSchema, path: String, externals: ExternalChanges) {
    self.placement = placement
    self.schema = schema
    self.path = path
    self.externals = externals
    for (ordinal, property) in placement.properties.enumerated() {
      switch property {
      case .attribute(let place):
        add(.attribute(ordinal: ordinal, place.storage), place.column)
      case .toOne(let place):
        add(.toOne(ordinal: ordinal), place.column)
        if let entityColumn = place.entityColumn { add(.destination(ordinal: ordinal), entityColumn) }
      default: break
      }
    }
  }

  private mutating func add(_ source: Source, _ column: String) {
    sources.append(source)
    columns.append(column)
  }

  private var text: String {
    let names = ["Z_PK", "Z_ENT", "Z_OPT"] + columns.map(SQLiteName.quoted)
    let marks = Array(repeating: "?", count: names.count).joined(separator: ", ")
    return "INSERT INTO \(SQLiteName.quoted(placement.tableName)) (\(names.joined(separator: ", "))) VALUES (\(marks))"
  }

  /// Inserts all records of `groups`.
  func run(_ groups: [RowGroup], _ db: Database) throws {
    let statement = try db.cachedStatement(sql: text)
    let raw = statement.sqliteStatement
    defer {
      sqlite3_reset(raw)
      sqlite3_clear_bindings(raw)
    }
    for group in groups {
      // The bound pointers refer to the group, which is kept until the row is inserted.
      try withExtendedLifetime(group) {
        // The references of a relationship are accessed once for all rows.
        let references = group.columns.map(\.references)
        for row in 0..<group.rowCount {
          try bind(row, of: group, references, raw)
          let code = sqlite3_step(raw)
          guard code == SQLITE_DONE else { throw failure(code, raw, group.references[row]) }
          sqlite3_reset(raw)
        }
      }
    }
  }

  private func failure(_ code: CInt, _ statement: SQLiteStatement, _ reference: ReferenceID) -> any Error {
    let failure = SQLiteFailure.step(code, of: statement)
    let context = PersistenceError.Context(path: path, storeType: .sqlite, entity: placement.entity.name)
    switch failure.extendedResultCode {
    case .SQLITE_CONSTRAINT_PRIMARYKEY, .SQLITE_CONSTRAINT_ROWID:
      return PersistenceError(
        .duplicateReference,
        "A row with the key \(reference.text) is in the table \(placement.tableName) already.",
        recovery: "Give the record a key of its own, or none.",
        context: context
      )
    case .SQLITE_CONSTRAINT_UNIQUE:
      return PersistenceError(
        .constraintConflict,
        "The record \(reference.text) has values that another one has, and that must be unique "
          + "(\(failure.message ?? "")).",
        recovery: "Change one of the two.",
        context: context
      )
    default: return failure
    }
  }
}

// MARK: Binding

extension InsertStatement {
  private func bind(
    _ row: Int,
    of group: RowGroup,
    _ references: [ReferenceColumn?],
    _ statement: SQLiteStatement
  ) throws {
    sqlite3_bind_int64(
      statement,
      1,
      try SQLiteKey.key(group.references[row], path: path, entity: placement.entity.name)
    )
    sqlite3_bind_int64(statement, 2, Int64(placement.number))
    sqlite3_bind_int64(statement, 3, Int64(clamping: group.versions[row]))
    for (place, source) in sources.enumerated() {
      let index = Self.leadingColumns + 1 + CInt(place)
      switch source {
      case .attribute(let ordinal, let storage):
        try bind(ordinal, row, of: group, index, storage, statement)
      case .toOne(let ordinal), .destination(let ordinal):
        if group.hasValue(ordinal, in: row) {
          bind(references[ordinal].flatMap { number(source, $0, row) }, index, statement)
        } else {
          sqlite3_bind_null(statement, index)
        }
      }
    }
  }

  /// Returns the value for the column of a to-one relationship, or for the one beside it.
  private func number(_ source: Source, _ references: ReferenceColumn, _ row: Int) -> Int64? {
    if case .destination = source {
      return schema.entities[references.entityOrdinal(row)].map { Int64($0.number) }
    }
    if case .integer(let key) = references[row] { return key }
    return nil
  }

  private func bind(_ number: Int64?, _ index: CInt, _ statement: SQLiteStatement) {
    if let number {
      sqlite3_bind_int64(statement, index, number)
    } else {
      sqlite3_bind_null(statement, index)
    }
  }

  /// Returns the writer for the values of a property, which names it if a value cannot be kept.
  private func storedValue(_ ordinal: Int) -> StoredValue {
    StoredValue(placement.entity.name, placement.entity.properties[ordinal].name, path)
  }

  @inline(__always)
  private func number(_ number: Double, _ ordinal: Int) throws -> Double {
    number.isNaN ? try storedValue(ordinal).number(number) : number
  }

  /// Binds a value, whose bytes stay where they are as long as the group exists.
  @inline(__always)
  private func bind(
    _ ordinal: Int,
    _ row: Int,
    of group: RowGroup,
    _ index: CInt,
    _ storage: AttributeStorage,
    _ statement: SQLiteStatement
  ) throws {
    guard group.hasValue(ordinal, in: row) else {
      sqlite3_bind_null(statement, index)
      return
    }
    switch group.columns[ordinal].kind {
    case .bits: sqlite3_bind_int64(statement, index, group.boolean(ordinal, in: row) ? 1 : 0)
    case .int16, .int32, .int64: sqlite3_bind_int64(statement, index, group.integer(ordinal, in: row))
    case .double: sqlite3_bind_double(statement, index, try number(group.double(ordinal, in: row), ordinal))
    case .float: sqlite3_bind_double(statement, index, try number(Double(group.float(ordinal, in: row)), ordinal))
    case .decimal: try bindDecimal(group.decimal(ordinal, in: row), index, storedValue(ordinal), statement)
    case .uuid: withUnsafeBytes(of: group.uuid(ordinal, in: row).uuid) { Self.bindCopy($0, index, statement) }
    case .bytes:
      try group.withBytes(ordinal, in: row) { bytes in
        try bytes.withUnsafeBytes { try bindBytes($0, index, ordinal, storage, statement) }
      }
    case .absent, .toOne, .toMany: sqlite3_bind_null(statement, index)
    }
  }

  private func bindDecimal(
    _ number: Decimal,
    _ index: CInt,
    _ value: StoredValue,
    _ statement: SQLiteStatement
  ) throws {
    if number.isNaN {
      sqlite3_bind_text(statement, index, StoredValue.noNumber, -1, Self.transient)
    } else {
      sqlite3_bind_double(statement, index, try value.real(number))
    }
  }

  private func bindBytes(
    _ bytes: UnsafeRawBufferPointer,
    _ index: CInt,
    _ ordinal: Int,
    _ storage: AttributeStorage,
    _ statement: SQLiteStatement
  ) throws {
    if bytes.count > StoredValue.greatestLength, !StoredValue.isExternal(storage) {
      // Otherwise SQLite would bind nothing.
      try storedValue(ordinal).checkLength(bytes.count)
    }
    switch storage {
    // Empty data may have no address, and a null address would mean that there is no value.
    case .text where bytes.isEmpty, .uri where bytes.isEmpty: sqlite3_bind_text(statement, index, "", 0, Self.transient)
    case .text, .uri:
      let text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      sqlite3_bind_text64(statement, index, text, UInt64(bytes.count), nil, UInt8(SQLITE_UTF8))
    case .externalBlob:
      try externals.cell(for: bytes).withUnsafeBytes { Self.bindCopy($0, index, statement) }
    default:
      if bytes.isEmpty {
        sqlite3_bind_zeroblob(statement, index, 0)
      } else {
        sqlite3_bind_blob64(statement, index, bytes.baseAddress, UInt64(bytes.count), nil)
      }
    }
  }

  /// Makes SQLite copy the bytes before the call returns.
  private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

  private static func bindCopy(_ bytes: UnsafeRawBufferPointer, _ index: CInt, _ statement: SQLiteStatement) {
    sqlite3_bind_blob64(statement, index, bytes.baseAddress, UInt64(bytes.count), Self.transient)
  }
}

// MARK: DeferredIndexes

/// The indexes of an empty table, dropped while many rows are inserted, and created for all rows at once afterwards:
/// that is faster than updating them row by row, especially if the rows are not in their order.
struct DeferredIndexes {
  /// The minimum number of rows for which this is worthwhile.
  private static let leastRowCount = 1 << 14

  /// The statements that create the indexes.
  private let statements: [String]

  /// Drops the indexes of a table that gets `rowCount` rows, if it has none yet. The caller must have begun a
  /// transaction.
  init(of table: String, for rowCount: Int, _ db: Database) throws {
    guard rowCount >= Self.leastRowCount, try Self.isEmpty(table, db) else {
      statements = []
      return
    }
    // Indexes that SQLite created itself, to keep a column unique, have no statement.
    let query = "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL"
    let indexes = try Row.fetchAll(db, sql: query, arguments: [table]).compactMap { row in
      // In a file that was tampered with, either may not be text.
      String.fromDatabaseValue(row[0]).flatMap { name in String.fromDatabaseValue(row[1]).map { (name, $0) } }
    }
    for (name, _) in indexes { try db.execute(sql: "DROP INDEX \(SQLiteName.quoted(name))") }
    statements = indexes.map(\.1)
  }

  private static func isEmpty(_ table: String, _ db: Database) throws -> Bool {
    try Row.fetchOne(db, sql: "SELECT 1 FROM \(SQLiteName.quoted(table)) LIMIT 1") == nil
  }

  /// Creates the indexes again.
  func restore(_ db: Database) throws {
    for statement in statements { try db.execute(sql: statement) }
  }
}
