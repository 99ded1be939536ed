import ArgumentParser
import BenchmarkSupport
import Heartwood

/// Fetches all to-dos as objects and reads every value of each.
struct ReadItemsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "objects", abstract: "Fetch all objects and read them.")

  @Argument var path: String

  func run() throws {
    let clock = ContinuousClock()
    let start = clock.now
    let context = try Item.openContext(path)
    let objects = try context.fetch(Item.self)
    let fetched = clock.now
    var checksum = ToDoChecksum()
    for object in objects {
      checksum.add(
        isDone: object[Item.doneKey],
        memo: object[Item.memoKey],
        sortOrder: object.sortOrder,
        creationDate: object[Item.creationDateKey],
        recordID: object[Item.recordIDKey]
      )
    }
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

/// Fetches by a predicate, again and again.
struct FilterItemsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "filter", abstract: "Fetch by a predicate.")

  @Argument var path: String

  func run() throws {
    let context = try Item.openContext(path)
    let result = try Repetition.median {
      try context.fetchObjectIDs(
        FetchRequest<Item>(
          where: Item.doneKey == true && Item.memoKey.contains("tea"),
          sortedBy: [Item.sortOrderKey.ascending],
          limit: 100
        )
      ).count
    }
    try CaseReport(seconds: result.seconds, rows: result.rows).print()
  }
}
