import GRDB
import GRDBSQLite

extension Statement {
  /// Goes on to the next row, whose columns are then read from ``sqliteStatement``; false where there is none.
  @inline(__always)
  func nextRow() throws -> Bool {
    let code = sqlite3_step(sqliteStatement)
    if code == SQLITE_ROW { return true }
    guard code == SQLITE_DONE else { throw SQLiteFailure.step(code, of: sqliteStatement) }
    return false
  }
}

extension Statement {
  /// Begins anew, with the ends of `range` as the arguments.
  func begin(_ range: ClosedRange<Int64>) throws {
    sqlite3_reset(sqliteStatement)
    for (place, end) in [range.lowerBound, range.upperBound].enumerated() {
      let code = sqlite3_bind_int64(sqliteStatement, CInt(place + 1), end)
      guard code == SQLITE_OK else { throw SQLiteFailure.step(code, of: sqliteStatement) }
    }
  }

  /// Lets go of the rows, and of the lock that reading them holds.
  func end() {
    sqlite3_reset(sqliteStatement)
  }
}
