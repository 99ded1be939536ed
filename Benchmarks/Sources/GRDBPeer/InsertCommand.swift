import ArgumentParser
import BenchmarkSupport
import Foundation
import GRDBSQLite

/// Makes the database that ``CreateCommand`` makes, by SQLite's own functions: what no other way can be quicker than.
struct InsertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "insert",
    abstract: "Write a database of to-dos by SQLite's own functions."
  )

  @Argument var path: String
  @Option var rows = 1_000_000

  func run() throws {
    try? FileManager.default.removeItem(atPath: path)
    let clock = ContinuousClock()
    let duration = try clock.measure {
      let database = try DirectDatabase(path)
      defer { database.close() }
      try database.execute("\(ToDoRow.createTable); BEGIN")
      let statement = try database.prepare(ToDoRow.insert)
      defer { sqlite3_finalize(statement) }
      for toDo in ToDoSequence(count: rows) {
        bind(toDo, to: statement)
        try database.check(sqlite3_step(statement), expected: SQLITE_DONE)
        sqlite3_reset(statement)
      }
      try database.execute("COMMIT")
    }
    try CaseReport(seconds: duration.seconds, rows: rows).print()
  }

  private func bind(_ toDo: ToDo, to statement: OpaquePointer?) {
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    sqlite3_bind_int64(statement, 1, toDo.isDone ? 1 : 0)
    sqlite3_bind_text(statement, 2, toDo.memo, -1, transient)
    sqlite3_bind_int64(statement, 3, toDo.sortOrder)
    sqlite3_bind_double(statement, 4, toDo.creationDate.timeIntervalSinceReferenceDate)
    withUnsafeBytes(of: toDo.recordID.uuid) { bytes in
      _ = sqlite3_bind_blob64(statement, 5, bytes.baseAddress, UInt64(bytes.count), transient)
    }
  }
}
