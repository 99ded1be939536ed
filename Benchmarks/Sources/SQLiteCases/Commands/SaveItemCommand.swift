import ArgumentParser
import BenchmarkSupport
import Heartwood

/// Changes one to-do and saves it, again and again.
struct SaveItemCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "save-one", abstract: "Change a to-do and save it.")

  @Argument var path: String

  func run() throws {
    let context = try Item.openContext(path)
    let rows = try context.count(entityName: Item.entityName)
    // From the middle, so that neither the first nor the last part of the file is favoured.
    let items = try context.fetch(FetchRequest<Item>(offset: rows / 2, limit: 1))
    guard let item = items.first else { throw ValidationError("There is no to-do.") }
    let result = try Repetition.median {
      item.sortOrder ^= 1
      try context.save()
      return 1
    }
    try CaseReport(seconds: result.seconds, rows: result.rows).print()
  }
}
