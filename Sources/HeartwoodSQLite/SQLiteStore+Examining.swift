import GRDB
import HeartwoodStore

extension SQLiteStore: SelfExaminingStore {
  /// What SQLite's own check finds: pages that are damaged, and indexes that lack rows, by which fetches would miss records.
  package func faults(limit: Int) throws -> [String] {
    let rows = try withDatabase { db in try String.fetchAll(db, sql: "PRAGMA integrity_check(\(limit))") }
    // A row may have several lines, the first of which is a heading.
    let lines = rows.flatMap { $0.split(separator: "\n") }.filter { !$0.hasPrefix("***") && $0 != "ok" }
    return lines.prefix(limit).map { "The file is damaged, as SQLite's check finds: \($0)." }
  }
}
