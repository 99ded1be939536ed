import ArgumentParser
import BenchmarkSupport
import Heartwood

/// Fetches all lists with their to-dos and reads a value of each.
struct PrefetchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prefetch",
    abstract: "Fetch lists with what they lead to."
  )

  @Argument var path: String

  func run() throws {
    let context = try Item.openContext(path)
    let clock = ContinuousClock()
    let start = clock.now
    var request = FetchRequest<List>()
    request.relationshipKeyPathsForPrefetching = ["items"]
    let lists = try context.fetch(request)
    let fetched = clock.now
    var sum: Int64 = 0
    var count = 0
    for list in lists {
      for item in list.items {
        sum &+= item.sortOrder
        count += 1
      }
    }
    let end = clock.now
    try CaseReport(
      seconds: (end - start).seconds,
      rows: count,
      checksum: UInt64(bitPattern: sum),
      details: ["fetch": (fetched - start).seconds]
    ).print()
  }
}
