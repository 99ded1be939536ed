import ArgumentParser
import BenchmarkSupport
import Foundation
import Heartwood
import HeartwoodSQLite

/// Takes a store of to-dos to the next version of its model, into another file.
struct MigrateItemsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "migrate", abstract: "Migrate a store of to-dos.")

  @Argument var path: String
  @Argument var output: String
  @Flag(help: "Take the records through memory.") var throughMemory = false
  @Flag(help: "Tell what would be done.") var dryRun = false

  func run() throws {
    Item.remove(output)
    let coordinator = try Item.makeCoordinator(try Item.nextModel())
    var options = StoreOptions()
    options[.migratesInStore] = !throughMemory
    options[.allowsMigrationLoss] = true
    let clock = ContinuousClock()
    let start = clock.now
    guard let migration = try coordinator.migration(ofStoreAt: URL(filePath: path), type: .sqlite, options: options)
    else { throw ValidationError("The store is of the next version already.") }
    let destination = URL(filePath: output)
    let report = try dryRun ? migration.dryRun(to: destination) : migration.run(to: destination)
    let end = clock.now
    guard report.isDoneInStore != throughMemory else { throw ValidationError("The migration went the other way.") }
    try CaseReport(seconds: (end - start).seconds, rows: report.destinationCount).print()
  }
}
