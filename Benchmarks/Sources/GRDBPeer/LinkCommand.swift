import ArgumentParser
import BenchmarkSupport
import Foundation
import GRDB

/// Inserts to-dos that refer to the one before them, in one transaction.
struct LinkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link",
    abstract: "Insert to-dos with a reference to another in one transaction."
  )

  @Argument var path: String
  @Option var rows = 100_000

  func run() throws {
    for suffix in ["", "-journal"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    let toDos = Array(ToDoSequence(count: rows))
    let clock = ContinuousClock()
    let start = clock.now
    let queue = try DatabaseQueue(path: path)
    try queue.write { database in
      try database.execute(
        sql: """
          CREATE TABLE task (id INTEGER PRIMARY KEY, done BOOLEAN, memo TEXT, sortOrder INTEGER, creationDate DOUBLE,
          recordUUID BLOB, previous INTEGER REFERENCES task(id))
          """
      )
      let insert = try database.makeStatement(
        sql: """
          INSERT INTO task (done, memo, sortOrder, creationDate, recordUUID, previous) VALUES (?, ?, ?, ?, ?, ?)
          """
      )
      var previous: Int64?
      for toDo in toDos {
        let date = toDo.creationDate.timeIntervalSinceReferenceDate
        try insert.execute(arguments: [toDo.isDone, toDo.memo, toDo.sortOrder, date, toDo.recordID, previous])
        previous = database.lastInsertedRowID
      }
    }
    try CaseReport(seconds: (clock.now - start).seconds, rows: rows).print()
  }
}
