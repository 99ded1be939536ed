import HeartwoodTesting
import Testing

/// Random queries and batches over a tree of entities, in several stores at once and with unsaved changes: held against what each object
/// gives by itself.
@Suite struct RandomQueryTests {
  /// The same runs each time, so that a change that has nothing to do with them does not fail.
  private static let usualSeeds: ClosedRange<UInt64> = 1...2

  @Test func randomQueries() {
    SoakSettings().forEachSeed(usual: Self.usualSeeds, run)
  }

  /// Whether all is as it should be.
  private func run(_ seed: UInt64) -> Bool {
    // Printed before the run, which a bug may end together with the process.
    print("Queries: seed \(seed)")
    do {
      var run = try QueryRun(seed: seed)
      try run.run(rounds: 6)
      return true
    } catch {
      Issue.record("seed \(seed): \(error)")
      return false
    }
  }
}
