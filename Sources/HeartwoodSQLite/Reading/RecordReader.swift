import GRDB
import GRDBSQLite
import HeartwoodModel
import HeartwoodStore

/// Reads records of one entity: one pass over its rows, or over ranges of them, with a cursor beside it for each to-many relationship.
struct RecordReader: Sendable {
  let placement: EntityPlacement
  private let path: String
  /// The columns of the statement behind the key and the version, in order.
  private var columns: [String] = []
  private var attributes: [(ordinal: Int, reader: ColumnReader)] = []
  private var toOnes: [(ordinal: Int, reader: ReferenceReader)] = []
  private var toManies: [(ordinal: Int, query: RelatedKeys.Query)] = []
  /// The properties that no store keeps.
  private let unkept: [Int]
  private let externalFiles: ExternalFiles

  /// The statement that reads rows, of a range of keys.
  private var query = ""

  private static let leadingColumns: CInt = 2

  init(_ placement: EntityPlacement, schema: SQLiteSchema, path: String) throws {
    self.placement = placement
    self.path = path
    externalFiles = ExternalFiles(ofStoreAt: path)
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
    let names = ["Z_PK", "Z_OPT"] + columns.map(SQLiteName.quoted)
    query =
      "SELECT \(names.joined(separator: ", ")) FROM \(SQLiteName.quoted(placement.tableName))"
      + " WHERE Z_PK BETWEEN ? AND ? AND Z_ENT = \(placement.number) ORDER BY Z_PK"
  }

  private mutating func add(_ column: String) -> CInt {
    columns.append(column)
    return Self.leadingColumns + CInt(columns.count - 1)
  }
}

extension RecordReader {
  /// The records of the entity itself with keys in a range, in the order of these.
  func groups(_ range: ClosedRange<Int64>, _ db: Database) throws -> [RowGroup] {
    try groups([KeyRun(range: range, keys: nil)], db)
  }

  /// The records that have `keys`, in the order of these.
  func table(_ keys: [Int64], _ db: Database) throws -> NodeTable {
    NodeTable(entity: placement.entity, groups: try groups(KeyRun.runs(of: keys), db))
  }

  private func groups(_ runs: [KeyRun], _ db: Database) throws -> [RowGroup] {
    let rows = GroupedRows(placement.entity, attributes, toOnes)
    let statement = try db.cachedStatement(sql: query)
    let related = try toManies.map { (ordinal: $0.ordinal, keys: try RelatedKeys($0.query, db)) }
    // A statement that is at a row keeps the file from being written.
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
        if run.keys == nil || next == key { try append(statement.sqliteStatement, key, related, rows) }
      }
    }
    return rows.finish()
  }

  private func append(
    _ row: SQLiteStatement,
    _ key: Int64,
    _ related: [(ordinal: Int, keys: RelatedKeys)],
    _ rows: GroupedRows
  ) throws {
    let builder = rows.builder()
    builder.beginRow(.integer(key), version: UInt64(clamping: max(1, sqlite3_column_int64(row, 1))))
    do {
      for (reader, unsafeColumn) in rows.unsafeFields {
        try unsafeColumn._withUnsafeGuaranteedRef { try reader.append(row, to: $0, externalFiles) }
      }
      for (reader, unsafeColumn) in rows.unsafeToOnes {
        try reader._withUnsafeGuaranteedRef { reader in
          try unsafeColumn._withUnsafeGuaranteedRef { try reader.append(row, to: $0) }
        }
      }
      for (ordinal, keys) in related { try keys.append(ofOwner: key, to: builder.columns[ordinal]) }
    } catch let fault as ColumnReader.Fault {
      throw error(fault, key, builder)
    }
    for ordinal in unkept { builder.columns[ordinal].appendNull() }
  }

  private func error(_ fault: ColumnReader.Fault, _ key: Int64, _ builder: RowGroupBuilder) -> PersistenceError {
    // The columns before the one that failed have a value more.
    let all = attributes.map(\.ordinal) + toOnes.map(\.ordinal) + toManies.map(\.ordinal)
    let ordinal = all.first { builder.columns[$0].rowCount < builder.rowCount } ?? 0
    return PersistenceError(
      .fileMalformed,
      "The row with the key \(key) of the table \(placement.tableName) \(fault.text).",
      context: .init(
        path: path,
        storeType: .sqlite,
        entity: placement.entity.name,
        property: placement.entity.properties[ordinal].name
      )
    )
  }
}

/// Builds groups one after the other.
private final class GroupedRows {
  private let current: RowGroupBuilder
  private var groups: [RowGroup] = []
  // What reads each property, and the column that it goes to: reached without counting references. The columns live as long as the
  // builder, which keeps them, and the readers as long as the record reader, by which this is used.
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

  /// What takes the next row.
  @inline(__always)
  func builder() -> RowGroupBuilder {
    if current.isFull { groups.append(current.sealed()) }
    return current
  }

  func finish() -> [RowGroup] {
    current.rowCount > 0 ? groups + [current.sealed()] : groups
  }
}

/// Reads the key of the one record that a relationship leads to.
///
/// It is an object, since copies of it are made for each row.
final class ReferenceReader: Sendable {
  private let index: CInt
  private let entityIndex: CInt?
  private let destination: EntityResolver

  init(index: CInt, entityIndex: CInt?, destination: EntityResolver) {
    self.index = index
    self.entityIndex = entityIndex
    self.destination = destination
  }

  func append(_ statement: SQLiteStatement, to column: ColumnBuilder) throws {
    if sqlite3_column_type(statement, index) == SQLITE_NULL { return column.appendNull() }
    let key = sqlite3_column_int64(statement, index)
    var number: Int?
    if let entityIndex, sqlite3_column_type(statement, entityIndex) != SQLITE_NULL {
      number = Int(clamping: sqlite3_column_int64(statement, entityIndex))
    }
    column.append(toOne: .integer(key), entityOrdinal: try destination.ordinal(number))
  }
}

/// Finds the entity that a record at the end of a relationship is of.
struct EntityResolver {
  let placement: EntityPlacement
  /// The ordinals of the destination and of what inherits from it, by number; none for abstract ones.
  private let ordinals: [Int: Int]
  /// The ordinal of the one entity that all records at the end are of; nil where they may be of several.
  let singleOrdinal: Int?

  init(
    _ relationship: RelationshipDescription,
    of entity: EntityDescription,
    schema: SQLiteSchema,
    path: String
  ) throws(PersistenceError) {
    guard let destination = schema.model.entity(named: relationship.destinationEntityName),
      let placement = schema.placement(of: destination)
    else {
      throw PersistenceError(
        .entityUnknown,
        "The relationship leads to an entity that the store does not keep.",
        context: .init(path: path, storeType: .sqlite, entity: entity.name, property: relationship.name)
      )
    }
    self.placement = placement
    let members = schema.entities.compactMap(\.self).filter {
      $0.entity.isKind(of: destination) && !$0.entity.isAbstract
    }
    ordinals = Dictionary(members.map { ($0.number, $0.entity.ordinal) }) { first, _ in first }
    singleOrdinal = members.count == 1 ? members[0].entity.ordinal : nil
  }

  /// The ordinal of the entity with `number`; nil means that nothing tells.
  func ordinal(_ number: Int?) throws(ColumnReader.Fault) -> Int {
    if let ordinal = singleOrdinal ?? ordinals[number ?? placement.number] { return ordinal }
    throw ColumnReader.Fault(
      number.map { "leads to a record of the entity with the number \($0), which is not \(placement.entity.name)" }
        ?? "does not tell the entity of the record that it leads to"
    )
  }
}
