import GRDB
import GRDBSQLite
import HeartwoodModel
import HeartwoodStore

/// Reads records of one entity: one pass over its rows, or over ranges of them, with a cursor beside it for each to-many relationship.
struct RecordReader: Sendable {
  let mapping: EntityMapping
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

  init(_ mapping: EntityMapping, schema: SQLiteSchema, path: String) throws {
    self.mapping = mapping
    self.path = path
    externalFiles = ExternalFiles(ofStoreAt: path)
    unkept = mapping.properties.indices.filter { mapping.properties[$0] == nil }
    for (ordinal, property) in mapping.entity.properties.enumerated() {
      switch (mapping.properties[ordinal], property) {
      case (.attribute(let place), .attribute(let attribute)):
        let index = add(place.column)
        attributes.append((ordinal, ColumnReader(type: attribute.type, storage: place.storage, index: index)))
      case (.toOne(let place), .relationship(let relationship)):
        let destination = try EntityResolver(relationship, of: mapping.entity, schema: schema, path: path)
        let index = add(place.column)
        let entityIndex = place.entityColumn.map { add($0) }
        toOnes.append((ordinal, ReferenceReader(index: index, entityIndex: entityIndex, destination: destination)))
      case (.toMany, .relationship(let relationship)), (.join, .relationship(let relationship)):
        let destination = try EntityResolver(relationship, of: mapping.entity, schema: schema, path: path)
        if let query = RelatedKeys.Query(mapping.properties[ordinal], mapping, destination) {
          toManies.append((ordinal, query))
        }
      default: break
      }
    }
    let names = ["Z_PK", "Z_OPT"] + columns.map(SQLiteName.quoted)
    query =
      "SELECT \(names.joined(separator: ", ")) FROM \(SQLiteName.quoted(mapping.tableName))"
      + " WHERE Z_PK BETWEEN ? AND ? AND Z_ENT = \(mapping.number) ORDER BY Z_PK"
  }

  private mutating func add(_ column: String) -> CInt {
    columns.append(column)
    return Self.leadingColumns + CInt(columns.count - 1)
  }
}

extension RecordReader {
  /// All records of the entity itself, in the order of their keys.
  func table(_ db: Database) throws -> NodeTable {
    try table(db, [KeyRun(range: .min ... .max, keys: nil)])
  }

  /// The records that have `keys`, in their order.
  func table(_ keys: [Int64], _ db: Database) throws -> NodeTable {
    try table(db, KeyRun.runs(of: keys))
  }

  private func table(_ db: Database, _ runs: [KeyRun]) throws -> NodeTable {
    let rows = GroupedRows(mapping.entity)
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
        if run.keys == nil || next == key { try append(statement.sqliteStatement, key, related, rows.builder()) }
      }
    }
    return NodeTable(entity: mapping.entity, groups: rows.finish())
  }

  private func append(
    _ row: SQLiteStatement,
    _ key: Int64,
    _ related: [(ordinal: Int, keys: RelatedKeys)],
    _ builder: RowGroupBuilder
  ) throws {
    builder.beginRow(.integer(key), version: UInt64(clamping: max(1, sqlite3_column_int64(row, 1))))
    do {
      for (ordinal, reader) in attributes { try reader.append(row, to: builder.columns[ordinal], externalFiles) }
      for (ordinal, reader) in toOnes { try reader.append(row, to: builder.columns[ordinal]) }
      for (ordinal, keys) in related { builder.columns[ordinal].append(toMany: try keys.next(ofOwner: key)) }
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
      "The row with the key \(key) of the table \(mapping.tableName) \(fault.text).",
      context: .init(
        path: path,
        storeType: .sqlite,
        entity: mapping.entity.name,
        property: mapping.entity.properties[ordinal].name
      )
    )
  }
}

/// Builds groups one after the other.
private final class GroupedRows {
  private let current: RowGroupBuilder
  private var groups: [RowGroup] = []

  init(_ entity: EntityDescription) {
    current = RowGroupBuilder(entity: entity)
  }

  /// What takes the next row.
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
  let mapping: EntityMapping
  /// The ordinals of the destination and of what inherits from it, by number; none for abstract ones.
  private let ordinals: [Int: Int]
  /// Whether all records at the end are of one entity.
  let isSingle: Bool

  init(
    _ relationship: RelationshipDescription,
    of entity: EntityDescription,
    schema: SQLiteSchema,
    path: String
  ) throws(PersistenceError) {
    guard let destination = schema.model.entity(named: relationship.destinationEntityName),
      let mapping = schema.mapping(of: destination)
    else {
      throw PersistenceError(
        .entityUnknown,
        "The relationship leads to an entity that the store does not keep.",
        context: .init(path: path, storeType: .sqlite, entity: entity.name, property: relationship.name)
      )
    }
    self.mapping = mapping
    let members = schema.entities.compactMap(\.self).filter {
      $0.entity.isKind(of: destination) && !$0.entity.isAbstract
    }
    ordinals = Dictionary(members.map { ($0.number, $0.entity.ordinal) }) { first, _ in first }
    isSingle = members.count == 1
  }

  /// The ordinal of the entity with `number`; nil means that nothing tells.
  func ordinal(_ number: Int?) throws(ColumnReader.Fault) -> Int {
    if isSingle || number == nil, let ordinal = ordinals[number ?? mapping.number] ?? single { return ordinal }
    if let number, let ordinal = ordinals[number] { return ordinal }
    throw ColumnReader.Fault(
      number.map { "leads to a record of the entity with the number \($0), which is not \(mapping.entity.name)" }
        ?? "does not tell the entity of the record that it leads to"
    )
  }

  private var single: Int? { isSingle ? ordinals.values.first : nil }
}
