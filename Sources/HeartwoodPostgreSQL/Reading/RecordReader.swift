import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Reads records of one entity: one statement for their rows, preceded by one for each to-many relationship.
struct RecordReader {
  private let placement: EntityPlacement
  private let schema: PostgreSQLSchema
  private let selection: RowSelection

  init(_ placement: EntityPlacement, schema: PostgreSQLSchema) {
    self.placement = placement
    self.schema = schema
    selection = RowSelection(placement, schema: schema)
  }

  /// Reads all records, in the order of their keys.
  func readAll(_ connection: PostgreSQLConnection, into loader: StoreLoader) throws {
    let related = try RelatedRecords.all(placement, schema: schema, connection)
    let query = "\(selection.text)\(condition) ORDER BY r.id"
    // Rows that are copied do not tell their types.
    try selection.check(try connection.run("\(selection.text) LIMIT 0"))
    try connection.readRows(of: query) { row in
      try add(row, related, to: loader)
    }
  }

  /// The condition that a row is a record of the entity itself.
  private var condition: String {
    placement.isAlone ? "" : " WHERE r.entity = \(PostgreSQLName.literal(placement.entity.name))"
  }

  /// The maximum number of records per query.
  private static let keysPerQuery = 10_000

  /// Reads the records with `keys`, in the order of the keys. Missing records are left out.
  func read(_ keys: [UUID], _ connection: PostgreSQLConnection, into loader: StoreLoader) throws {
    let keys = Set(keys).sorted { $0.uuidString < $1.uuidString }
    let query =
      "\(selection.text)\(condition)\(placement.isAlone ? " WHERE" : " AND") r.id = ANY($1) ORDER BY r.id"
    for start in stride(from: 0, to: keys.count, by: Self.keysPerQuery) {
      let some = keys[start..<min(keys.count, start + Self.keysPerQuery)]
      let related = try RelatedRecords.of(some, placement, schema: schema, connection)
      let result = try connection.run(query, [.uuids(some)])
      try selection.check(result)
      try result.forEachRow { row in try add(row, related, to: loader) }
    }
  }

  private func add(_ row: PostgreSQLRow, _ related: [RelatedRecords], to loader: StoreLoader) throws {
    let key = try row.required(RowSelection.key, row.uuid)
    let version = try row.required(RowSelection.version, row.bigint)
    try loader.addNode(.uuid(key), to: placement.entity, version: UInt64(clamping: version)) {
      draft in
      for field in selection.fields {
        do {
          let value = try selection.value(field, row) { loader.objectID(.uuid($0), of: $1) }
          try draft.setValue(value, at: field.ordinal)
        } catch let fault as FieldFault {
          throw selection.error(fault, field, key)
        }
      }
      for relationship in related {
        guard let members = relationship.members[key] else { continue }
        try draft.setValue(
          .toMany(members.map { loader.objectID(.uuid($0.key), of: $0.entity) }),
          at: relationship.ordinal
        )
      }
    }
  }
}

// MARK: Examining

extension RecordReader {
  /// Reads all records, value by value, and continues after each that cannot be read.
  func examine(_ connection: PostgreSQLConnection, _ note: (UnreadableValue) -> Void) throws {
    let faults = try RelatedRecords.faults(placement, schema: schema, connection)
    try connection.readRows(of: "\(selection.text)\(condition) ORDER BY r.id") { row in
      guard let key = try row.uuid(RowSelection.key) else {
        return note(unreadable(nil, selection.keylessRow))
      }
      if row[RowSelection.version] == nil { note(unreadable(key, selection.versionlessRow(key))) }
      for field in selection.fields {
        do throws(FieldFault) {
          try selection.check(field, row)
        } catch {
          note(unreadable(key, selection.error(error, field, key)))
        }
      }
      for fault in faults[key] ?? [] { note(unreadable(key, fault)) }
    }
  }

  private func unreadable(_ key: UUID?, _ error: PersistenceError) -> UnreadableValue {
    UnreadableValue(reference: key.map(ReferenceID.uuid), costsValueOnly: false, error: error)
  }
}

// MARK: RowSelection

/// The part of a statement that selects the rows of an entity, called `r`, and the columns to read.
struct RowSelection {
  static let (key, version) = (0, 1)

  /// A property, and the indexes of its columns in a row.
  struct Field {
    enum Kind {
      case attribute(AttributePlacement, index: Int, exactIndex: Int?)
      /// Includes the index of the destination entity's name, unless only one entity is possible.
      case toOne(Destination, index: Int, entityIndex: Int?)
    }

    let ordinal: Int
    let kind: Kind
  }

  let text: String
  let fields: [Field]
  /// The columns of a row, with the table and the type of each.
  private let columns: [(table: String, name: String, type: PostgreSQLType)]
  private let placement: EntityPlacement

  init(_ placement: EntityPlacement, schema: PostgreSQLSchema) {
    let table = placement.table
    var columns = ["r.id", "r.version"]
    var types: [(table: String, name: String, type: PostgreSQLType)] = [
      (table, "id", .uuid), (table, "version", .bigint),
    ]
    var joins: [String] = []
    var fields: [Field] = []
    func add(_ alias: String, _ name: String, of table: String, _ type: PostgreSQLType) -> Int {
      columns.append("\(alias).\(PostgreSQLName.quoted(name))")
      types.append((table, name, type))
      return columns.count - 1
    }
    for (ordinal, property) in placement.properties.enumerated() {
      switch property {
      case .attribute(let place):
        let index = add("r", place.column, of: table, place.columnType)
        let exactIndex = place.exactColumn.map { add("r", $0, of: table, .double) }
        fields.append(
          Field(ordinal: ordinal, kind: .attribute(place, index: index, exactIndex: exactIndex))
        )
      case .toOne(let place):
        let column = "r.\(PostgreSQLName.quoted(place.column))"
        let index = add("r", place.column, of: table, .uuid)
        var entityIndex: Int?
        if place.destination.onlyEntity == nil {
          let alias = "d\(joins.count)"
          entityIndex = add(alias, "entity", of: place.destination.table, .text)
          joins.append(
            " LEFT JOIN \(schema.qualified(place.destination.table)) AS \(alias) ON \(alias).id = \(column)"
          )
        }
        fields.append(
          Field(
            ordinal: ordinal,
            kind: .toOne(place.destination, index: index, entityIndex: entityIndex)
          )
        )
      case .toMany, .join, nil: break
      }
    }
    let source = "\(schema.qualified(placement.table)) AS r\(joins.joined())"
    text = "SELECT \(columns.joined(separator: ", ")) FROM \(source)"
    self.fields = fields
    self.placement = placement
    self.columns = types
  }

  /// Throws if a column has another type than the model needs, because the bytes of its values would mean something
  /// else.
  func check(_ result: PostgreSQLResult) throws(PersistenceError) {
    for (column, type) in zip(columns, result.columnTypes) where !column.type.readableOIDs.contains(type) {
      let found = PostgreSQLType.allCases.first { $0.oid == type }?.rawValue ?? "another type"
      throw PersistenceError(
        .fileMalformed,
        "The column \(column.name) of the table \(column.table) is \(found) instead of \(column.type.rawValue).",
        recovery: "Change it back; heartwood verify shows a statement that does so.",
        context: .init(storeType: .postgreSQL, entity: placement.entity.name)
      )
    }
  }

  /// Returns the value of a property in a row.
  func value(
    _ field: Field,
    _ row: PostgreSQLRow,
    _ objectID: (UUID, EntityDescription) -> ManagedObjectID
  ) throws(FieldFault) -> PropertyValue {
    switch field.kind {
    case .attribute(let place, let index, let exactIndex): return try attribute(place, row, index, exactIndex)
    case .toOne(let destination, let index, let entityIndex):
      guard let bytes = row[index] else { return .null }
      return .toOne(objectID(try BinaryField.uuid(bytes), try destination.entity(row, entityIndex)))
    }
  }

  private func attribute(
    _ place: AttributePlacement,
    _ row: PostgreSQLRow,
    _ index: Int,
    _ exactIndex: Int?
  ) throws(FieldFault) -> PropertyValue {
    guard let bytes = row[index] else { return .null }
    if let exactIndex { return try AttributeField.date(bytes, exact: row[exactIndex]) }
    return try AttributeField.value(bytes, as: place.type)
  }

  /// Throws if the value of a property in a row cannot be read.
  func check(_ field: Field, _ row: PostgreSQLRow) throws(FieldFault) {
    switch field.kind {
    case .attribute(let place, let index, let exactIndex): _ = try attribute(place, row, index, exactIndex)
    case .toOne(let destination, let index, let entityIndex):
      guard let bytes = row[index] else { return }
      _ = try BinaryField.uuid(bytes)
      _ = try destination.entity(row, entityIndex)
    }
  }

  func error(_ fault: FieldFault, _ field: Field, _ key: UUID) -> PersistenceError {
    let column =
      switch field.kind {
      case .attribute(let place, _, _): place.column
      case .toOne: placement.valueColumns(field.ordinal).first ?? ""
      }
    return PersistenceError(
      .fileMalformed,
      "The column \(column) of the table \(placement.table) \(fault.text), in the row \(key.uuidString.lowercased()).",
      recovery: "Correct it there with another program, such as psql.",
      context: .init(
        storeType: .postgreSQL,
        entity: placement.entity.name,
        property: placement.entity.properties[field.ordinal].name
      )
    )
  }
}

extension RowSelection {
  fileprivate var keylessRow: PersistenceError {
    fault("A row of the table \(placement.table) has no key.", "Give its column id a UUID, or delete it.")
  }

  fileprivate func versionlessRow(_ key: UUID) -> PersistenceError {
    fault(
      "The row \(key.uuidString.lowercased()) of the table \(placement.table) has no version.",
      "Set its column version to 1."
    )
  }

  private func fault(_ problem: String, _ recovery: PersistenceError.Recovery) -> PersistenceError {
    PersistenceError(
      .fileMalformed,
      problem,
      recovery: recovery,
      context: .init(storeType: .postgreSQL, entity: placement.entity.name)
    )
  }
}

extension Destination {
  /// Returns the entity of a record, whose name may be in a column.
  func entity(_ row: PostgreSQLRow, _ index: Int?) throws(FieldFault) -> EntityDescription {
    if let onlyEntity { return onlyEntity }
    guard let name = index.flatMap({ row[$0] }).map({ String(decoding: $0, as: UTF8.self) }),
      let entity = entities[name]
    else { throw FieldFault("refers to a row of no entity that the model allows there") }
    return entity
  }
}

// MARK: RelatedRecords

/// The destinations of one to-many relationship, for each record that is read.
struct RelatedRecords {
  typealias Member = (key: UUID, entity: EntityDescription)

  let ordinal: Int
  private(set) var members: [UUID: [Member]] = [:]

  /// Returns the relationships of all records.
  static func all(
    _ placement: EntityPlacement,
    schema: PostgreSQLSchema,
    _ connection: PostgreSQLConnection
  ) throws -> [RelatedRecords] {
    try queries(placement, schema).map { query in
      var related = RelatedRecords(ordinal: query.ordinal)
      try connection.readRows(of: query.text("")) {
        try related.add($0, query, placement.entity)
      }
      return related
    }
  }

  /// Returns the relationships of the records with certain keys.
  static func of(
    _ keys: ArraySlice<UUID>,
    _ placement: EntityPlacement,
    schema: PostgreSQLSchema,
    _ connection: PostgreSQLConnection
  ) throws -> [RelatedRecords] {
    try queries(placement, schema).map { query in
      var related = RelatedRecords(ordinal: query.ordinal)
      let text = query.text(" AND \(query.owner) = ANY($1)")
      try connection.run(text, [.uuids(keys)]).forEachRow { try related.add($0, query, placement.entity) }
      return related
    }
  }

  /// Returns the members that no relationship of the model can have, by the key of the record that has them.
  static func faults(
    _ placement: EntityPlacement,
    schema: PostgreSQLSchema,
    _ connection: PostgreSQLConnection
  ) throws -> [UUID: [PersistenceError]] {
    var faults: [UUID: [PersistenceError]] = [:]
    for query in queries(placement, schema) where query.destination.onlyEntity == nil {
      try connection.readRows(of: query.text("")) { row in
        do throws(FieldFault) {
          _ = try query.destination.entity(row, 2)
        } catch {
          let owner = try row.required(0, row.uuid)
          let member = try row.required(1, row.uuid)
          faults[owner, default: []].append(query.error(error, member, placement.entity))
        }
      }
    }
    return faults
  }

  private mutating func add(_ row: PostgreSQLRow, _ query: Query, _ entity: EntityDescription) throws {
    let (owner, member) = (try row.required(0, row.uuid), try row.required(1, row.uuid))
    do throws(FieldFault) {
      members[owner, default: []].append((member, try query.destination.entity(row, 2)))
    } catch {
      throw query.error(error, member, entity)
    }
  }

  private struct Query {
    let ordinal: Int
    let owner: String
    let destination: Destination
    /// Returns the statement with an additional condition.
    let text: (_ condition: String) -> String

    func error(_ fault: FieldFault, _ member: UUID, _ entity: EntityDescription) -> PersistenceError {
      PersistenceError(
        .fileMalformed,
        "The row \(member.uuidString.lowercased()) of the table \(destination.table) belongs to this relationship, which \(fault.text).",
        recovery: "Correct its column entity, or remove it from the relationship.",
        context: .init(storeType: .postgreSQL, entity: entity.name, property: entity.properties[ordinal].name)
      )
    }
  }

  private static func queries(_ placement: EntityPlacement, _ schema: PostgreSQLSchema) -> [Query] {
    placement.properties.enumerated().compactMap { ordinal, property in
      switch property {
      case .toMany(let place):
        let owner = "m.\(PostgreSQLName.quoted(place.column))"
        let order = position(place.positionColumn, of: "m")
        return Query(ordinal: ordinal, owner: owner, destination: place.destination) { condition in
          "SELECT \(owner), m.id, m.entity FROM \(schema.qualified(place.destination.table)) AS m"
            + " WHERE \(owner) IS NOT NULL\(condition) ORDER BY \(owner)\(order), m.id"
        }
      case .join(let place):
        let (owner, other) = (
          "j.\(PostgreSQLName.quoted(place.ownColumn))",
          "j.\(PostgreSQLName.quoted(place.otherColumn))"
        )
        let order = position(place.positionColumn, of: "j")
        return Query(ordinal: ordinal, owner: owner, destination: place.destination) { condition in
          "SELECT \(owner), \(other), m.entity FROM \(schema.qualified(place.table)) AS j"
            + " JOIN \(schema.qualified(place.destination.table)) AS m ON m.id = \(other)"
            + " WHERE true\(condition) ORDER BY \(owner)\(order), \(other)"
        }
      case .attribute, .toOne, nil: return nil
      }
    }
  }

  private static func position(_ column: String?, of alias: String) -> String {
    column.map { ", \(alias).\(PostgreSQLName.quoted($0)) NULLS LAST" } ?? ""
  }
}
