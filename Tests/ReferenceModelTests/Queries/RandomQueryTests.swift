import HeartwoodTesting
import Testing

/// Random queries and batches over a tree of entities, in several stores at once and with unsaved changes: held against what each object
/// gives by itself.
@Suite struct RandomQueryTests {
  /// The same runs each time, so that a change that has nothing to do with them does not fail.
  private static let usualSeeds: ClosedRange<UInt64> = 1...2

  @Test func randomQueries() {
    let settings = SoakSettings()
    if settings.seed != nil || settings.duration == nil {
      for seed in settings.seed.map({ $0...$0 }) ?? Self.usualSeeds where !run(seed) { return }
    }
    guard settings.seed == nil, let duration = settings.duration else { return }
    let start = ContinuousClock.now
    while ContinuousClock.now - start < duration, run(.random(in: .min ... .max)) {}
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
