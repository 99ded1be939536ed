import ArgumentParser
import BenchmarkSupport
import Heartwood

/// Registers an object for each record and reads none.
struct FaultsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "faults", abstract: "Fetch all objects as faults.")

  @Argument var path: String

  func run() throws {
    let clock = ContinuousClock()
    let memory = ProcessMemory.anonymousBytes
    let start = clock.now
    let context = try ToDoObject.openContext(path)
    let objects = try context.fetch(ToDoObject.self)
    let end = clock.now
    guard objects.allSatisfy(\.isFault) else { throw CaseError("An object was read by the fetch.") }
    try withExtendedLifetime(context) {
      let growth = memory.flatMap { before in ProcessMemory.anonymousBytes.map { Double($0 - before) } }
      try CaseReport(
        seconds: (end - start).seconds,
        rows: objects.count,
        bytesPerRow: growth.map { $0 / Double(max(1, objects.count)) }
      ).print()
    }
  }
}
