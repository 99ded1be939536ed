import ArgumentParser
import HeartwoodFormats
import HeartwoodRecordText
import HeartwoodSQLite
import HeartwoodStore

struct ConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Writes all that a store keeps as a store of another type or at another place.",
    discussion: """
      The identifier of the store and its metadata stay the same, and so do the references of its records, but in an SQLite \
      store, which numbers them, and its history where the other type keeps one; a note says what is left out or numbered. What the \
      other type cannot hold is refused before anything is written, and a failure leaves an old file as it was. The new store is of \
      the model with which the old one was read, also where that was made of its records.

      With --keep-references the way through a store that numbers its records loses no reference: each record has it in an attribute (a UUID, a \
      string or an integer), and the way back with the same option takes it from there. Records that would be called alike, or whose attribute \
      has another value already, are an error.

      SQLite files keep one owner for each record of a to-many relationship without an inverse; records that have several are refused. With \
      --add-inverses such a relationship gets an inverse in the model of the new store, and its records keep all their owners; notes name what was \
      added.

      A damaged file is refused. With --salvage everything in it that is sound is written, and all that is not is reported on standard error: \
      records and values that cannot be read, links to records that are not there, and parts of the file of which nothing is left. Nothing is \
      made up, the source is never written, and the status is 1 if anything was wrong. The report shows up to \(SalvageText.mostLines) losses; \
      --report writes all of them as JSON.

      EXAMPLE
        heartwood convert todo.csv todo.heartwood --verify
        heartwood convert books.csv books.sqlite --keep-references uuid
        heartwood convert todo.csv postgresql://ann@db.example/app/todos
        heartwood convert damaged.sqlite rescued.sqlite --salvage --report losses.json
      """
  )

  @Argument(help: "The store to read: a file, or the URL of a store that is not a file.", completion: .file())
  var source: String

  @Argument(
    help: "The store to write. The extension of a file, or the scheme of a URL, tells the type.",
    completion: .file()
  )
  var destination: String

  @Option(help: ModelLocator.help, completion: .file())
  var model: String?

  @Option(help: ArgumentHelp("The type of the source, where its name and content do not tell.", valueName: "type"))
  var from: String?

  @Option(help: ArgumentHelp("The type of the destination, where its extension does not tell.", valueName: "type"))
  var to: String?

  @Option(
    help: ArgumentHelp(
      "Keep the references of records in an attribute of a store that numbers them, or take them from there.",
      valueName: "attribute"
    )
  )
  var keepReferences: String?

  @Flag(help: "Give each to-many relationship without an inverse one, in the model of the new store.")
  var addInverses = false

  @Flag(help: "Replace the destination where it exists.")
  var force = false

  @Flag(help: "Read the destination back and compare every record with the source.")
  var verify = false

  @Flag(help: "Write what is sound of a damaged source, and report what is not.")
  var salvage = false

  @Option(
    help: ArgumentHelp("With --salvage, write the whole report to a file, as JSON.", valueName: "file"),
    completion: .file()
  )
  var report: String?

  @Flag(help: "Print nothing unless it fails.")
  var quiet = false

  func validate() throws {
    try TypeName.check(from, "--from")
    try TypeName.check(to, "--to")
    guard destination != "-" else {
      throw ValidationError("“-” is not a file name. heartwood dump writes records to standard output.")
    }
    if keepReferences != nil, salvage {
      throw ValidationError("--salvage makes nothing up: keep the references when the rescued store is converted.")
    }
    if addInverses, verify || salvage || keepReferences != nil {
      throw ValidationError(
        "--add-inverses makes a store of another model: do without --verify, and give --salvage and --keep-references to a conversion before it."
      )
    }
    guard report == nil || salvage else { throw ValidationError("--report goes with --salvage.") }
    guard report == nil || (report != source && report != destination) else {
      throw ValidationError("The report needs a file of its own.")
    }
  }

  func run() throws {
    let progress = ProgressBar(phases: Conversion.phases(verifies: verify), isShown: !quiet)
    let conversion = Conversion(
      source: StoreSource(path: source, typeName: from, modelPath: model),
      destination: Destination(path: destination, typeName: to, isReplaced: force),
      verifies: verify,
      salvages: salvage,
      referenceAttribute: keepReferences,
      addsInverses: addInverses,
      progress: progress
    )
    let start = ContinuousClock.now
    let result = try progress.whileShown { try conversion.run() }
    if !quiet { try tell(result, start) }
    if let losses = result.salvage { try tell(losses) }
  }

  /// Reports what was salvaged and what was lost. The exit status is 1 if anything was lost.
  private func tell(_ losses: SalvageReport) throws {
    if let report { try SalvageText.write(losses, to: report) }
    guard !losses.isComplete else { return }
    StandardError.write(SalvageText.text(losses, source: source))
    throw ExitCode.failure
  }

  private func tell(_ result: Conversion.Result, _ start: ContinuousClock.Instant) throws {
    result.model.tellNotes()
    for note in notes(result) {
      StandardError.write(StandardError.note("\(destination): \(note)"))
    }
    try StandardOutput.report(
      line(result, start.duration(to: .now)),
      of: "The store was written\(verify ? " and verified" : "")",
      at: destination
    )
  }

  /// Returns notes about what differs in the new store.
  private func notes(_ result: Conversion.Result) -> [String] {
    let count = Quantity.text(result.lostTransactionCount, "transaction")
    let foreignCount = Quantity.text(result.foreignTransactionCount, "transaction")
    return result.addedInverses.map { added in
      "\(added.entityName).\(added.relationshipName) got the inverse \(added.inverseEntityName).\(added.inverseName)."
    }
      + [
        result.model.isInferred && result.addedInverses.isEmpty
          ? "It is of the model that was made of the records: another one does not open it. --model makes one of yours."
          : nil,
        result.lostTransactionCount > 0
          ? "\(result.addedInverses.isEmpty ? "The type keeps no history" : "A history is of one model"); \(count) left out."
          : nil,
        result.foreignTransactionCount > 0
          ? "The history is of a form that is not known; \(foreignCount) left out." : nil,
        result.hasRenamedRecords && keepReferences == nil ? DestinationNotes.renamedRecords(of: source) : nil,
        result.lacksModel ? DestinationNotes.lackingModel(of: source) : nil,
      ].compactMap(\.self)
  }

  private func line(_ result: Conversion.Result, _ duration: Duration) -> String {
    let words = [
      Quantity.text(result.recordCount, "record"), result.byteCount.map { Quantity.text($0, "byte") },
      Quantity.text(duration),
    ].compactMap(\.self)
    return
      "\(DisplayText.safe(StorePlace(argument: destination).description)): \(words.joined(separator: ", "))\(verify ? ", verified" : "")\n"
  }
}
