import Heartwood
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting
import Testing

/// Random models with random objects, changed at random, and migrated by inference: held against what names and renaming identifiers say.
@Suite struct RandomMigrationTests {
  static let types: [StoreType] = [.binary, .xml, .propertyList, .coreDataBinary, .csv, .sqlite]
  /// The same runs each time, so that a change that has nothing to do with them does not fail.
  private static let usualSeeds: ClosedRange<UInt64> = 1...3

  @Test(arguments: types)
  func randomVersions(_ type: StoreType) {
    SoakSettings().forEachSeed(usual: Self.usualSeeds) { run(type, $0) }
  }

  /// Whether all is as it should be.
  private func run(_ type: StoreType, _ seed: UInt64) -> Bool {
    // Printed before the run, which a bug may end together with the process.
    print("Migrations of \(type): seed \(seed)")
    do {
      var run = try MigrationTrialRun(type, seed: seed)
      try run.run(versionCount: 4)
      return true
    } catch {
      Issue.record("\(type), seed \(seed): \(error)")
      return false
    }
  }
}
