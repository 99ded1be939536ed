import ArgumentParser
import Heartwood

struct ModelDiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compares two models, or two versions of one, and tells whether stores can be migrated by inference.",
    discussion: """
      A line that begins with + is only in the second model, one with - only in the first, one with > has another name, and one \
      with ~ differs. What stands in the way of a migration by inference is said behind an exclamation mark.

      With --json it prints one object with the members changes (objects with kind, path, detail, obstacle and changesStores), \
      requiresMigration and inferable.

      The status is 0 where nothing differs, else 1.

      EXAMPLE
        heartwood model diff old.xcdatamodeld new.xcdatamodeld
        heartwood model diff A.xcdatamodeld A.xcdatamodeld --model-version 'A 1'
      """
  )

  @Argument(help: "The old model, or a store that holds it.", completion: .file())
  var first: String

  @Argument(help: "The new model, or a store that holds it.", completion: .file())
  var second: String

  @Option(help: "The version of the old model; without it, the current one.")
  var modelVersion: String?

  @Option(help: "The version of the new model; without it, the current one.")
  var secondModelVersion: String?

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let old = try ModelArguments.load(first, version: modelVersion)
    let new = try ModelArguments.load(second, version: secondModelVersion)
    // What is not read of a model is not compared.
    old.tellNotes()
    if new.notes != old.notes { new.tellNotes() }
    let report = ModelDifferenceReport(ModelDifferences(from: old.model, to: new.model))
    try StandardOutput.untilClosed { try StandardOutput.write(json ? report.json.line : report.text) }
    if !report.differences.changes.isEmpty { throw ExitCode.failure }
  }
}
