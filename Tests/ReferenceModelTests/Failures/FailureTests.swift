import HeartwoodTesting
import Testing

/// Random operations on two graphs over SQLite stores, of which the reads and writes of one fail at random: each operation ends with an error, or as
/// on the other.
///
/// `Scripts/soak` runs them for longer, or one seed again.
@Suite struct FailureTests {
  /// The same run each time, so that a change that has nothing to do with it does not fail.
  private static let usualSeed: UInt64 = 20_261_125

  @Test func randomFailures() throws {
    let settings = SoakSettings()
    try settings.forEachSeed(usual: Self.usualSeed...Self.usualSeed) { seed in
      print("Failures: seed \(seed)")
      var run = try FailureRun(seed: seed, isTraced: settings.isTraced)
      try run.run(stepCount: settings.isAsked ? settings.stepCount : 400)
      return true
    }
  }
}
