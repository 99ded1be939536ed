import ArgumentParser
import Heartwood
import HeartwoodRecordText
import HeartwoodFoundation
import HeartwoodModel

/// The `model` command, whose subcommands work on models.
struct ModelCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "model",
    abstract: "Shows models, checks and compares them, and converts one form into another.",
    discussion: """
      A model is an .xcdatamodeld, .xcdatamodel, .momd or .mom, a JSON model, or a store that holds one.

      EXAMPLE
        heartwood model show ToDo.xcdatamodeld
        heartwood model diff ToDo.xcdatamodeld --model-version ToDo ToDo.xcdatamodeld
      """,
    subcommands: [
      ModelShowCommand.self, ModelCheckCommand.self, ModelDiffCommand.self, ModelHashCommand.self,
      ModelConvertCommand.self,
    ]
  )
}

// MARK: ModelShowCommand

struct ModelShowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Prints a model as a table, as a diagram, or as JSON.",
    discussion: """
      As mermaid and dot, it is a diagram of the entities, their attributes and relationships, for the programs of these \
      names. As json, it is the model in the form of Formats/Model.

      EXAMPLE
        heartwood model show ToDo.xcdatamodeld --model-version 'ToDo 2'
        heartwood model show todo.heartwood --format mermaid
      """
  )

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case table, mermaid, dot, json
  }

  @OptionGroup var arguments: ModelArguments

  @Option(help: "The format: \(Format.allCases.map(\.rawValue).joined(separator: ", ")).")
  var format = Format.table

  func run() throws {
    let model = try arguments.load().model
    switch format {
    case .table: try StandardOutput.write(ModelTable(model).text)
    case .mermaid: try StandardOutput.write(ModelDiagram(model).mermaid)
    case .dot: try StandardOutput.write(ModelDiagram(model).dot)
    case .json: try StandardOutput.write(String(decoding: try model.encoded(), as: UTF8.self) + "\n")
    }
  }
}

// MARK: ModelCheckCommand

struct ModelCheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract:
      "Warns of what is allowed in a model, but usually a mistake: no inverse, no default value, reserved names.",
    discussion: """
      Each line is a warning. With --json, each warning is an object with the members kind, path and message. A model that \
      cannot be read is an error, with file and line.

      The status is 0 if there is no warning, and 1 otherwise.

      EXAMPLE
        heartwood model check ToDo.xcdatamodeld
      """
  )

  @OptionGroup var arguments: ModelArguments

  @Flag(help: "Print each warning as a JSON object.")
  var json = false

  func run() throws {
    let warnings = ModelReview(try arguments.load().model).warnings
    try StandardOutput.untilClosed { try tell(warnings) }
    if !warnings.isEmpty { throw ExitCode.failure }
  }

  private func tell(_ warnings: [ModelReview.Warning]) throws {
    for warning in warnings {
      let object = JSONValue.object([
        ("kind", .string(warning.kind.rawValue)), ("path", .string(warning.path)),
        ("message", .string(warning.message)),
      ])
      try StandardOutput.write(json ? object.line : DisplayText.safe("\(warning)") + "\n")
    }
    if !json { try StandardOutput.write(Quantity.text(warnings.count, "warning") + "\n") }
  }
}

// MARK: ModelHashCommand

struct ModelHashCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hash",
    abstract: "Prints the version hashes with which stores identify a model.",
    discussion: """
      They are Core Data's, in base64, as heartwood info prints those of a store. With --json, it prints one object with \
      the members entities (an object of hashes, by name), checksum and digest.

      EXAMPLE
        heartwood model hash ToDo.xcdatamodeld --json
      """
  )

  @OptionGroup var arguments: ModelArguments

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let model = try arguments.load().model
    let entities = model.entities.map { (key: $0.name, value: $0.versionHash.base64EncodedString()) }.sorted {
      $0.key < $1.key
    }
    let object = JSONValue.object([
      ("entities", .sorted(entities.map { (key: $0.key, value: JSONValue.string($0.value)) })),
      ("checksum", .string(model.versionChecksum)),
      ("digest", .string(model.versionHashesDigest)),
    ])
    let lines =
      entities.map { (label: $0.key, text: $0.value) } + [
        (label: "checksum", text: model.versionChecksum), (label: "digest", text: model.versionHashesDigest),
      ]
    try StandardOutput.write(json ? object.line : LabelledLines.text(lines))
  }
}

// MARK: ModelDiffCommand

struct ModelDiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compares two models, or two versions of one, and reports whether a migration can be inferred.",
    discussion: """
      A line that begins with + is only in the second model, one with - only in the first, one with > has another name, \
      and one with ~ differs. An exclamation mark precedes the reason for which a migration cannot be inferred.

      With --json, it prints one object with the members changes (objects with kind, path, detail, obstacle and \
      changesStores), requiresMigration and inferable.

      The status is 0 if nothing differs, and 1 otherwise.

      EXAMPLE
        heartwood model diff old.xcdatamodeld new.xcdatamodeld
        heartwood model diff A.xcdatamodeld A.xcdatamodeld --model-version 'A 1'
      """
  )

  @Argument(help: "The old model, or a store that holds it.", completion: .file())
  var first: String

  @Argument(help: "The new model, or a store that holds it.", completion: .file())
  var second: String

  @Option(help: "The version of the old model. By default, the current one.")
  var modelVersion: String?

  @Option(help: "The version of the new model. By default, the current one.")
  var secondModelVersion: String?

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let old = try ModelArguments.load(first, version: modelVersion)
    let new = try ModelArguments.load(second, version: secondModelVersion)
    // What a model does not represent is not compared.
    old.tellNotes()
    if new.notes != old.notes { new.tellNotes() }
    let report = ModelDifferenceReport(ModelDifferences(from: old.model, to: new.model))
    try StandardOutput.untilClosed { try StandardOutput.write(json ? report.json.line : report.text) }
    if !report.differences.changes.isEmpty { throw ExitCode.failure }
  }
}
