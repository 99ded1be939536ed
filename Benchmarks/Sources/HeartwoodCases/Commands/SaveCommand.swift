import ArgumentParser
import BenchmarkSupport
import Heartwood

/// Changes records of a store and measures the save.
struct SaveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "save", abstract: "Change records and save them.")

  @Argument var path: String
  @Option(help: "How many records to change; all by default.") var changes: Int?
  @Flag(help: "Keep the save in the store's history.") var history = false

  func run() throws {
    let context = try ToDoObject.openContext(path, tracksHistory: history)
    let objects = try context.fetch(ToDoObject.self)
    // From the middle, so that neither the first nor the last part of the file is favoured.
    let count = min(changes ?? objects.count, objects.count)
    let first = (objects.count - count) / 2
    let clock = ContinuousClock()
    let start = clock.now
    for object in objects[first..<first + count] { object.sortOrder ^= 1 }
    let changed = clock.now
    try context.save()
    let end = clock.now
    try CaseReport(
      seconds: (end - changed).seconds,
      rows: count,
      details: count == 1 ? nil : ["changing": (changed - start).seconds]
    ).print()
  }
}
