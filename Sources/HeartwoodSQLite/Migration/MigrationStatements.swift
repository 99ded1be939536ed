import GRDB
import HeartwoodModel
import HeartwoodStore

/// Carries out a migration in SQL, in the transaction that makes the new file.
struct MigrationStatements {
  private let translation: MigrationTranslation
  private let migration: InStoreMigration
  private let db: Database

  /// - Throws: ``MigrationObstacle`` where records stand in the way, or are not as they should be.
  static func run(
    _ translation: MigrationTranslation,
    _ migration: InStoreMigration,
    _ db: Database
  ) throws -> MigrationSurvey.Result {
    do {
      return try MigrationStatements(translation: translation, migration: migration, db: db).run()
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
      throw MigrationObstacle.repeatedValues
    }
  }

  private func run() throws -> MigrationSurvey.Result {
    let new = translation.new
    var survey = MigrationSurvey(translation, migration, db)
    try survey.countLosses()
    try survey.checkLosses()
    try new.createTables(in: db)
    try survey.countRows(insert)
    for join in translation.joins { try execute(join.insertion) }
    for narrowing in translation.narrowings {
      try survey.check(narrowing)
      try execute(narrowing.update)
    }
    for order in translation.orders { try execute(order.update) }
    try new.createIndexes(in: db)
    try survey.checkRequiredValues()
    try raiseKeys()
    try SQLiteMetadata(migration.metadata).write(to: db, model: new.model)
    try SQLiteModelCache.write(new.model, to: db)
    return try survey.result()
  }

  private func execute(_ text: String) throws {
    try migration.progress.check()
    try db.execute(sql: text)
  }

  private func insert(_ entity: EntityTranslation, _ range: ClosedRange<Int64>) throws {
    let insertion = entity.insertion
    let arguments = insertion.arguments + [range.lowerBound, range.upperBound]
    try db.cachedStatement(sql: insertion.text).execute(arguments: StatementArguments(arguments))
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
}
