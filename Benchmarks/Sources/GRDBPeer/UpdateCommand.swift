import ArgumentParser
import BenchmarkSupport

/// Changes half of the to-dos of a file of Core Data's schema, by SQL by hand.
struct UpdateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "update", abstract: "Change many to-dos at once.")

  @Argument var path: String

  func run() throws {
    let database = try DirectDatabase(path)
    defer { database.close() }
    try database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -1000000")
    let clock = ContinuousClock()
    let duration = try clock.measure {
      try database.execute(
        "UPDATE ZITEM SET Z_OPT = Z_OPT + 1, ZSORTORDER = ZSORTORDER + 1, ZMEMO = 'done' WHERE ZDONE = 1"
      )
    }
    try CaseReport(seconds: duration.seconds, rows: database.changeCount).print()
  }
}
