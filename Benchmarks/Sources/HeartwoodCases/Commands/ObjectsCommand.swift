import ArgumentParser
import BenchmarkSupport
import Heartwood

/// Registers an object for each record and reads every value of each.
struct ObjectsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "objects", abstract: "Fetch all objects and read them.")

  @Argument var path: String

  func run() throws {
    let clock = ContinuousClock()
    let start = clock.now
    let context = try ToDoObject.openContext(path)
    let objects = try context.fetch(ToDoObject.self)
    let fetched = clock.now
    var checksum = ToDoChecksum()
    for object in objects { try checksum.add(object) }
    let end = clock.now
    try withExtendedLifetime((context, objects)) {
      try CaseReport(
        seconds: (end - start).seconds,
        rows: checksum.rows,
        checksum: checksum.value,
        details: ["open and fetch": (fetched - start).seconds]
      ).print()
    }
  }
}
