import GRDB
import HeartwoodModel
import HeartwoodStore

/// Counts in SQL the changes that a migration makes to records, and finds obstacles to it.
///
/// It queries the old tables and the new ones: either the tables that were created, or views that show what they would
/// contain.
struct MigrationSurvey {
  struct Result {
    let report: MigrationReport
    /// The names of the files with large data that rows refer to.
    let fileNames: Set<String>
  }

  /// The number of rows that are processed at once; the migration can be cancelled in between.
  private static let stretch = 65_536

  private let translation: MigrationTranslation
  private let migration: InStoreMigration
  private let db: Database
  /// The number of rows of each entity, by its index in the translation.
  private var counts: [Int]
  /// The counts of the tallies.
  private var tallies: [[Int]]
  /// The records and values that would be lost.
  private var losses: [MigrationReport.Finding] = []

  init(_ translation: MigrationTranslation, _ migration: InStoreMigration, _ db: Database) {
    self.translation = translation
    self.migration = migration
    self.db = db
    counts = translation.entities.map { _ in 0 }
    tallies = translation.entities.map { $0.tallies.map { _ in 0 } }
  }

  /// Returns the result that a migration would have. `db` may contain temporary views, and is not written to.
  ///
  /// - Throws: ``MigrationObstacle`` if ``MigrationStatements`` would throw it.
  static func run(
    _ translation: MigrationTranslation,
    _ migration: InStoreMigration,
    _ db: Database
  ) throws -> Result {
    try MigrationViews(translation).create(in: db)
    var survey = MigrationSurvey(translation, migration, db)
    try survey.countLosses()
    try survey.countRows { _, _ in }
    for narrowing in translation.narrowings { try survey.check(narrowing) }
    for index in translation.new.indexes where index.isUnique { try survey.check(index) }
    try survey.checkRequiredValues()
    return try survey.result()
  }

  func result() throws -> Result {
    Result(report: try report(), fileNames: try ExternalNames.all(of: translation.new.tables, in: db))
  }
}

// MARK: Rows

extension MigrationSurvey {
  /// Counts all rows, and calls `body` with each entity and each range of keys in which it has rows.
  mutating func countRows(_ body: (EntityTranslation, ClosedRange<Int64>) throws -> Void) throws {
    let places = Dictionary(grouping: translation.entities.indices) { translation.entities[$0].source.tableName }
    let tables = try places.sorted { $0.key < $1.key }.map { (ranges: try ranges($0.key), places: $0.value) }
    migration.progress.expect(tables.reduce(0) { $0 + $1.ranges.count })
    for table in tables {
      for range in table.ranges {
        try migration.progress.check()
        for place in table.places where try count(place, range) { try body(translation.entities[place], range) }
        migration.progress.advance()
      }
    }
  }

  /// Returns ranges of keys that contain the same number of rows each, except for the last.
  private func ranges(_ table: String) throws -> [ClosedRange<Int64>] {
    let query =
      "SELECT Z_PK FROM \(SQLFragment.old(table)) WHERE Z_PK >= ? ORDER BY Z_PK LIMIT 1 OFFSET \(Self.stretch - 1)"
    let statement = try db.cachedStatement(sql: query)
    var ranges: [ClosedRange<Int64>] = []
    var start = Int64.min
    while let end = try Int64.fetchOne(statement, arguments: [start]), end < .max {
      // This happens in a table with damaged pages.
      guard start <= end else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "keys are out of order") }
      ranges.append(start...end)
      start = end + 1
    }
    return ranges + [start ... .max]
  }

  /// Counts rows, and returns whether there are any.
  private mutating func count(_ place: Int, _ range: ClosedRange<Int64>) throws -> Bool {
    let entity = translation.entities[place]
    let survey = try db.cachedStatement(sql: entity.survey)
    guard let row = try Row.fetchOne(survey, arguments: [range.lowerBound, range.upperBound]) else { return false }
    let (count, oddCount): (Int, Int) = (row[0], row[1])
    if count == 0 { return false }
    guard oddCount == 0 else {
      throw MigrationObstacle(.records, "\(oddCount) records of \(entity.plan.source.name) have values of another form")
    }
    counts[place] += count
    for index in entity.tallies.indices {
      tallies[place][index] += row[index + 2]
      try check(entity.tallies[index], tallies[place][index])
    }
    return true
  }

  private func check(_ tally: EntityTranslation.Tally, _ count: Int) throws(MigrationObstacle) {
    guard tally.kind == .unfit, count > 0, migration.resolutions.unfitValues == .refuse else { return }
    throw MigrationObstacle(.records, "values have no equivalent in a new type")
  }

  func check(_ narrowing: NarrowingTranslation) throws {
    try migration.progress.check()
    guard try Bool.fetchOne(db, sql: narrowing.survey) == false else {
      throw MigrationObstacle(.records, "records refer to several objects where one is allowed")
    }
  }

  /// Checks a constraint of an index that is not created.
  private func check(_ index: SQLiteIndex) throws {
    try migration.progress.check()
    guard try Bool.fetchOne(db, sql: index.survey) == false else { throw MigrationObstacle.repeatedValues }
  }
}

extension SQLiteIndex {
  /// A statement that finds whether rows have the same values.
  fileprivate var survey: String {
    let columns = terms.map { SQLiteName.quoted($0.column) }
    let conditions = columns.map { $0 + " IS NOT NULL" } + [condition].compactMap(\.self)
    return "SELECT EXISTS (SELECT 1 FROM \(SQLFragment.new(tableName)) "
      + "WHERE \(conditions.joined(separator: " AND ")) "
      + "GROUP BY \(columns.joined(separator: ", ")) HAVING count(*) > 1)"
  }
}

extension MigrationObstacle {
  static let repeatedValues = MigrationObstacle(.records, "values must be unique and are not, or two rows are one")
}

// MARK: Losses

extension MigrationSurvey {
  /// Counts the records and values that are left out. An obstacle among them does not affect the rest.
  mutating func countLosses() throws {
    losses = try migration.losses(recordCount: storedCount) { entity, ordinal in
      guard let placement = translation.old.placement(of: entity), let property = placement.properties[ordinal] else {
        return 0
      }
      return try storedCount(of: entity) - emptyCount(property, of: placement, SQLFragment.old)
    }
  }

  /// Throws if there is an obstacle, so that the migration in memory lists all obstacles.
  func checkLosses() throws(MigrationObstacle) {
    guard losses.contains(where: \.isObstacle) else { return }
    throw MigrationObstacle("records or values would be lost")
  }

  private func storedCount(of entity: EntityDescription) throws -> Int {
    try migration.progress.check()
    guard let placement = translation.old.placement(of: entity) else { return 0 }
    let query = "SELECT count(*) FROM \(SQLFragment.old(placement.tableName)) WHERE Z_ENT = \(placement.number)"
    return try Int.fetchOne(db, sql: query) ?? 0
  }
}

// MARK: Required values

extension MigrationSurvey {
  func checkRequiredValues() throws {
    for entity in translation.entities {
      try migration.progress.check()
      for (ordinal, column) in entity.plan.columns.enumerated() {
        let description = entity.plan.destination.properties[ordinal]
        guard !description.mayBeEmpty, !description.isTransient, Self.mayBeEmpty(ordinal, entity.plan),
          let property = entity.destination.properties[ordinal]
        else { continue }
        let count = try emptyCount(property, of: entity.destination, SQLFragment.new)
        guard count > 0 else { continue }
        guard let source = column.sourceOrdinal, !entity.plan.source.properties[source].mayBeEmpty,
          let old = entity.source.properties[source],
          count <= (try emptyCount(old, of: entity.source, SQLFragment.old))
        else { throw MigrationObstacle(.records, "records have no value for a required property") }
      }
    }
  }

  /// Returns whether records may have no value for a required property. They cannot if they get a default value
  /// instead.
  private static func mayBeEmpty(_ ordinal: Int, _ plan: EntityMigration) -> Bool {
    guard let attribute = plan.destination.properties[ordinal].attribute else { return true }
    if case .constant(let value) = plan.columns[ordinal] { return value.isNull }
    return attribute.defaultValue.isNull
  }

  /// Returns the number of records that have no value for a property.
  private func emptyCount(
    _ property: PropertyPlacement,
    of placement: EntityPlacement,
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
      "SELECT count(*) FROM \(table(placement.tableName)) AS record WHERE Z_ENT = \(placement.number) AND \(condition)"
    return try Int.fetchOne(db, sql: query) ?? 0
  }
}

extension ToManyPlacement {
  fileprivate func isOwned(by key: String) -> String { "\(SQLiteName.quoted(column)) = \(key)" }
}

extension JoinPlacement {
  fileprivate func isOwned(by key: String) -> String {
    let columns = isReflexive ? [ownColumn, otherColumn] : [ownColumn]
    return columns.map { "\(SQLiteName.quoted($0)) = \(key)" }.joined(separator: " OR ")
  }
}

// MARK: Findings about the records

extension MigrationSurvey {
  private func report() throws -> MigrationReport {
    var findings = losses
    for (entity, counts) in zip(translation.entities, tallies) {
      for (tally, count) in zip(entity.tallies, counts) where count > 0 {
        let property = entity.plan.destination.properties[tally.ordinal].name
        findings.append(.init(tally.kind, entity.plan.destination.name, property, count: count))
      }
    }
    return try migration.report(findings, sourceCount: rowCount) { entity in
      translation.entities.firstIndex { $0.plan.destination === entity }.map { counts[$0] } ?? 0
    }
  }

  private func rowCount(of entity: EntityDescription) throws -> Int {
    if let place = translation.entities.firstIndex(where: { $0.plan.source === entity }) { return counts[place] }
    return try storedCount(of: entity)
  }
}
