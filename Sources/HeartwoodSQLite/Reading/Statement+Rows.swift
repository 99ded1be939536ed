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
