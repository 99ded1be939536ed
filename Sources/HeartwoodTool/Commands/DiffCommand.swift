import ArgumentParser
import HeartwoodStore

struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compares two stores of any type, record by record.",
    discussion: """
      A line that begins with - is only in the first store, one with + only in the second, and one with ~ is in both with \
      other values, which follow as JSON in the form of heartwood dump: the value in the first store, an arrow, and the \
      value in the second. The order of the records is not compared.

      By default, records with the same reference are compared. With --match value, records match if they have the same \
      attributes, and relationships to the same records. With --match and names of attributes, records match if they have \
      the same values of these attributes. In both cases, references and the identifiers of the stores are not compared.

      With --json, each difference is an object on a line of its own, with the member change (removed, added, changed, \
      identifier, metadata, entity, property) and, if they apply, entity, id (of a record), key (of the metadata), values \
      (of a record, the metadata or the identifier), property, records (their number), and onlyIn (first or second).

      The status is 0 if nothing differs, and 1 otherwise.

      EXAMPLE
        heartwood diff todo.csv todo.heartwood
        heartwood diff yesterday.csv today.csv --match memo
      """
  )

  @Argument(help: "The first store: a file, or the URL of a store that is not a file.", completion: .file())
  var first: String

  @Argument(help: "The second store, likewise.", completion: .file())
  var second: String

  @Option(help: ModelLocator.help, completion: .file())
  var model: String?

  @Option(
    help: "The model of the second store. By default, the one in it or beside it, or that of the first store.",
    completion: .file()
  )
  var secondModel: String?

  @Option(help: "The type of the first store, if its name and content do not show it; see heartwood types.")
  var type: String?

  @Option(help: "The type of the second store.")
  var secondType: String?

  @Option(help: ArgumentHelp("How records of the two stores are matched.", valueName: "reference|value|attribute,…"))
  var match = RecordMatchRule.reference

  @Flag(help: "Print each difference as a JSON object.")
  var json = false

  @Flag(help: "Print nothing. The status is 1 if something differs.")
  var quiet = false

  func validate() throws {
    try TypeName.check(type, "--type")
    try TypeName.check(secondType, "--second-type")
  }

  func run() throws {
    let progress = ProgressBar(phases: [.reading, .checking], isShown: !quiet)
    let report = DifferenceReport(first: first, second: second)
    let differences = try progress.whileShown { try compare(progress) }
    var summary = DifferenceSummary()
    try StandardOutput.untilClosed {
      try differences.forEach { difference in
        summary.count(difference)
        if quiet { throw ExitCode.failure }
        try StandardOutput.write(json ? report.json(difference) : report.text(difference))
      }
      if !quiet, !json { try StandardOutput.write(summary.text) }
    }
    if !quiet, match.matching == .reference, summary.hasOnly(differences.recordCounts) {
      StandardError.write(StandardError.note(Self.referencesDiffer))
    }
    if !summary.isEmpty { throw ExitCode.failure }
  }

  private static let referencesDiffer = """
    No record has the same reference in both stores, as after a conversion to a type that has references of its own. Compare \
    the records by their values with --match value.
    """

  private func compare(_ progress: ProgressBar) throws -> ContentsDifferences {
    progress.begin(.reading)
    let one = try StoreSource(path: first, typeName: type, modelPath: model).open()
    let other = try StoreSource(path: second, typeName: secondType, modelPath: secondModel).open(substitute: one.model)
    if !quiet {
      one.model.tellNotes(beside: progress)
      if other.model.notes != one.model.notes { other.model.tellNotes(beside: progress) }
    }
    let contents = (try one.store.engine.contents(), try other.store.engine.contents())
    progress.begin(.checking)
    return try ContentsDifferences(contents.0, contents.1, matching: match.matching)
  }
}

/// The rule by which records of two stores are matched.
struct RecordMatchRule: ExpressibleByArgument {
  static let reference = RecordMatchRule(matching: .reference)

  let matching: ContentsDifferences.Matching

  private init(matching: ContentsDifferences.Matching) {
    self.matching = matching
  }

  init?(argument: String) {
    let names = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    guard names.allSatisfy({ !$0.isEmpty }) else { return nil }
    switch argument {
    case "reference": matching = .reference
    case "value": matching = .values(of: [])
    default: matching = .values(of: names)
    }
  }

  var defaultValueDescription: String { "reference" }
}
