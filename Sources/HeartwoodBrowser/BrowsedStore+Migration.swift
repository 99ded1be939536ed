import HeartwoodGraph
import HeartwoodModel
import HeartwoodRecordText
import HeartwoodStore

// MARK: Migration

extension BrowsedStore {
  /// Returns what a migration to the newer model would do to the saved records. Nothing is written. O(records), unless
  /// the store counts in SQL.
  func migrationReport() throws -> JSONValue {
    guard let migration else { throw BrowserError.notFound }
    guard let migration = try migration() else { return .object([("isNeeded", .boolean(false))]) }
    let report = try migration.dryRun()
    return .object([
      ("isNeeded", .boolean(true)),
      ("isPossible", .boolean(report.obstacles.isEmpty)),
      ("steps", .array(migration.steps.map(Self.json))),
      ("changes", .array(migration.differences.changes.map(Self.json))),
      ("entities", .array(report.entities.map(Self.json))),
      ("findings", .array(report.findings.map(Self.json))),
      ("lostTransactionCount", .integer(report.lostTransactionCount)),
      ("isDoneInStore", .boolean(report.isDoneInStore)),
      ("reasonNotInStore", .optional(report.reasonNotInStore?.detail)),
    ])
  }

  private static func json(_ step: MigrationStep) -> JSONValue {
    .object([
      ("isInferred", .boolean(step.isInferred)),
      ("mappings", .array(step.mappingModel.entityMappings.map { .string($0.name) })),
    ])
  }

  private static func json(_ change: ModelChange) -> JSONValue {
    .object([
      ("kind", .string(change.kind.rawValue)), ("path", .string(change.path)), ("detail", .string(change.detail)),
      ("obstacle", .optional(change.obstacle)),
    ])
  }

  private static func json(_ entity: MigrationReport.Entity) -> JSONValue {
    .object([
      ("type", .string(entity.mappingType.rawValue)), ("source", .optional(entity.sourceName)),
      ("destination", .optional(entity.destinationName)), ("sourceCount", .integer(entity.sourceCount)),
      ("destinationCount", .integer(entity.destinationCount)),
    ])
  }

  private static func json(_ finding: MigrationReport.Finding) -> JSONValue {
    .object([
      ("kind", .string(finding.kind.rawValue)), ("entity", .string(finding.entity)),
      ("property", .string(finding.property)), ("count", .integer(finding.count)), ("text", .string("\(finding)")),
      ("isObstacle", .boolean(finding.isObstacle)),
    ])
  }
}
