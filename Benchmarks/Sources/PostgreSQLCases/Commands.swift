import ArgumentParser
import BenchmarkSupport
import Foundation
import Heartwood

/// Saves many new to-dos.
struct InsertItemsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "insert", abstract: "Save new objects, in one save.")

  @Argument var url: String
  @Option(help: "How many objects are saved.") var rows = 100_000

  func run() throws {
    let context = try Item.openContext(url)
    let clock = ContinuousClock()
    let start = clock.now
    for row in 0..<rows {
      let item = try context.insert(Item.self)
      item[Item.doneKey] = row % 3 == 0
      item[Item.memoKey] = "to-do \(row), of which there are many"
      item[Item.sortOrderKey] = Int64(row)
      item[Item.creationDateKey] = Date(timeIntervalSinceReferenceDate: Double(row))
      item[Item.recordIDKey] = UUID()
    }
    try context.save()
    try CaseReport(seconds: (clock.now - start).seconds, rows: rows).print()
  }
}

/// Saves a change of one to-do, again and again.
struct SaveItemCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "save-one",
    abstract: "Save one change, again and again."
  )

  @Argument var url: String
  @Option(help: "How often it is measured.") var rounds = 1_001

  func run() throws {
    let context = try Item.openContext(url)
    guard let item = try context.fetch(FetchRequest<Item>(limit: 1)).first else {
      throw ValidationError("There is no to-do.")
    }
    let clock = ContinuousClock()
    var times: [Double] = []
    for _ in 0..<rounds {
      let start = clock.now
      item.sortOrder ^= 1
      try context.save()
      times.append((clock.now - start).seconds)
    }
    times.sort()
    try CaseReport(seconds: times[times.count / 2], rows: 1).print()
  }
}

/// Takes over what somebody else has saved, while many records are known.
struct RenewItemsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "renew",
    abstract: "Read one object anew after somebody else has saved it, and fetch 100."
  )

  @Argument var url: String
  @Option(help: "How many records the store has read before.") var known = 1_000_000
  @Option(help: "How often it is measured.") var rounds = 101

  func run() throws {
    let (context, other) = (try Item.openContext(url), try Item.openContext(url))
    let count = try context.fetchObjectIDs(FetchRequest<Item>(limit: known)).count
    guard count == known else { throw ValidationError("There are \(count) to-dos only.") }
    guard let mine = try context.fetch(FetchRequest<Item>(limit: 1)).first,
      let theirs = try other.existingObject(with: mine.objectID) as? Item
    else { throw ValidationError("There is no to-do.") }
    let clock = ContinuousClock()
    var (renewals, fetches): ([Double], [Double]) = ([], [])
    for _ in 0..<rounds {
      theirs.sortOrder ^= 1
      try other.save()
      let start = clock.now
      // A fetch takes over what others have saved.
      _ = try context.fetchObjectIDs(FetchRequest<Item>(limit: 1))
      context.refresh(mine, mergeChanges: false)
      guard mine.sortOrder == theirs.sortOrder else { throw ValidationError("The save was not seen.") }
      let renewed = clock.now
      _ = try context.fetch(FetchRequest<Item>(limit: 100))
      renewals.append((renewed - start).seconds)
      fetches.append((clock.now - renewed).seconds)
    }
    let middle = rounds / 2
    try CaseReport(
      seconds: renewals.sorted()[middle],
      rows: known,
      details: ["then a fetch of 100": fetches.sorted()[middle]]
    ).print()
  }
}
