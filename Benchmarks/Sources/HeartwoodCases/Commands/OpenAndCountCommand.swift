import ArgumentParser
import BenchmarkSupport
import Heartwood

/// Opens a store and counts its records.
struct OpenAndCountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "open-count", abstract: "Open a binary store and count.")

  @Argument var path: String

  func run() throws {
    let clock = ContinuousClock()
    let start = clock.now
    let context = try ToDoObject.openContext(path)
    let opened = clock.now
    let rows = try context.count(entityName: ToDoObject.entityName)
    let end = clock.now
    try CaseReport(seconds: (end - start).seconds, rows: rows, details: ["open": (opened - start).seconds]).print()
  }
}
