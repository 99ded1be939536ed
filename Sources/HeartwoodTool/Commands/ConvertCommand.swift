import ArgumentParser
import HeartwoodFormats
import HeartwoodRecordText
import HeartwoodSQLite
import HeartwoodStore

struct ConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "Converts a store to another type, or copies it to another place.",
    discussion: """
      The identifier of the store and its metadata stay the same. So do the references of its records, except in an SQLite \
      store, which numbers its records, and its history, if the other type keeps one. A note says what is left out or \
      numbered. What the other type cannot hold is refused before anything is written, and after an error an existing file \
      is unchanged. The new store has the model with which the old one was read, even if that was made of its records.

      With --keep-references, references survive a conversion to a store that numbers its records and back: each record \
      keeps its reference in an attribute (a UUID, a string or an integer), and the conversion back with the same option \
      takes it from there. It is an error if two records would have the same reference, or if the attribute of a record \
      has another value already.

      An SQLite file keeps only one owner for each record in a to-many relationship without an inverse; records that have \
      several are refused. With --add-inverses, such a relationship gets an inverse in the model of the new store, and its \
      records keep all their owners; notes name the added relationships.

      A damaged file is refused. With --salvage, everything in it that is sound is written, and everything else is \
      reported on standard error: records and values that cannot be read, links to missing records, and parts of the file \
      that are lost completely. No values are made up, the source is never changed, and the status is 1 if anything was \
      wrong. The report shows up to \(SalvageText.mostLines) losses; --report writes all of them as JSON.

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
    help: "The store to write. The extension of a file, or the scheme of a URL, determines the type.",
    completion: .file()
  )
  var destination: String

  @Option(help: ModelLocator.help, completion: .file())
  var model: String?

  @Option(help: ArgumentHelp("The type of the source, if its name and content do not show it.", valueName: "type"))
  var from: String?

  @Option(help: ArgumentHelp("The type of the destination, if its extension does not show it.", valueName: "type"))
  var to: String?

  @Option(
    help: ArgumentHelp(
      "Keep the references of records in an attribute of a store that numbers them, or take them from there.",
      valueName: "attribute"
    )
  )
  var keepReferences: String?

  @Flag(help: "Add an inverse to each to-many relationship without one, in the model of the new store.")
  var addInverses = false

  @Flag(help: "Replace the destination if it exists.")
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
      throw ValidationError("--salvage cannot keep references: convert the rescued store with --keep-references.")
    }
    if addInverses, verify || salvage || keepReferences != nil {
      throw ValidationError(
        "--add-inverses makes a store with another model: leave out --verify, and use --salvage and --keep-references in a conversion before it."
      )
    }
    guard report == nil || salvage else { throw ValidationError("--report requires --salvage.") }
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
          ? "It has the model that was made of the records: another one does not open it. With --model, it has yours."
          : nil,
        result.lostTransactionCount > 0
          ? "\(result.addedInverses.isEmpty ? "The type keeps no history" : "A history belongs to one model"); \(count) left out."
          : nil,
        result.foreignTransactionCount > 0
          ? "The history has an unknown form; \(foreignCount) left out." : nil,
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
