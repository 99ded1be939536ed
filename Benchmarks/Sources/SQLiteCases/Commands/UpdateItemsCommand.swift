import ArgumentParser
import BenchmarkSupport
import Heartwood

/// Changes half of the to-dos by one batch request.
struct UpdateItemsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "update", abstract: "Change many to-dos at once.")

  @Argument var path: String

  func run() throws {
    let context = try Item.openContext(path)
    let request = BatchUpdateRequest(
      entityName: Item.entityName,
      where: Item.doneKey == true,
      propertiesToUpdate: ["sortOrder": try FetchExpression(format: "sortOrder + 1"), "memo": "done"]
    )
    let clock = ContinuousClock()
    var count = 0
    let duration = try clock.measure { count = try context.execute(request).count }
    try CaseReport(seconds: duration.seconds, rows: count).print()
  }
}
