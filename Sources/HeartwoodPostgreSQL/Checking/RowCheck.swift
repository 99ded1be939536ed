import HeartwoodModel
import HeartwoodStore

/// Finds rows that reading leaves out or puts in an order of its own: those of no entity, pairs without a record, pairs
/// without the opposite pair, and equal positions.
struct RowCheck {
  private let schema: PostgreSQLSchema
  private let soundTables: Set<String>
  private let connection: PostgreSQLConnection
  private let limit: Int
  private(set) var findings: [String] = []

  /// - Parameters:
  ///   - soundTables: the tables with all columns; the others are skipped.
  ///   - limit: the maximum number of findings.
  init(_ schema: PostgreSQLSchema, _ soundTables: Set<String>, limit: Int, _ connection: PostgreSQLConnection) {
    (self.schema, self.soundTables) = (schema, soundTables)
    (self.limit, self.connection) = (limit, connection)
  }

  mutating func run() throws {
    for table in schema.tables where soundTables.contains(table.name) { try checkEntities(table) }
    for join in schema.joins where soundTables.contains(join.name) { try checkPairs(join) }
    for entity in schema.model.entities where schema.keeps(entity) { try checkRelationships(entity) }
  }

  /// Adds a finding for each row of a query, up to the limit.
  private mutating func find(
    _ query: String,
    _ parameters: [PostgreSQLParameter] = [],
    _ text: (PostgreSQLRow) throws -> String
  ) throws {
    let rest = limit - findings.count
    if rest <= 0 { return }
    try connection.run("\(query) LIMIT \(rest)", parameters).forEachRow { findings.append(try text($0)) }
  }

  /// Finds rows whose entity the model does not have in the table: no fetch finds them.
  private mutating func checkEntities(_ table: RecordTable) throws {
    let names = schema.concreteEntities(in: table.name).map(\.name)
    try find(
      "SELECT id::text, entity FROM \(schema.qualified(table.name)) WHERE entity <> ALL($1) OR entity IS NULL ORDER BY id",
      [.texts(names)]
    ) { row in
      let entity = try row.text(1).map { "the entity “\($0)”, which the model does not keep there" } ?? "no entity"
      return "The row \(try row.text(0) ?? "") of the table \(table.name) is of \(entity). "
        + "Set its column entity to \(names.joined(separator: " or ")), or delete it."
    }
  }

  /// Finds pairs whose records are not there: reading leaves them out.
  private mutating func checkPairs(_ join: JoinTable) throws {
    let keys = join.columns.map { "j.\(PostgreSQLName.quoted($0.name))" }
    let owners = schema.owners(ofTable: join.name)
    for (column, key) in zip(join.columns, keys) where soundTables.contains(column.table) {
      let others = keys.map { "\($0)::text" }.joined(separator: ", ")
      try find(
        "SELECT \(others) FROM \(schema.qualified(join.name)) AS j LEFT JOIN \(schema.qualified(column.table)) AS r "
          + "ON r.id = \(key) WHERE r.id IS NULL ORDER BY \(keys.joined(separator: ", "))"
      ) { row in
        let pair = try (0..<keys.count).map { "\(join.columns[$0].name) \(try row.text($0) ?? "")" }
        return "The row of the table \(join.name) with \(pair.joined(separator: " and ")) refers in \(column.name) to "
          + "no row of \(column.table)\(owners). Delete it, or restore the other row."
      }
    }
  }

  private mutating func checkRelationships(_ entity: EntityDescription) throws {
    let placement = try schema.placement(of: entity)
    let inherited = entity.superentity?.properties.count ?? 0
    for ordinal in placement.properties.indices.dropFirst(inherited) {
      let name = "\(entity.name).\(entity.properties[ordinal].name)"
      switch placement.properties[ordinal] {
      case .toMany(let place):
        guard let position = place.positionColumn else { continue }
        try checkPositions(position, place.destination.table, owner: place.column, name)
      case .join(let place):
        if let position = place.positionColumn {
          try checkPositions(position, place.table, owner: place.ownColumn, name)
        }
        if place.isReflexive { try checkOpposites(place, name) }
      case .attribute, .toOne, nil: continue
      }
    }
  }

  /// Finds records with the same position among those of their owner. A record without a position comes last.
  private mutating func checkPositions(_ position: String, _ table: String, owner: String, _ name: String) throws {
    if !soundTables.contains(table) { return }
    let (key, place) = (PostgreSQLName.quoted(owner), PostgreSQLName.quoted(position))
    try find(
      "SELECT \(key)::text, \(place), count(*) FROM \(schema.qualified(table)) "
        + "WHERE \(key) IS NOT NULL AND \(place) IS NOT NULL GROUP BY \(key), \(place) HAVING count(*) > 1 "
        + "ORDER BY \(key), \(place)"
    ) { row in
      "\(try row.bigint(2) ?? 0) rows of the table \(table) have the \(position) \(try row.bigint(1) ?? 0) with the "
        + "\(owner) \(try row.text(0) ?? ""), so the order of \(name) is not what was saved. "
        + "Give them different numbers, or save the relationship of that record again."
    }
  }

  /// Finds pairs of a relationship that is its own inverse without the pair in the other direction.
  private mutating func checkOpposites(_ place: JoinPlacement, _ name: String) throws {
    if !soundTables.contains(place.table) { return }
    let (table, own) = (schema.qualified(place.table), PostgreSQLName.quoted(place.ownColumn))
    let other = PostgreSQLName.quoted(place.otherColumn)
    try find(
      "SELECT j.\(own)::text, j.\(other)::text FROM \(table) AS j LEFT JOIN \(table) AS o "
        + "ON o.\(own) = j.\(other) AND o.\(other) = j.\(own) WHERE o.\(own) IS NULL ORDER BY j.\(own), j.\(other)"
    ) { row in
      let (key, otherKey) = (try row.text(0) ?? "", try row.text(1) ?? "")
      return "\(name) of \(key) refers to \(otherKey), and not back: the table \(place.table) lacks the row with "
        + "\(place.ownColumn) \(otherKey) and \(place.otherColumn) \(key). Insert it, or delete the other."
    }
  }
}

extension PostgreSQLSchema {
  /// Returns the entities whose records may be rows of a table.
  fileprivate func concreteEntities(in table: String) -> [EntityDescription] {
    // try?: an entity that is not kept has no table.
    model.entities.filter { !$0.isAbstract && keeps($0) && (try? placement(of: $0).table) == table }
  }

  /// Returns the relationships that a table of pairs keeps, in parentheses.
  fileprivate func owners(ofTable table: String) -> String {
    var names: [String] = []
    for entity in model.entities where keeps(entity) {
      // try?: the entity is one that the store keeps.
      guard let placement = try? placement(of: entity) else { continue }
      let inherited = entity.superentity?.properties.count ?? 0
      for ordinal in placement.properties.indices.dropFirst(inherited) {
        guard case .join(let place) = placement.properties[ordinal], place.table == table else { continue }
        names.append("\(entity.name).\(entity.properties[ordinal].name)")
      }
    }
    return names.isEmpty ? "" : " (\(names.joined(separator: ", ")))"
  }
}
