import BenchmarkSupport

/// One side of a case: a command that does the work.
struct Contestant {
  /// Which duration counts.
  enum Measure {
    /// From the start to the end of the process.
    case wholeProcess
    /// The one in the ``CaseReport`` that the process prints.
    case reported
  }

  let name: String
  let measure: Measure
  let command: [String]
  /// What is done before each run, and not measured.
  let prepare: () throws -> Void

  init(
    _ name: String,
    _ measure: Measure,
    _ command: [String],
    prepare: @escaping () throws -> Void = {}
  ) {
    self.name = name
    self.measure = measure
    self.command = command
    self.prepare = prepare
  }

  /// Runs the command once.
  ///
  /// What others have written is flushed to the disk first, so that this run does not pay for it.
  func run(in workspace: Workspace) throws -> Sample {
    try prepare()
    workspace.flushDisk()
    let outcome = try ChildProcess.run(command)
    let report = measure == .reported ? try CaseReport(lastLineOf: outcome.output) : nil
    return Sample(
      seconds: report?.seconds ?? outcome.seconds,
      processSeconds: outcome.seconds,
      peakBytes: outcome.peakBytes,
      report: report
    )
  }
}
