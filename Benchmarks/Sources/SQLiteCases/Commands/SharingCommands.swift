import ArgumentParser
import BenchmarkSupport
import Foundation
import Heartwood

/// Walks over all to-dos in pages, of which nobody keeps anything.
struct WalkItemsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "walk",
    abstract: "Walk over all objects in pages, and tell how much memory that takes."
  )

  @Argument var path: String
  @Option(help: "How many objects a page has.") var page = 10_000

  func run() throws {
    let context = try Item.openContext(path, cacheSize: nil)
    let clock = ContinuousClock()
    let start = clock.now
    var (rows, sum) = (0, Int64(0))
    while true {
      let items = try context.fetch(FetchRequest<Item>(offset: rows, limit: page))
      for item in items { sum &+= item.sortOrder &+ Int64(item[Item.memoKey].utf8.count) }
      rows += items.count
      if items.count < page { break }
    }
    let seconds = (clock.now - start).seconds
    let peak = ProcessMemory.peakBytes.map { ["megabytes at most": Double($0) / 1_000_000] }
    try CaseReport(seconds: seconds, rows: rows, details: peak).print()
  }
}

/// Fetches 100 to-dos after somebody else has saved one, while many are known.
struct RenewItemsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "renew",
    abstract: "Fetch 100 objects after somebody else has saved one."
  )

  @Argument var path: String
  @Option(help: "How many records the store has read before.") var known = 1_000_000
  @Option(help: "How often it is measured.") var rounds = 7
  @Flag(help: "Read all known records again to compare them, however many there are.") var comparing = false

  func run() throws {
    // SQLite throws all pages away that it has of a file once another connection has saved.
    let context = try Item.openContext(path, cacheSize: nil, recordsComparedAtOnce: comparing ? .max : nil)
    let other = try Item.openContext(path)
    guard let theirs = try other.fetch(FetchRequest<Item>(limit: 1)).first else {
      throw ValidationError("There is no to-do.")
    }
    let clock = ContinuousClock()
    var times: [Double] = []
    for _ in 0..<rounds {
      // No object of them is made.
      let count = try context.fetchObjectIDs(FetchRequest<Item>(limit: known)).count
      guard count == known else { throw ValidationError("There are \(count) to-dos only.") }
      theirs.sortOrder ^= 1
      try other.save()
      let start = clock.now
      let items = try context.fetch(FetchRequest<Item>(limit: 100))
      times.append((clock.now - start).seconds)
      guard items.first?.sortOrder == theirs.sortOrder else { throw ValidationError("The save was not seen.") }
    }
    times.sort()
    try CaseReport(seconds: times[times.count / 2], rows: known).print()
  }
}

/// Lets a context stay at a version of the records, of which it has read some.
struct PinCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pin",
    abstract: "Let a context stay at the newest version, and fetch 100 objects of it."
  )

  @Argument var path: String
  @Option(help: "How often it is measured.") var rounds = 101

  func run() throws {
    let context = try Item.openContext(path)
    let held = try context.fetch(FetchRequest<Item>(limit: 10))
    let clock = ContinuousClock()
    var (pins, fetches): ([Double], [Double]) = ([], [])
    for _ in 0..<rounds {
      let start = clock.now
      try context.setQueryGeneration(from: .current)
      let pinned = clock.now
      let items = try context.fetch(FetchRequest<Item>(limit: 100))
      let fetched = clock.now
      guard items.first === held.first else { throw ValidationError("The first to-do is another object.") }
      pins.append((pinned - start).seconds)
      fetches.append((fetched - pinned).seconds)
      try context.setQueryGeneration(from: nil)
    }
    let (pin, fetch) = (pins.sorted()[rounds / 2], fetches.sorted()[rounds / 2])
    try CaseReport(seconds: pin, rows: held.count, details: ["first fetch of 100": fetch]).print()
  }
}

/// Two processes that save in turn: each has to take over what the other has saved.
struct TurnsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "turns",
    abstract: "Save one object in turn with another process, again and again."
  )

  @Argument var path: String
  @Option(help: "How often each saves.") var saves = 1_000

  func run() throws {
    let partner = try TurnsPartner(path)
    let context = try Item.openContext(path)
    let clock = ContinuousClock()
    var halves: [Double] = []
    for half in 0..<2 {
      let start = clock.now
      for number in 0..<(saves / 2) {
        try Self.saveOne(in: context, offset: 100 * number + half, sortOrder: 0)
        try partner.saveOne(offset: 100 * number + half)
      }
      halves.append((clock.now - start).seconds)
    }
    try partner.end()
    try CaseReport(
      seconds: halves[0] + halves[1],
      rows: 2 * saves,
      details: ["first half": halves[0], "second half": halves[1]]
    ).print()
  }

  /// Changes a to-do, which may be one that the other process has changed, and adds another.
  static func saveOne(in context: ManagedObjectContext, offset: Int, sortOrder: Int64) throws {
    let items = try context.fetch(FetchRequest<Item>(offset: offset, limit: 10))
    items.first?.sortOrder ^= 1
    try context.insert(Item.self).sortOrder = sortOrder
    try context.save()
  }
}

/// The other process of ``TurnsCommand``: it saves once for each offset that it reads, and then answers with a line.
struct TurnsPartnerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "turns-partner", shouldDisplay: false)

  @Argument var path: String

  func run() throws {
    let context = try Item.openContext(path)
    while let line = readLine(), let offset = Int(line) {
      try TurnsCommand.saveOne(in: context, offset: offset, sortOrder: 1)
      try FileHandle.standardOutput.write(contentsOf: Data("saved\n".utf8))
    }
  }
}

/// The other process, as the first one sees it.
private struct TurnsPartner {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()

  init(_ path: String) throws {
    process.executableURL = Bundle.main.executableURL
    process.arguments = ["turns-partner", path]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// Makes the process save once, and waits for it.
  func saveOne(offset: Int) throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(offset)\n".utf8))
    guard !output.fileHandleForReading.availableData.isEmpty else {
      throw ValidationError("The other process has ended.")
    }
  }

  func end() throws {
    try input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
