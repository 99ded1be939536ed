import ArgumentParser
import HeartwoodStore

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks a store: its file, its references, and its records against the model.",
    discussion: """
      What is found goes to standard error, or with --json to standard output, up to \(findingLimit) findings, and the status is 1.

      EXAMPLE
        heartwood verify todo.heartwood
      """
  )

  private static let findingLimit = 100

  @OptionGroup var arguments: StoreArguments

  @Flag(help: "Print one JSON object with the members ok, records, findings and hasMoreFindings.")
  var json = false

  func run() throws {
    let progress = ProgressBar(phases: [.reading, .checking], isShown: true)
    let (report, model) = try progress.whileShown { try check(progress) }
    model.tellNotes()
    try StandardOutput.untilClosed { try tell(report) }
    if !report.findings.isEmpty { throw ExitCode.failure }
  }

  private func tell(_ report: VerificationReport) throws {
    if json {
      try StandardOutput.write(report.json.line)
    } else if report.findings.isEmpty {
      try StandardOutput.write("ok: \(Quantity.text(report.recordCount ?? 0, "record"))\n")
    } else {
      StandardError.write(report.text(path: arguments.store))
    }
  }

  private func check(_ progress: ProgressBar) throws -> (VerificationReport, LocatedModel) {
    progress.begin(.reading)
    let source = try arguments.source.open()
    progress.begin(.checking)
    return (try check(source.store.engine), source.model)
  }

  private func check(_ engine: any StoreEngine) throws -> VerificationReport {
    // One more than is shown tells whether there are more.
    let limit = Self.findingLimit + 1
    let faults = try engine.fileFaults(limit: limit).map { VerificationReport.Finding($0) }
    do {
      let contents = try engine.contents()
      let findings = try ContentsValidation.findings(in: contents, limit: limit).map { VerificationReport.Finding($0) }
      return VerificationReport(recordCount: contents.count, findings: faults + findings, limit: Self.findingLimit)
    } catch let error as PersistenceError where !faults.isEmpty {
      // The first of all, since the others tell why.
      var placeless = error
      placeless.context = PersistenceError.Context()
      let findings = [VerificationReport.Finding(Wording().text(placeless))] + faults
      return VerificationReport(recordCount: nil, findings: findings, limit: Self.findingLimit)
    }
  }
}
