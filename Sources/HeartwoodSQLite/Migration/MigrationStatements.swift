import GRDB
import HeartwoodModel
import HeartwoodStore

/// Carries out a migration in SQL, in the transaction that makes the new file.
struct MigrationStatements {
  /// What was made.
  struct Result {
    let report: MigrationReport
    /// The names of the files with large data that rows lead to.
    let fileNames: Set<String>
  }

  /// How many rows are taken at once; in between, the migration can be cancelled.
  private static let stretch = 65_536

  private let translation: MigrationTranslation
  private let migration: InStoreMigration
  private let db: Database
  /// How many rows each entity has, by its place in the translation.
  private var counts: [Int]
  /// What was counted of them.
  private var tallies: [[Int]]

  /// - Throws: ``MigrationObstacle`` where records stand in the way, or are not as they should be.
  static func run(_ translation: MigrationTranslation, _ migration: InStoreMigration, _ db: Database) throws -> Result {
    var statements = MigrationStatements(translation, migration, db)
    do {
      return try statements.run()
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
      throw MigrationObstacle("values are to be unique and are not, or two rows are one")
    }
  }

  private init(_ translation: MigrationTranslation, _ migration: InStoreMigration, _ db: Database) {
    self.translation = translation
    self.migration = migration
    self.db = db
    counts = translation.entities.map { _ in 0 }
    tallies = translation.entities.map { $0.tallies.map { _ in 0 } }
  }

  private mutating func run() throws -> Result {
    let new = translation.new
    try new.createTables(in: db)
    try insertRows()
    for join in translation.joins { try execute(join.insertion) }
    for narrowing in translation.narrowings { try narrow(narrowing) }
    for order in translation.orders { try execute(order.update) }
    try new.createIndexes(in: db)
    try checkRequiredValues()
    try raiseKeys()
    try SQLiteMetadata(migration.metadata).write(to: db, model: new.model)
    return Result(report: try report(), fileNames: hasExternalData ? try ExternalNames.all(in: db) : [])
  }

  private func execute(_ text: String, _ arguments: StatementArguments = []) throws {
    try migration.progress.check()
    try db.execute(sql: text, arguments: arguments)
  }
}

// MARK: Rows

extension MigrationStatements {
  private mutating func insertRows() throws {
    let places = Dictionary(grouping: translation.entities.indices) { translation.entities[$0].source.tableName }
    let tables = try places.sorted { $0.key < $1.key }.map { (ranges: try ranges($0.key), places: $0.value) }
    migration.progress.expect(tables.reduce(0) { $0 + $1.ranges.count })
    for table in tables {
      for range in table.ranges {
        try migration.progress.check()
        for place in table.places { try insert(place, range) }
        migration.progress.advance()
      }
    }
  }

  /// Ranges of keys that have about as many rows each.
  private func ranges(_ table: String) throws -> [ClosedRange<Int64>] {
    let ends = try Int64.fetchAll(
      db,
      sql: "SELECT Z_PK FROM (SELECT Z_PK, row_number() OVER (ORDER BY Z_PK) AS place FROM \(SQLFragment.old(table))) "
        + "WHERE place % \(Self.stretch) = 0"
    )
    var ranges: [ClosedRange<Int64>] = []
    var start = Int64.min
    for end in ends where end < .max {
      ranges.append(start...end)
      start = end + 1
    }
    return ranges + [start ... .max]
  }

  private mutating func insert(_ place: Int, _ range: ClosedRange<Int64>) throws {
    let entity = translation.entities[place]
    let bounds: [(any DatabaseValueConvertible)?] = [range.lowerBound, range.upperBound]
    let survey = try db.cachedStatement(sql: entity.survey)
    guard let row = try Row.fetchOne(survey, arguments: StatementArguments(bounds)) else { return }
    let (count, oddCount): (Int, Int) = (row[0], row[1])
    if count == 0 { return }
    guard oddCount == 0 else {
      throw MigrationObstacle("\(oddCount) records of \(entity.plan.source.name) have values of another form")
    }
    counts[place] += count
    for index in entity.tallies.indices {
      tallies[place][index] += row[index + 2]
      try check(entity.tallies[index], tallies[place][index])
    }
    let insertion = entity.insertion
    try db.cachedStatement(sql: insertion.text).execute(arguments: StatementArguments(insertion.arguments + bounds))
  }

  private func check(_ tally: EntityTranslation.Tally, _ count: Int) throws(MigrationObstacle) {
    guard tally.kind == .unfit, count > 0, migration.resolutions.unfitValues == .refuse else { return }
    throw MigrationObstacle("values have no form in a new type")
  }

  private func narrow(_ narrowing: NarrowingTranslation) throws {
    guard try Bool.fetchOne(db, sql: narrowing.survey) == false else {
      throw MigrationObstacle("records lead to several where one is allowed")
    }
    try execute(narrowing.update)
  }
}

// MARK: Required values

extension MigrationStatements {
  private func checkRequiredValues() throws {
    for entity in translation.entities {
      for (ordinal, column) in entity.plan.columns.enumerated() {
        let trait = entity.plan.destination.traits[ordinal]
        guard !trait.isOptional, !trait.isTransient, let property = entity.destination.properties[ordinal] else {
          continue
        }
        let count = try emptyCount(property, of: entity.destination, SQLFragment.new)
        guard count > 0 else { continue }
        guard let source = column.sourceOrdinal, !entity.plan.source.traits[source].isOptional,
          let old = entity.source.properties[source],
          count <= (try emptyCount(old, of: entity.source, SQLFragment.old))
        else { throw MigrationObstacle("records have no value where there must be one") }
      }
    }
  }

  /// How many records have nothing for a property.
  private func emptyCount(
    _ property: PropertyMapping,
    of mapping: EntityMapping,
    _ table: (String) -> String
  ) throws -> Int {
    let condition =
      switch property {
      case .attribute(let place): "\(SQLiteName.quoted(place.column)) IS NULL"
      case .toOne(let place): "\(SQLiteName.quoted(place.column)) IS NULL"
      case .toMany(let place):
        "NOT EXISTS (SELECT 1 FROM \(table(place.table)) WHERE \(place.isOwned(by: "record.Z_PK")))"
      case .join(let place):
        "NOT EXISTS (SELECT 1 FROM \(table(place.table)) WHERE \(place.isOwned(by: "record.Z_PK")))"
      }
    let query =
      "SELECT count(*) FROM \(table(mapping.tableName)) AS record WHERE Z_ENT = \(mapping.number) AND \(condition)"
    return try Int.fetchOne(db, sql: query) ?? 0
  }
}

extension ToManyMapping {
  fileprivate func isOwned(by key: String) -> String { "\(SQLiteName.quoted(column)) = \(key)" }
}

extension JoinMapping {
  fileprivate func isOwned(by key: String) -> String {
    let columns = isReflexive ? [ownColumn, otherColumn] : [ownColumn]
    return columns.map { "\(SQLiteName.quoted($0)) = \(key)" }.joined(separator: " OR ")
  }
}

// MARK: What is told of the records

extension MigrationStatements {
  private var hasExternalData: Bool {
    translation.new.entities.lazy.compactMap(\.self).flatMap(\.properties).contains { property in
      if case .attribute(let place) = property { StoredValue.isExternal(place.storage) } else { false }
    }
  }

  /// Sees to it that no key is given again that a record has had.
  private func raiseKeys() throws {
    for entity in translation.entities {
      let former =
        "SELECT Z_MAX FROM \(SQLFragment.old(SQLiteName.primaryKeyTable)) WHERE Z_ENT = \(entity.source.rootNumber)"
      let present = "SELECT max(Z_PK) FROM \(SQLFragment.new(entity.destination.tableName))"
      try execute(
        "UPDATE Z_PRIMARYKEY SET Z_MAX = max(Z_MAX, ifnull((\(former)), 0), ifnull((\(present)), 0)) "
          + "WHERE Z_ENT = \(entity.destination.rootNumber)"
      )
    }
  }

  private func report() throws -> MigrationReport {
    var report = MigrationReport()
    report.isDoneInStore = true
    for (entity, counts) in zip(translation.entities, tallies) {
      for (tally, count) in zip(entity.tallies, counts) where count > 0 {
        let property = entity.plan.destination.properties[tally.ordinal].name
        report.findings.append(.init(tally.kind, entity.plan.destination.name, property, count: count))
      }
    }
    let plan = migration.plan
    report.entities = try plan.mapping.entityMappings.map { mapping in
      let source = try mapping.sourceEntityName.flatMap(plan.source.entity(named:)).map(rowCount)
      let place = translation.entities.firstIndex { $0.plan.destination.name == mapping.destinationEntityName }
      return .init(mapping, sourceCount: source ?? 0, destinationCount: place.map { counts[$0] } ?? 0)
    }
    return report
  }

  private func rowCount(of entity: EntityDescription) throws -> Int {
    if let place = translation.entities.firstIndex(where: { $0.plan.source === entity }) { return counts[place] }
    guard let mapping = translation.old.mapping(of: entity) else { return 0 }
    let query = "SELECT count(*) FROM \(SQLFragment.old(mapping.tableName)) WHERE Z_ENT = \(mapping.number)"
    return try Int.fetchOne(db, sql: query) ?? 0
  }
}
