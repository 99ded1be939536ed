import GRDB
import GRDBSQLite

/// The bytes that SQLite has for a column of the row that a statement is at, valid until the statement's next step.
enum ColumnBytes {
  @inline(__always)
  static func blob(_ statement: SQLiteStatement, _ index: CInt) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_blob(statement, index)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index)))
  }

  /// In UTF-8, unless a file from elsewhere holds what is none.
  @inline(__always)
  static func text(_ statement: SQLiteStatement, _ index: CInt) -> UnsafeRawBufferPointer {
    // In this order: the first call is the one that makes text of what is stored, whose length the second one tells.
    let start = sqlite3_column_text(statement, index)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index)))
  }
}
