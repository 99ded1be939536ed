import ArgumentParser
import BenchmarkSupport
import GRDB

/// Opens the database and counts.
struct CountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "count",
    abstract: "Open a database and count its to-dos."
  )

  @Argument var path: String

  func run() throws {
    var configuration = Configuration()
    configuration.readonly = true
    let clock = ContinuousClock()
    let start = clock.now
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let rows = try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM todo") ?? 0 }
    let duration = clock.now - start
    try CaseReport(seconds: duration.seconds, rows: rows).print()
  }
}
