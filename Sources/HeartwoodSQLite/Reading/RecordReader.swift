import GRDB
import GRDBSQLite
import HeartwoodModel
import HeartwoodStore

/// Reads records of one entity: in one pass over its rows, or over ranges of them, with a parallel cursor for each
/// to-many relationship.
struct RecordReader: Sendable {
  let placement: EntityPlacement
  let path: String
  /// The columns of the statement after the leading ones, in order.
  private var columns: [String] = []
  private(set) var attributes: [(ordinal: Int, reader: ColumnReader)] = []
  private(set) var toOnes: [(ordinal: Int, reader: ReferenceReader)] = []
  private(set) var toManies: [(ordinal: Int, query: RelatedKeys.Query)] = []
  /// The properties that no store keeps.
  let unkept: [Int]
  let externalFiles: ExternalFiles
  /// Counts files that cannot be read, each of which costs only its value; nil if such a value makes the record
  /// unreadable, as any other does.
  private let missingFiles: MissingFiles?
  let strays: StrayRows

  /// The statement that reads all rows of a range of keys.
  private var query = ""
  /// The statement that reads these rows and also rows of no entity, which may not be among the requested ones.
  private var thoroughQuery = ""

  /// The number of leading columns: the key and the version.
  private static let leadingColumns: CInt = 2

  init(_ placement: EntityPlacement, schema: SQLiteSchema, path: String, missingFiles: MissingFiles?) throws {
    self.placement = placement
    self.path = path
    self.missingFiles = missingFiles
    externalFiles = ExternalFiles(ofStoreAt: path)
    strays = StrayRows(placement, schema)
    unkept = placement.properties.indices.filter { placement.properties[$0] == nil }
    for (ordinal, property) in placement.entity.properties.enumerated() {
      switch (placement.properties[ordinal], property) {
      case (.attribute(let place), .attribute(let attribute)):
        let index = add(place.column)
        attributes.append((ordinal, ColumnReader(type: attribute.type, storage: place.storage, index: index)))
      case (.toOne(let place), .relationship(let relationship)):
        let destination = try EntityResolver(relationship, of: placement.entity, schema: schema, path: path)
        let index = add(place.column)
        let entityIndex = place.entityColumn.map { add($0) }
        toOnes.append((ordinal, ReferenceReader(index: index, entityIndex: entityIndex, destination: destination)))
      case (.toMany, .relationship(let relationship)), (.join, .relationship(let relationship)):
        let destination = try EntityResolver(relationship, of: placement.entity, schema: schema, path: path)
        if let query = RelatedKeys.Query(placement.properties[ordinal], placement, destination) {
          toManies.append((ordinal, query))
        }
      default: break
      }
    }
    query = text(version: "Z_OPT", where: strays.wholeCondition)
    // A version is never an empty blob: that marks a row of no entity.
    thoroughQuery = text(version: "iif(Z_ENT = \(placement.number), Z_OPT, x'')", where: strays.condition)
  }

  private func text(version: String, where condition: String) -> String {
    let names = ["Z_PK", version] + columns.map(SQLiteName.quoted)
    return "SELECT \(names.joined(separator: ", ")) FROM \(SQLiteName.quoted(placement.tableName))"
      + " WHERE Z_PK BETWEEN ? AND ? AND \(condition) ORDER BY Z_PK"
  }

  private mutating func add(_ column: String) -> CInt {
    columns.append(column)
    return Self.leadingColumns + CInt(columns.count - 1)
  }
}

extension RecordReader {
  /// Returns the records of the entity itself with keys in a range, in the order of the keys.
  func groups(_ range: ClosedRange<Int64>, _ db: Database) throws -> [RowGroup] {
    try tellingStrays { try groups([KeyRun(range: range, keys: nil)], db) }
  }

  /// Calls `body`, and throws the fault of the row of no entity that ended its statement, if any.
  func tellingStrays<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let failure as DatabaseError {
      if let key = StrayRows.key(in: failure) { throw error(strays.fault, key, ordinal: nil) }
      throw failure
    }
  }

  /// Returns the records with `keys`, in the order of the keys.
  func groups(withKeys keys: [Int64], _ db: Database) throws -> [RowGroup] { try groups(KeyRun.runs(of: keys), db) }

  private func groups(_ runs: [KeyRun], _ db: Database) throws -> [RowGroup] {
    let rows = GroupedRows(placement.entity, attributes, toOnes)
    let isOfAll = runs.allSatisfy { $0.keys == nil }
    try forEachRow(runs, db, isThorough: !isOfAll) { row, key, related in try append(row, key, related, rows) }
    return rows.finish()
  }

  /// Calls `body` with the statement at each row, the key of the row, and the readers of the to-many relationships.
  ///
  /// - Parameter isThorough: whether rows of no entity are included; otherwise such a row ends the statement.
  func forEachRow(
    _ runs: [KeyRun],
    _ db: Database,
    isThorough: Bool,
    _ body: (SQLiteStatement, Int64, [(ordinal: Int, keys: RelatedKeys)]) throws -> Void
  ) throws {
    let statement = try db.cachedStatement(sql: isThorough ? thoroughQuery : query)
    let related = try toManies.map { (ordinal: $0.ordinal, keys: try RelatedKeys($0.query, db)) }
    // A statement at a row prevents writing to the file.
    defer {
      statement.end()
      for (_, keys) in related { keys.end() }
    }
    for run in runs {
      try statement.begin(run.range)
      for (_, keys) in related { try keys.begin(run.range) }
      var wanted = run.keys?.makeIterator()
      var next = wanted?.next()
      while try statement.nextRow() {
        let key = sqlite3_column_int64(statement.sqliteStatement, 0)
        while let other = next, other < key { next = wanted?.next() }
        if run.keys == nil || next == key { try body(statement.sqliteStatement, key, related) }
      }
    }
  }

  private func append(
    _ row: SQLiteStatement,
    _ key: Int64,
    _ related: [(ordinal: Int, keys: RelatedKeys)],
    _ rows: GroupedRows
  ) throws {
    let builder = rows.builder()
    do {
      builder.beginRow(.integer(key), version: try version(row))
      for (reader, unsafeColumn) in rows.unsafeFields {
        try unsafeColumn._withUnsafeGuaranteedRef { column in
          do {
            try reader.append(row, to: column, externalFiles)
          } catch let fault as ValueFault where fault.isOfFile && missingFiles != nil {
            missingFiles?.note()
            column.append(unreadable: error(fault, key, ordinal: builder.columns.firstIndex { $0 === column }))
          }
        }
      }
      for (reader, unsafeColumn) in rows.unsafeToOnes {
        try reader._withUnsafeGuaranteedRef { reader in
          try unsafeColumn._withUnsafeGuaranteedRef { try reader.append(row, to: $0) }
        }
      }
      for (ordinal, keys) in related { try keys.append(ofOwner: key, to: builder.columns[ordinal]) { throw $0 } }
    } catch let fault as ValueFault {
      throw error(fault, key, ordinal: ordinal(unreadIn: builder))
    }
    for ordinal in unkept { builder.columns[ordinal].appendNull() }
  }

  /// Returns the version in a row, which must be a version of the entity. A row without one has the first version.
  @inline(__always)
  func version(_ row: SQLiteStatement) throws(ValueFault) -> UInt64 {
    let form = sqlite3_column_type(row, 1)
    if form != SQLITE_INTEGER, form != SQLITE_NULL { throw versionFault(row, form) }
    return UInt64(clamping: max(1, sqlite3_column_int64(row, 1)))
  }

  @inline(never)
  private func versionFault(_ row: SQLiteStatement, _ form: CInt) -> ValueFault {
    if form == SQLITE_BLOB, sqlite3_column_bytes(row, 1) == 0 { return strays.fault }
    return ValueFault(found: form, insteadOf: "the number of its version (Z_OPT)")
  }

  /// Returns the property that could not be read: the columns before it have one value more. Nil if the row itself was
  /// refused, before it began.
  private func ordinal(unreadIn builder: RowGroupBuilder) -> Int? {
    let all = attributes.map(\.ordinal) + toOnes.map(\.ordinal) + toManies.map(\.ordinal)
    return all.first { builder.columns[$0].rowCount < builder.rowCount }
  }

  /// Returns the error for a fault in the row with `key`.
  func error(_ fault: ValueFault, _ key: Int64, ordinal: Int?) -> PersistenceError {
    fault.error(
      in: .init(table: placement.tableName, key: key),
      .init(
        path: path,
        storeType: .sqlite,
        entity: placement.entity.name,
        property: ordinal.map { placement.entity.properties[$0].name }
      )
    )
  }
}

/// Builds groups one after the other.
private final class GroupedRows {
  private let current: RowGroupBuilder
  private var groups: [RowGroup] = []
  // The reader of each property, and the column for its values, without reference counting. The columns live as long as
  // the builder, which keeps them, and the readers as long as the record reader, which uses this.
  let unsafeFields: [(reader: ColumnReader, column: Unmanaged<ColumnBuilder>)]
  let unsafeToOnes: [(reader: Unmanaged<ReferenceReader>, column: Unmanaged<ColumnBuilder>)]

  init(
    _ entity: EntityDescription,
    _ attributes: [(ordinal: Int, reader: ColumnReader)],
    _ toOnes: [(ordinal: Int, reader: ReferenceReader)]
  ) {
    let builder = RowGroupBuilder(entity: entity)
    unsafeFields = attributes.map { ($0.reader, .passUnretained(builder.columns[$0.ordinal])) }
    unsafeToOnes = toOnes.map { (.passUnretained($0.reader), .passUnretained(builder.columns[$0.ordinal])) }
    current = builder
  }

  /// Returns the builder for the next row.
  @inline(__always)
  func builder() -> RowGroupBuilder {
    if current.isFull { groups.append(current.sealed()) }
    return current
  }

  func finish() -> [RowGroup] {
    current.rowCount > 0 ? groups + [current.sealed()] : groups
  }
}

// MARK: Examining

// MARK: All that cannot be read

extension RecordReader {
  /// Reads all records of the entity, value by value, by the same rules as ``groups(_:_:)``, and continues after each
  /// that cannot be read. It takes as long as reading the table; the records are not kept.
  ///
  /// - Parameter note: called with each fault, row by row, and with the row if the fault can be found from several
  ///   sides, because the row belongs to no entity or is a link.
  func examine(_ db: Database, _ note: (UnreadableValue, ValueFault.Row?) -> Void) throws {
    func tell(_ fault: ValueFault, _ key: Int64?, _ ordinal: Int?) {
      let row = fault.row ?? (ordinal == nil ? .init(table: placement.tableName, key: key) : nil)
      note(unreadable(fault, key, ordinal), row?.key == nil ? nil : row)
    }
    try forEachStray(db, nil) { tell($0, nil, $1) }
    let builder = RowGroupBuilder(entity: placement.entity)
    try forEachRow([KeyRun(range: .min ... .max, keys: nil)], db, isThorough: true) { row, key, related in
      if builder.isFull { _ = builder.sealed() }
      try examine(row, key, related, builder) { tell($0, key, $1) }
    }
  }

  private func examine(
    _ row: SQLiteStatement,
    _ key: Int64,
    _ related: [(ordinal: Int, keys: RelatedKeys)],
    _ builder: RowGroupBuilder,
    _ note: (ValueFault, _ ordinal: Int?) -> Void
  ) throws {
    do throws(ValueFault) {
      builder.beginRow(.integer(key), version: try version(row))
    } catch {
      // The rest of a row of no entity cannot be interpreted either.
      return note(error, nil)
    }
    for (ordinal, reader) in attributes {
      try append(ordinal, to: builder, note) { try reader.append(row, to: $0, externalFiles) }
    }
    for (ordinal, reader) in toOnes {
      try append(ordinal, to: builder, note) { try reader.append(row, to: $0) }
    }
    for (ordinal, keys) in related {
      try keys.append(ofOwner: key, to: builder.columns[ordinal]) { note($0, ordinal) }
    }
    for ordinal in unkept { builder.columns[ordinal].appendNull() }
  }

  /// Appends a value, or an empty one if it cannot be read.
  private func append(
    _ ordinal: Int,
    to builder: RowGroupBuilder,
    _ note: (ValueFault, _ ordinal: Int?) -> Void,
    _ body: (ColumnBuilder) throws -> Void
  ) throws {
    let column = builder.columns[ordinal]
    do {
      try body(column)
    } catch let fault as ValueFault {
      note(fault, ordinal)
      column.appendNull()
    }
  }

  private func unreadable(_ fault: ValueFault, _ key: Int64?, _ ordinal: Int?) -> UnreadableValue {
    let row = fault.row
    // A row of this table is a record of this entity; any other row is a link.
    let recordKey = row == nil ? key : row?.table == placement.tableName ? row?.key : nil
    return UnreadableValue(
      reference: recordKey.map { .integer($0) },
      costsValueOnly: fault.isOfFile,
      error: error(fault, key ?? 0, ordinal: ordinal)
    )
  }
}
