import ArgumentParser
import GRDBSQLite

/// A database that is used by SQLite's own functions.
struct DirectDatabase {
  private let connection: OpaquePointer?

  init(_ path: String) throws {
    var connection: OpaquePointer?
    let code = sqlite3_open(path, &connection)
    self.connection = connection
    try check(code)
  }

  /// How many rows the last statement has changed.
  var changeCount: Int { Int(sqlite3_changes(connection)) }

  func close() { sqlite3_close(connection) }

  func execute(_ text: String) throws { try check(sqlite3_exec(connection, text, nil, nil, nil)) }

  func prepare(_ text: String) throws -> OpaquePointer? {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(connection, text, -1, &statement, nil))
    return statement
  }

  func check(_ code: CInt, expected: CInt = SQLITE_OK) throws {
    guard code == expected else { throw ValidationError("SQLite says \(code).") }
  }
}
