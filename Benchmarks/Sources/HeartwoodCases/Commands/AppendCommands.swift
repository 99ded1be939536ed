import ArgumentParser
import BenchmarkSupport
import Foundation
import Heartwood

/// Changes one record and saves it, again and again, each time another record.
struct SaveOneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "save-one",
    abstract: "Change one record and save it; report the median of 21 saves, or the mean of as many as are asked for."
  )

  @Argument var path: String
  @Option(help: "How many saves to make.") var saves: Int?
  @Flag(help: "Keep the saves in the store's history.") var history = false

  func run() throws {
    let context = try ToDoObject.openContext(path, tracksHistory: history)
    let count = try context.count(entityName: ToDoObject.entityName)
    guard count > 0 else { throw CaseError("There is no record.") }
    var next = 0
    // An object that stays registered keeps the values of its group as they were when it was saved.
    func save() throws -> Int {
      next = (next + 611_953) % count
      try context.fetch(FetchRequest<ToDoObject>(offset: next, limit: 1)).first?.sortOrder ^= 1
      try context.save()
      return 1
    }
    let length = try Self.length(path)
    if let saves {
      _ = try save()
      let clock = ContinuousClock()
      var greatest = length
      let duration = try clock.measure {
        for _ in 1..<saves {
          _ = try save()
          greatest = max(greatest, try Self.length(path))
        }
      }
      guard greatest * 10 <= length * 16 else { throw CaseError("The file grew from \(length) to \(greatest) bytes.") }
      return try CaseReport(seconds: duration.seconds / Double(max(1, saves - 1)), rows: saves).print()
    }
    let result = try Repetition.median(save)
    try CaseReport(seconds: result.seconds, rows: 1).print()
  }

  private static func length(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.size] as? NSNumber)?.intValue ?? 0
  }
}

/// Adds 4 KB to a file and flushes it, and writes 64 bytes at its front and flushes it: what a save that is added to a file takes of the
/// disk, if both have to be there.
struct AppendCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "append", abstract: "Add 4 KB to a file, durably.")

  @Argument var path: String

  func run() throws {
    let file = try FileHandle(forUpdating: URL(filePath: path))
    let (block, slot) = (Data(repeating: 7, count: 4096), Data(repeating: 9, count: 64))
    let result = try Repetition.median {
      try file.seekToEnd()
      try file.write(contentsOf: block)
      try file.synchronize()
      try file.seek(toOffset: 4096)
      try file.write(contentsOf: slot)
      try file.synchronize()
      return 1
    }
    try file.close()
    try CaseReport(seconds: result.seconds, rows: 0).print()
  }
}
