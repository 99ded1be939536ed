import ArgumentParser
import BenchmarkSupport
import Foundation
import GRDB

/// Makes the database that the other commands read.
struct CreateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "create", abstract: "Write a database of to-dos.")

  @Argument var path: String
  @Option var rows = 1_000_000

  func run() throws {
    try? FileManager.default.removeItem(atPath: path)
    let queue = try DatabaseQueue(path: path)
    let clock = ContinuousClock()
    let duration = try clock.measure {
      try queue.write { database in
        try database.execute(sql: ToDoRow.createTable)
        let insert = try database.makeStatement(sql: ToDoRow.insert)
        for toDo in ToDoSequence(count: rows) {
          let date = toDo.creationDate.timeIntervalSinceReferenceDate
          try insert.execute(arguments: [toDo.isDone, toDo.memo, toDo.sortOrder, date, toDo.recordID])
        }
      }
    }
    try queue.close()
    try CaseReport(seconds: duration.seconds, rows: rows).print()
  }
}
