import GRDB
import HeartwoodModel
package import HeartwoodStore

extension SQLiteStore: SelfExaminingStore {
  /// What SQLite's own check finds: pages that are damaged, and indexes that lack rows, by which fetches would miss records.
  package func faults(limit: Int) throws -> [String] {
    let rows = try withDatabase { db in try Self.check(db, limit) }
    // A row may have several lines, the first of which is a heading.
    let lines = rows.flatMap { $0.split(separator: "\n") }.filter { !$0.hasPrefix("***") && $0 != "ok" }
    return lines.prefix(limit).map { "The file is damaged, as SQLite's check finds: \($0)." }
  }

  /// All values and rows that reading refuses, each once.
  package func unreadableValues(limit: Int) throws -> UnreadableValues {
    try withDatabase { db in
      var found = UnreadableValues(limit: limit)
      var seen: Set<ValueFault.Row> = []
      for entity in setup.entities where !entity.isAbstract {
        let reader = try reader(of: entity, db)
        try tellingDamage(reader.placement) {
          try reader.examine(db) { value, row in
            if let row, !seen.insert(row).inserted { return }
            found.note(value)
          }
        }
      }
      return found
    }
  }

  /// Checks tables by themselves where an index of one is of a function or an order of text that the program which made it had: nobody else
  /// can look through that.
  private static func check(_ db: Database, _ limit: Int) throws -> [String] {
    if let found = try rows(of: "integrity_check(\(limit))", db) { return found }
    let tables = try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table'")
    return try tables.flatMap { table in
      let name = table.quotedDatabaseIdentifier
      return try rows(of: "integrity_check(\(name))", db) ?? rows(of: "quick_check(\(name))", db) ?? []
    }
  }

  /// Nil where the check needs what is not known here.
  private static func rows(of check: String, _ db: Database) throws -> [String]? {
    do {
      return try String.fetchAll(db, sql: "PRAGMA \(check)")
    } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
      return nil
    }
  }
}
