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
    var connection: OpaquePointer?
    try check(sqlite3_open(path, &connection))
    defer { sqlite3_close(connection) }
    try check(sqlite3_exec(connection, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", nil, nil, nil))
    let statements = try ["BEGIN IMMEDIATE", "UPDATE todo SET sortOrder = ? WHERE id = ?", "COMMIT"].map { text in
      var statement: OpaquePointer?
      try check(sqlite3_prepare_v2(connection, text, -1, &statement, nil))
      return statement
    }
    defer { for statement in statements { sqlite3_finalize(statement) } }
    var value: Int64 = 0
    let result = try Repetition.median {
      value ^= 1
      try check(sqlite3_bind_int64(statements[1], 1, value))
      try check(sqlite3_bind_int64(statements[1], 2, 500_000))
      for statement in statements {
        try check(sqlite3_step(statement), expected: SQLITE_DONE)
        try check(sqlite3_reset(statement))
      }
      return 1
    }
    try CaseReport(seconds: result.seconds, rows: result.rows).print()
  }

  private func check(_ code: CInt, expected: CInt = SQLITE_OK) throws {
    guard code == expected else { throw ValidationError("SQLite says \(code).") }
  }
}
