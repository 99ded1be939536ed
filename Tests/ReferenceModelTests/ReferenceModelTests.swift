import HeartwoodTesting
import Testing

/// Random sequences of operations on Heartwood's graph and on a slow, obvious one, which must do the same.
///
/// `Scripts/soak` runs them for longer, or one seed again.
@Suite struct ReferenceModelTests {
  /// The same run each time, so that a change that has nothing to do with it does not fail.
  private static let usualSeed: UInt64 = 20_261_121

  @Test(arguments: Schema.all)
  func randomOperations(_ schema: Schema) throws {
    let settings = SoakSettings()
    try settings.forEachSeed(usual: Self.usualSeed...Self.usualSeed) { seed in
      // Printed before the run, which a bug may end together with the process.
      print("Reference model \(schema.name): seed \(seed)")
      let run = Run(schema: schema, seed: seed, stepCount: settings.stepCount, isTraced: settings.isTraced)
      guard let failure = try run.failure() else { return true }
      Issue.record("\(failure)")
      return false
    }
  }

  /// A store that is read as it is used forgets what it has read, again and again.
  @Test func storesThatForget() throws {
    let settings = SoakSettings()
    try settings.forEachSeed(usual: 1...3) { number in
      let seed = try #require((number...).first { RunPlan(.database, seed: $0).forgets })
      print("Reference model that forgets: seed \(seed)")
      let run = Run(schema: .database, seed: seed, stepCount: settings.stepCount, isTraced: settings.isTraced)
      guard let failure = try run.failure() else { return true }
      Issue.record("\(failure)")
      return false
    }
  }

  @Test(arguments: SettledRun.all)
  func settledRuns(_ settled: SettledRun) throws {
    let run = Run(schema: settled.schema, seed: settled.seed, stepCount: settled.stepCount)
    if let failure = try run.failure() { Issue.record("\(failure)") }
  }
}

/// A run that once ended otherwise than the reference: which side was wrong is settled, and mended.
struct SettledRun: Sendable {
  let schema: Schema
  let seed: UInt64
  /// A little more than it takes to come to where the two were different.
  let stepCount: Int

  static let all = [
    // A save dropped the transient values of an object that the version lacked to which the context had gone back, or not, as it happened.
    SettledRun(schema: .graph, seed: 10_286_280_371_912_261_397, stepCount: 800),
    // The reference went on saving what a policy had taken back, where that had been made on another record.
    SettledRun(schema: .table, seed: 4_580_450_360_501_926_740, stepCount: 480),
    // A chain of contexts was saved in one go, so the reference learned what the first save had read after the second had changed it.
    SettledRun(schema: .table, seed: 6_777_920_462_245_166_678, stepCount: 960),
    // A context put a link back that others had taken away, of which it had read one end since: merging dropped it at the other end alone.
    SettledRun(schema: .table, seed: 4_868_761_365_815_535_203, stepCount: 285),
    // The reference deleted with a child what others had let lead to the object since the child looked.
    SettledRun(schema: .graph, seed: 84_107_017_895_782_371, stepCount: 830),
    // The reference had a refresh in a context that reads an older version follow what others have saved since, which is not read there.
    SettledRun(schema: .table, seed: 8_564_927_527_025_839_019, stepCount: 980),
  ]
}

extension SettledRun: CustomTestStringConvertible {
  var testDescription: String { "\(schema.name), seed \(seed)" }
}

extension Schema: CustomTestStringConvertible {
  var testDescription: String { name }
}
