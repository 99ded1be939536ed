import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Reads records of one entity from a table of another program.
///
/// Such a table has no versions. The version of a record is a hash of what was read, including the destinations of its
/// relationships.
struct ForeignReader {
  private let foreign: ForeignEntity
  private let schema: PostgreSQLSchema

  init(_ foreign: ForeignEntity, _ schema: PostgreSQLSchema) {
    (self.foreign, self.schema) = (foreign, schema)
  }

  private typealias Members = [ReferenceID: [ReferenceID]]

  /// Reads all records, in the order of their keys.
  func readAll(_ connection: PostgreSQLConnection, into loader: StoreLoader) throws {
    let members = try foreign.links.map { link in
      var members = Members()
      try connection.readRows(of: statement(link, nil)) {
        try add($0, link, to: &members)
      }
      return members
    }
    try connection.readRows(of: statement(nil)) { try add($0, members, to: loader) }
  }

  /// The maximum number of records per query.
  private static let keysPerQuery = 10_000

  /// Reads the records with certain references. Missing records are left out.
  func read(_ references: [ReferenceID], _ connection: PostgreSQLConnection, into loader: StoreLoader) throws {
    let references = Array(Set(references))
    for start in stride(from: 0, to: references.count, by: Self.keysPerQuery) {
      let some = foreign.key.parameter(references[start..<min(references.count, start + Self.keysPerQuery)])
      let members = try foreign.links.map { link in
        var members = Members()
        try connection.run(statement(link, "$1"), [some]).forEachRow { try add($0, link, to: &members) }
        return members
      }
      try connection.run(statement("$1"), [some]).forEachRow { try add($0, members, to: loader) }
    }
  }

  // MARK: Statements

  private func statement(_ keys: String?) -> String {
    let key = "r.\(ForeignEntity.key)"
    let columns = foreign.columns.map {
      "r.\(PostgreSQLName.quoted(ForeignEntity.alias(foreign.entity.properties[$0.ordinal])))"
    }
    let condition = keys.map { " WHERE \(key) = ANY(\($0))" } ?? ""
    return "SELECT \(([key] + columns).joined(separator: ", ")) FROM \(schema.source(foreign.entity.name)) AS r"
      + "\(condition) ORDER BY \(key)\(foreign.key.collation)"
  }

  private func statement(_ link: ForeignEntity.Link, _ keys: String?) -> String {
    let own = ForeignColumn.key("j.\(PostgreSQLName.quoted(link.own))", foreign.key)
    let other = ForeignColumn.key("j.\(PostgreSQLName.quoted(link.other))", link.destinationKey)
    let position = link.position.map { "j.\(PostgreSQLName.quoted($0)) NULLS LAST, " } ?? ""
    let condition = keys.map { " AND \(own) = ANY(\($0))" } ?? ""
    return "SELECT \(own), \(other) FROM \(schema.qualified(link.table)) AS j WHERE \(own) IS NOT NULL "
      + "AND \(other) IS NOT NULL\(condition) ORDER BY \(position)\(other)\(link.destinationKey.collation)"
  }

  // MARK: Rows

  private func add(_ row: PostgreSQLRow, _ link: ForeignEntity.Link, to members: inout Members) throws {
    guard let own = row[0], let other = row[1] else { return }
    try members[foreign.key.reference(own), default: []].append(link.destinationKey.reference(other))
  }

  private func add(_ row: PostgreSQLRow, _ members: [Members], to loader: StoreLoader) throws {
    let entity = foreign.entity
    guard let bytes = row[0] else { throw keyless }
    let reference = try foreign.key.reference(bytes)
    let linked = members.map { $0[reference] ?? [] }
    try loader.addNode(reference, to: entity, version: version(row, linked)) { draft in
      for (index, column) in foreign.columns.enumerated() {
        guard let bytes = row[index + 1] else { continue }
        do {
          try draft.setValue(try value(bytes, column) { loader.objectID($0, of: $1) }, at: column.ordinal)
        } catch let fault as FieldFault {
          throw error(
            "The column \(column.name) of the table \(foreign.table) \(fault.text)",
            column.ordinal,
            reference
          )
        }
      }
      for (link, references) in zip(foreign.links, linked) where !references.isEmpty {
        let ids = references.map { loader.objectID($0, of: link.destination) }
        try draft.setValue(try value(ids, link, reference), at: link.ordinal)
      }
    }
  }

  private func value(
    _ bytes: UnsafeRawBufferPointer,
    _ column: ForeignEntity.Column,
    _ objectID: (ReferenceID, EntityDescription) -> ManagedObjectID
  ) throws(FieldFault) -> PropertyValue {
    if let destination = foreign.destinations[column.ordinal] {
      return .toOne(objectID(try destination.key.reference(bytes), destination.entity))
    }
    guard let attribute = column.attribute else { return .null }
    return try AttributeField.value(bytes, as: attribute.type)
  }

  /// Returns the value of a relationship that is in rows of another table.
  private func value(_ ids: [ManagedObjectID], _ link: ForeignEntity.Link, _ reference: ReferenceID) throws
    -> PropertyValue
  {
    if link.isToMany { return .toMany(ids) }
    guard let id = ids.first, ids.count == 1 else {
      throw error(
        "\(ids.count) rows of the table \(link.table) refer to it in the column \(link.own)",
        link.ordinal,
        reference
      )
    }
    return .toOne(id)
  }

  private var keyless: PersistenceError {
    PersistenceError(
      .fileMalformed,
      "A row of the table \(foreign.table) has no key in the column \(foreign.keyColumn).",
      recovery: "Name another column in postgresKey, or a view without such rows in postgresName.",
      context: .init(storeType: .postgreSQL, entity: foreign.entity.name)
    )
  }

  private func error(_ problem: String, _ ordinal: Int, _ reference: ReferenceID) -> PersistenceError {
    PersistenceError(
      .fileMalformed,
      "\(problem), in the row \(reference.text).",
      recovery: "Read the property as another type, or leave it out of the model.",
      context: .init(
        storeType: .postgreSQL,
        entity: foreign.entity.name,
        property: foreign.entity.properties[ordinal].name
      )
    )
  }

  // MARK: Versions

  private func version(_ row: PostgreSQLRow, _ linked: [[ReferenceID]]) -> UInt64 {
    var hash = StableHash()
    for index in 0..<row.count { hash.combine(row[index]) }
    for references in linked {
      for reference in references { hash.combine(reference) }
      hash.combine(nil as UnsafeRawBufferPointer?)
    }
    // Versions are numbers from 1 up to half of what their type holds.
    return max(1, hash.value >> 1)
  }
}

/// Fields are combined with their lengths.
extension StableHash {
  /// - Parameter bytes: nil for NULL.
  fileprivate mutating func combine(_ bytes: UnsafeRawBufferPointer?) {
    guard let bytes else { return combine(UInt64.max) }
    combine(UInt64(bytes.count))
    for byte in bytes { combine(UInt64(byte)) }
  }

  fileprivate mutating func combine(_ reference: ReferenceID) {
    Array(reference.text.utf8).withUnsafeBytes { combine($0) }
  }
}
