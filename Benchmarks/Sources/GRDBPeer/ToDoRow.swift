import BenchmarkSupport
import Foundation
import GRDB

/// A to-do as GRDB decodes it fastest: columns by index, the date a number, the identifier 16 bytes.
struct ToDoRow: FetchableRecord {
  let toDo: ToDo

  init(row: Row) {
    toDo = ToDo(
      isDone: row[0],
      memo: row[1],
      sortOrder: row[2],
      creationDate: Date(timeIntervalSinceReferenceDate: row[3]),
      recordID: row[4]
    )
  }

  static let createTable = """
    CREATE TABLE todo (id INTEGER PRIMARY KEY, done BOOLEAN, memo TEXT, sortOrder INTEGER, creationDate DOUBLE, recordUUID BLOB)
    """

  static let insert = "INSERT INTO todo (done, memo, sortOrder, creationDate, recordUUID) VALUES (?, ?, ?, ?, ?)"

  static let selectAll = "SELECT done, memo, sortOrder, creationDate, recordUUID FROM todo"
}
