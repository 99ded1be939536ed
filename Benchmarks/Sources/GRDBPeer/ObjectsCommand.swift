import ArgumentParser
import BenchmarkSupport
import GRDB

/// Fetches all to-dos into an array and reads every value of each.
struct ObjectsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "objects", abstract: "Fetch all to-dos and read them.")

  @Argument var path: String

  func run() throws {
    var configuration = Configuration()
    configuration.readonly = true
    let clock = ContinuousClock()
    let start = clock.now
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let rows = try queue.read { try ToDoRow.fetchAll($0, sql: ToDoRow.selectAll) }
    let fetched = clock.now
    var checksum = ToDoChecksum()
    for row in rows { checksum.add(row.toDo) }
    let end = clock.now
    try CaseReport(
      seconds: (end - start).seconds,
      rows: checksum.rows,
      checksum: checksum.value,
      details: ["fetch": (fetched - start).seconds]
    ).print()
  }
}
