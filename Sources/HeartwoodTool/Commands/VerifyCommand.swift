import ArgumentParser
import Heartwood
import HeartwoodRecordText
import HeartwoodStore

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks a store: its file, its references, and its records against the model.",
    discussion: """
      Findings are printed to standard error, or with --json to standard output, up to \(findingLimit) findings and the \
      number of all, and the status is 1. Values that cannot be read, such as text in a column of dates, are listed one by \
      one. If a record cannot be read, the other records are not compared with the model. The tables, keys and triggers of \
      a PostgreSQL store are compared with the model, too.

      EXAMPLE
        heartwood verify todo.heartwood
      """
  )

  private static let findingLimit = 100

  @OptionGroup var arguments: StoreArguments

  @Flag(help: "Print one JSON object with the members ok, records, findings, findingCount and hasMoreFindings.")
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
    let limit = Self.findingLimit
    // One more than is shown, to find out whether there are more.
    let faults = try engine.fileFaults(limit: limit + 1).map { VerificationReport.Finding($0) }
    let isIncomplete = faults.count > limit
    do {
      let unreadable = try engine.unreadableValues(limit: limit)
      let found = faults + unreadable.values.map { VerificationReport.Finding($0) }
      let count = faults.count + unreadable.count
      guard let contents = try contents(engine, hasUnreadable: unreadable.count > 0) else {
        return .init(recordCount: nil, findings: found, count: count, limit: limit, isIncomplete: isIncomplete)
      }
      let survey = try ContentsValidation.survey(of: contents, limit: limit)
      return .init(
        recordCount: contents.count,
        findings: found + survey.findings.map { VerificationReport.Finding($0) },
        count: count + survey.count,
        limit: limit,
        isIncomplete: isIncomplete
      )
    } catch let error as PersistenceError where !faults.isEmpty {
      // The error comes first, since the faults explain it.
      var placeless = error
      placeless.context = PersistenceError.Context()
      let findings = [VerificationReport.Finding(Wording().text(placeless))] + faults
      return .init(
        recordCount: nil,
        findings: findings,
        count: findings.count,
        limit: limit,
        isIncomplete: isIncomplete
      )
    }
  }

  /// Returns the records, to be validated; nil if a record cannot be read. If only a file of external data is missing,
  /// the value is left out.
  private func contents(_ engine: any StoreEngine, hasUnreadable: Bool) throws -> StoreContents? {
    do {
      return try engine.contents(withUnreadable: true)
    } catch is PersistenceError where hasUnreadable {
      return nil
    }
  }
}

// MARK: CompactCommand

struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Rebuilds a store's file without what earlier saves have left in it.",
    discussion: """
      A save of few records is added to the end of a binary file, and its former values stay in the file for a while. An \
      SQLite file has free pages where records were deleted. Both are used again or removed in time; compact does it now, for \
      a file that is to be copied, compared, or put under version control. The records, their references, the metadata and \
      the history stay as they are, and if it fails, so does the file.

      It prints the size before and after. Files of the other types are written as a whole by each save, so there is \
      nothing to do for them.

      EXAMPLE
        heartwood compact todo.heartwood
      """
  )

  @OptionGroup var arguments: StoreArguments

  @Flag(help: "Print one JSON object with the members isDone, sizeBefore and sizeAfter, in bytes.")
  var json = false

  func run() throws {
    let source = arguments.source
    let (_, format) = try source.format()
    let before = try source.fileSystem.storeSize(at: source.place, format)
    let opened = try source.open(options: StoreOptions())
    opened.model.tellNotes()
    let isDone = try opened.store.engine.compact()
    OpenedStores.close()
    let after = try source.fileSystem.storeSize(at: source.place, format)
    try StandardOutput.write(json ? Self.json(isDone, before, after).line : text(isDone, before, after))
  }

  private func text(_ isDone: Bool, _ before: Int?, _ after: Int?) -> String {
    guard isDone, let before, let after else { return "\(arguments.store): there is nothing to do for this type.\n" }
    return "\(arguments.store): \(Quantity.text(before, "byte")) before, \(Quantity.text(after, "byte")) now\n"
  }

  private static func json(_ isDone: Bool, _ before: Int?, _ after: Int?) -> JSONValue {
    .object([
      ("isDone", .boolean(isDone)), ("sizeBefore", before.map { .integer($0) } ?? .null),
      ("sizeAfter", after.map { .integer($0) } ?? .null),
    ])
  }
}

// MARK: InfoCommand

struct InfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info",
    abstract: "Prints information about a store: its type, identifier, size, entities and metadata.",
    discussion: """
      With --json, it prints one object with the members type, identifier, formatVersion, size (in bytes, with the \
      write-ahead log and the folder of large data beside an SQLite file), entities (a list of objects with name and \
      count), strayRows (the number of rows in an SQLite file whose entity it does not list), history (null, or an object \
      with transactions, purged and last), foreignTransactions (the number of transactions in an SQLite file with a \
      history of an unknown form) and metadata.

      If the model of an SQLite file cannot be found or read, it prints what is in the file itself, and a note on standard \
      error. The count of an entity is null then if its table is missing.

      EXAMPLE
        heartwood info todo.heartwood --json
      """
  )

  @OptionGroup var arguments: StoreArguments

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() throws {
    let report = try report()
    try StandardOutput.write(json ? report.json.line : report.text)
  }

  private func report() throws -> StoreReport {
    let opened: OpenStore
    do {
      opened = try arguments.source.open()
    } catch let error as PersistenceError where arguments.model == nil && Self.lacksModel(error) {
      return try report(withoutModel: error)
    }
    opened.model.tellNotes()
    if let note = try opened.missingLogNote() { StandardError.write(StandardError.note(note)) }
    return try StoreReport(opened)
  }

  /// Returns whether the file contains no model, or one that cannot be read.
  private static func lacksModel(_ error: PersistenceError) -> Bool {
    error.code == .modelMissing || error.code == .fileMalformed
  }

  /// Returns the information in the file itself, and writes a note that says why there is no model.
  private func report(withoutModel error: PersistenceError) throws -> StoreReport {
    let report: StoreReport?
    // If the file is damaged elsewhere, too, the first error is reported.
    do { report = try StoreReport(withoutModel: arguments.source) } catch _ { throw error }
    guard let report else { throw error }
    let note = "\(arguments.store): \(error.message) What is in the file itself follows."
    StandardError.write(StandardError.note(note))
    return report
  }
}

// MARK: TypesCommand

struct TypesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "types",
    abstract: "Lists the types of stores: the names of their files or the schemes of their URLs, and what they can do.",
    discussion: """
      EXAMPLE
        heartwood types --json
      """
  )

  @Flag(help: "Print one JSON list.")
  var json = false

  func run() throws {
    let report = TypesReport(StoreRegistry.tool.typeDescriptions)
    try StandardOutput.write(json ? report.json.line : report.text)
  }
}
