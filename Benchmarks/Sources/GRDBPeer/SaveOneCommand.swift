import ArgumentParser
import BenchmarkSupport
import GRDBSQLite

/// Changes one row in a transaction of its own, again and again, by SQLite's own functions.
struct SaveOneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "save-one",
    abstract: "Change a row durably by SQLite's own functions."
  )

  @Argument var path: String

  func run() throws {
    let database = try DirectDatabase(path)
    defer { database.close() }
    try database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    let texts = ["BEGIN IMMEDIATE", "UPDATE todo SET sortOrder = ? WHERE id = ?", "COMMIT"]
    let statements = try texts.map(database.prepare)
    defer { for statement in statements { sqlite3_finalize(statement) } }
    var value: Int64 = 0
    let result = try Repetition.median {
      value ^= 1
      try database.check(sqlite3_bind_int64(statements[1], 1, value))
      try database.check(sqlite3_bind_int64(statements[1], 2, 500_000))
      for statement in statements {
        try database.check(sqlite3_step(statement), expected: SQLITE_DONE)
        try database.check(sqlite3_reset(statement))
      }
      return 1
    }
    try CaseReport(seconds: result.seconds, rows: result.rows).print()
  }
}
