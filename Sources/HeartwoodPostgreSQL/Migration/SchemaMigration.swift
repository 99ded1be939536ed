import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Makes the migrated store in another schema of the same database, in one transaction, without sending a record to the
/// client.
///
/// The tables are those of a new store. They are filled from the old ones before their keys and indexes are made.
struct SchemaMigration {
  private let migration: InStoreMigration
  private let old: PostgreSQLSchema
  private let new: PostgreSQLSchema
  private let entities: [EntityTranslation]
  private let joins: [JoinTranslation]
  private let orders: [OrderTranslation]
  private let destination: StoreSetup
  private let connection: PostgreSQLConnection

  /// Makes the store.
  ///
  /// - Parameter isKept: whether the store is kept; otherwise the transaction is rolled back after the counts are
  ///   known.
  /// - Throws: ``MigrationObstacle``.
  static func run(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup,
    isKept: Bool
  ) throws -> MigrationReport {
    guard case .url(let oldURL) = source.place, case .url(let url) = destination.place else {
      throw MigrationObstacle(.file, "the store has no URL")
    }
    let (oldLocation, location) = (try PostgreSQLLocation(url: oldURL), try PostgreSQLLocation(url: url))
    guard oldLocation.parameters == location.parameters else {
      throw MigrationObstacle(.file, "the new store is in another database")
    }
    if try ForeignStore.find(source, at: oldLocation) != nil {
      throw MigrationObstacle(.file, "the tables are those of another program")
    }
    // A store that is not kept is made under a temporary name.
    let name = isKept ? location.schema : "heartwood_\(PostgreSQLName.hash(UUID().uuidString))"
    let old = try PostgreSQLSchema(name: oldLocation.schema, model: source.model, entities: source.entities)
    let new = try PostgreSQLSchema(name: name, model: destination.model, entities: destination.entities)
    let translator = try MigrationTranslator(migration.plan, from: old, to: new)
    do {
      let schemaMigration = SchemaMigration(
        migration: migration,
        old: old,
        new: new,
        entities: translator.entities,
        joins: translator.joins,
        orders: translator.orders,
        destination: destination,
        connection: try PostgreSQLConnection(location, options: destination.options)
      )
      return try schemaMigration.run(isKept: isKept)
    } catch let error as PostgreSQLError where !isKept && ["42501", "25006"].contains(error.sqlState) {
      throw MigrationObstacle(.file, "the user may not create tables in the database")
    } catch {
      throw PostgreSQLStore.persistenceError(error, at: location)
    }
  }

  private func run(isKept: Bool) throws -> MigrationReport {
    try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    do {
      let report = try make()
      try migration.progress.check()
      try connection.execute(isKept ? "COMMIT" : "ROLLBACK")
      return report
    } catch {
      // try?: the connection is closed next, and the transaction ends with it.
      _ = try? connection.execute("ROLLBACK")
      if let error = error as? PostgreSQLError, ["23505", "23503"].contains(error.sqlState) {
        throw MigrationObstacle(.records, "values must be unique and are not, or a record is missing")
      }
      throw error
    }
  }

  private func make() throws -> MigrationReport {
    let losses = try countLosses()
    let counts = try entities.map(count)
    try connection.execute("CREATE SCHEMA \(PostgreSQLName.quoted(new.name))")
    for statement in new.tableCreation(in: connection.dialect) { try connection.execute(statement) }
    migration.progress.expect(entities.count + joins.count + orders.count)
    for entity in entities { try step { try insert(entity) } }
    for join in joins { try step { try insert(join) } }
    for order in orders { try step { try number(order) } }
    for statement in new.constraintCreation {
      try migration.progress.check()
      try connection.execute(statement)
    }
    try checkRequiredValues()
    try writeHistory()
    try writeStore()
    return try report(losses, counts)
  }

  private func step(_ body: () throws -> Void) throws {
    try migration.progress.check()
    try body()
    migration.progress.advance()
  }
}

// MARK: Rows

extension SchemaMigration {
  private func insert(_ entity: EntityTranslation) throws {
    var entity = entity
    let name = entity.parameter(.text(entity.plan.destination.name))
    let columns = ["id", "version", "entity"] + entity.cells.map { PostgreSQLName.quoted($0.column) }
    let values = ["r.id", "greatest(r.version, 1)", name] + entity.cells.map(\.value)
    try connection.runOnce(
      "INSERT INTO \(new.qualified(entity.destination.table)) (\(columns.joined(separator: ", "))) "
        + "SELECT \(values.joined(separator: ", ")) FROM \(old.qualified(entity.source.table)) AS r "
        + "WHERE \(entity.condition) ORDER BY r.id",
      entity.parameters
    )
  }

  private func insert(_ join: JoinTranslation) throws {
    let columns = join.cells.map { PostgreSQLName.quoted($0.column) }.joined(separator: ", ")
    try connection.runOnce(
      "INSERT INTO \(new.qualified(join.newTable)) (\(columns)) "
        + "SELECT \(join.cells.map(\.value).joined(separator: ", ")) FROM \(old.qualified(join.oldTable)) AS r"
    )
  }

  private func number(_ order: OrderTranslation) throws {
    let table = new.qualified(order.table)
    let owner = "m.\(PostgreSQLName.quoted(order.ownerColumn))"
    try connection.runOnce(
      "UPDATE \(table) AS r SET \(PostgreSQLName.quoted(order.column)) = n.place FROM (SELECT m.id, "
        + "\(MigrationTranslator.places(among: owner, by: "m.id")) AS place FROM \(table) AS m WHERE \(owner) IS NOT NULL) AS n "
        + "WHERE r.id = n.id"
    )
  }

  private func writeStore() throws {
    if destination.options[.postgresNotesOtherClients] {
      for statement in new.triggerCreation { try connection.execute(statement) }
    }
    try PostgreSQLStore.writeStoreRow(migration.metadata, new, ownsSchema: true, connection)
  }

  /// Writes the history. A copy, whose records are the same, gets the whole history. A migration leaves it out, because
  /// the transactions describe the old model: the next transaction gets the next number, so that earlier tokens are
  /// known to be expired.
  private func writeHistory() throws {
    let tables = HistoryTables(new)
    let extent = try HistoryTables(old).extent(connection)
    guard let extent, destination.keepsHistory(PostgreSQLFormat().typeDescription) else {
      if destination.options[.tracksPersistentHistory] { try tables.begin(after: 0, connection) }
      return
    }
    guard migration.plan.source === migration.plan.destination else {
      return try tables.begin(after: extent.lastNumber, connection)
    }
    for table in PostgreSQLSchema.historyTables {
      try connection.execute("INSERT INTO \(new.qualified(table)) SELECT * FROM \(old.qualified(table))")
    }
    try tables.continueNumbers(connection)
  }
}

// MARK: Counts

extension SchemaMigration {
  /// The number of rows of an entity, and the number that each tally counts.
  private struct Counts {
    let rows: Int
    let tallies: [Int]
  }

  private func count(_ entity: EntityTranslation) throws -> Counts {
    try migration.progress.check()
    let columns = ["count(*)"] + entity.tallies.map { "count(*) FILTER (WHERE \($0.condition))" }
    let numbers = try connection.runOnce(
      "SELECT \(columns.joined(separator: ", ")) FROM \(old.qualified(entity.source.table)) AS r WHERE \(entity.condition)"
    ).first { row in try columns.indices.map { Int(clamping: try row.required($0, row.bigint)) } }
    let counts = Counts(rows: numbers?.first ?? 0, tallies: Array(numbers?.dropFirst() ?? []))
    for (tally, count) in zip(entity.tallies, counts.tallies) where tally.kind == .unfit && count > 0 {
      guard migration.resolutions.unfitValues != .refuse else {
        throw MigrationObstacle(.records, "values have no equivalent in a new type")
      }
    }
    return counts
  }

  /// Counts the records and values that would be lost.
  private func countLosses() throws -> [MigrationReport.Finding] {
    let losses = try migration.losses(recordCount: storedCount) { entity, ordinal in
      guard old.keeps(entity), let property = try old.placement(of: entity).properties[ordinal] else { return 0 }
      return try storedCount(of: entity) - emptyCount(property, of: try old.placement(of: entity), in: old)
    }
    // The migration in memory lists all obstacles.
    if losses.contains(where: \.isObstacle) { throw MigrationObstacle(.records, "records or values would be lost") }
    return losses
  }

  private func storedCount(of entity: EntityDescription) throws -> Int {
    guard old.keeps(entity) else { return 0 }
    return try number("SELECT count(*) FROM \(rows(of: try old.placement(of: entity), in: old))")
  }

  private func rows(of placement: EntityPlacement, in schema: PostgreSQLSchema) -> String {
    "\(schema.qualified(placement.table)) AS r WHERE r.entity = \(PostgreSQLName.literal(placement.entity.name))"
  }

  private func number(_ query: String) throws -> Int {
    try migration.progress.check()
    let number = try connection.runOnce(query).first { row in try row.required(0, row.bigint) }
    return Int(clamping: number ?? 0)
  }

  /// Returns the number of records that have no value for a property.
  private func emptyCount(
    _ property: PropertyPlacement,
    of placement: EntityPlacement,
    in schema: PostgreSQLSchema
  ) throws -> Int {
    func owned(_ table: String, _ column: String) -> String {
      "NOT EXISTS (SELECT 1 FROM \(schema.qualified(table)) AS m WHERE m.\(PostgreSQLName.quoted(column)) = r.id)"
    }
    let condition =
      switch property {
      case .attribute(let place): "r.\(PostgreSQLName.quoted(place.column)) IS NULL"
      case .toOne(let place): "r.\(PostgreSQLName.quoted(place.column)) IS NULL"
      case .toMany(let place): owned(place.destination.table, place.column)
      case .join(let place): owned(place.table, place.ownColumn)
      }
    return try number("SELECT count(*) FROM \(rows(of: placement, in: schema)) AND \(condition)")
  }

  /// - Throws: ``MigrationObstacle`` if more records than before have no value for a required property.
  private func checkRequiredValues() throws {
    for entity in entities {
      for (ordinal, column) in entity.plan.columns.enumerated() {
        let description = entity.plan.destination.properties[ordinal]
        guard !description.mayBeEmpty, !description.isTransient, let property = entity.destination.properties[ordinal]
        else {
          continue
        }
        let count = try emptyCount(property, of: entity.destination, in: new)
        if count == 0 { continue }
        guard let source = column.sourceOrdinal, !entity.plan.source.properties[source].mayBeEmpty,
          let oldProperty = entity.source.properties[source],
          try count <= emptyCount(oldProperty, of: entity.source, in: old)
        else { throw MigrationObstacle(.records, "records have no value for a required property") }
      }
    }
  }

  private func report(_ losses: [MigrationReport.Finding], _ counts: [Counts]) throws -> MigrationReport {
    var findings = losses
    for (entity, counts) in zip(entities, counts) {
      for (tally, count) in zip(entity.tallies, counts.tallies) where count > 0 {
        let property = entity.plan.destination.properties[tally.ordinal].name
        findings.append(.init(tally.kind, entity.plan.destination.name, property, count: count))
      }
    }
    return try migration.report(findings) { entity in
      if let place = entities.firstIndex(where: { $0.plan.source === entity }) { return counts[place].rows }
      return try storedCount(of: entity)
    } destinationCount: { entity in
      entities.firstIndex { $0.plan.destination === entity }.map { counts[$0].rows } ?? 0
    }
  }
}
