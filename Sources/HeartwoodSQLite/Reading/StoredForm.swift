import GRDBSQLite

/// What stands in a cell of a row, in words: the form alone, so that no message has a value of a record.
enum StoredForm {
  static func text(_ type: CInt) -> String {
    switch type {
    case SQLITE_INTEGER: "an integer"
    case SQLITE_FLOAT: "a real number"
    case SQLITE_TEXT: "text"
    case SQLITE_BLOB: "bytes"
    default: "nothing"
    }
  }
}
