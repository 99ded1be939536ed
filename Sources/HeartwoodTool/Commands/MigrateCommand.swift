public import ArgumentParser
import HeartwoodRecordText
import Heartwood
import HeartwoodFoundation
public import HeartwoodStore

struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Migrates a store to another version of its model.",
    discussion: """
      Records are migrated with mapping models, or, without these, by names and renaming identifiers. A bundle with \
      several versions is migrated version by version if mapping models lead from one to the next.

      The new file is written beside the old one and replaces it in one step; after any error the store is unchanged. \
      Obstacles are reported with the number of records before anything is written: --duplicates, --several and --unfit \
      set what happens to these records. Records and values that would be lost, because the new model or a mapping model \
      has no place for them, are listed with their number, and nothing is written without --allow-loss. If something in a \
      mapping model cannot be followed, the error names the mapping, the property and the text. If no record at all would \
      be left, as with the model of another store, --backup or --output has to keep the old ones. The transactions of a \
      history are not migrated; their number is reported.

      A migrated file keeps its form, if its type has several: the separators, line endings, quotes, header row and byte \
      order mark of a CSV file, and whether a property list is XML or binary.

      With --output, a type that numbers its records, as SQLite does, gives them other references; a note says so.

      An SQLite file with notes of Core Data for CloudKit, with triggers that new files do not get, or with a history of \
      an unknown form is not migrated in place, because these would be lost; --output writes another file.

      An SQLite store makes its new records itself, in SQL, if that is possible; the last line says so, or why not. All \
      other stores read the records into memory. A dry run reports what the migration would do, and changes no file; \
      records that SQL can make are not read.

      With --json, it prints one object with the members steps (objects with inferred and mappings), entities (objects \
      with mapping, type, source, destination, sourceCount and destinationCount), findings (objects with kind, entity, \
      property, count and obstacle), inStore (whether the store has made its records itself), notInStoreBecause (why an \
      SQLite store has not, or null) and refused (why the migration of a dry run would fail, or null).

      EXAMPLE
        heartwood migrate todo.heartwood --to-model ToDo.xcdatamodeld --dry-run
        heartwood migrate todo.heartwood --to-model ToDo.xcdatamodeld --backup
      """
  )

  @Argument(help: "The store: a file, or the URL of a store that is not a file.", completion: .file())
  var store: String

  @Option(help: "The model to migrate to, or a bundle with all its versions.", completion: .file())
  var toModel: String

  @Option(help: "The version of that model in a bundle. By default, the current one.")
  var modelVersion: String?

  @Option(
    help: "The model with which the store was written, if its file and the bundle do not have it.",
    completion: .file()
  )
  var fromModel: String?

  @Option(
    help: ArgumentHelp("An .xcmappingmodel or .cdm; those beside the bundle are found.", valueName: "mapping"),
    completion: .file()
  )
  var mapping: [String] = []

  @Flag(help: "Ignore the mapping models beside the bundle, and infer all steps without a --mapping.")
  var infer = false

  @Option(help: ArgumentHelp("The type of the store, if its name and content do not show it.", valueName: "type"))
  var from: String?

  @Option(help: "Write the migrated store to this file, and leave the old one unchanged.", completion: .file())
  var output: String?

  @Option(help: ArgumentHelp("The type of the output, if its extension does not show it.", valueName: "type"))
  var to: String?

  @Flag(help: "Replace the output if it exists.")
  var force = false

  @Flag(help: "Print what would happen, and write nothing.")
  var dryRun = false

  @Flag(help: "Keep the old file beside the new one, with the suffix .backup.")
  var backup = false

  @Option(help: "What happens to records with equal values that must be unique: refuse, keepFirst or keepLast.")
  var duplicates: MigrationResolutions.Duplicates = .refuse

  @Option(help: "What happens to several objects where only one is allowed: refuse or keepFirst.")
  var several: MigrationResolutions.SeveralObjects = .refuse

  @Option(help: "What happens to values that cannot be converted to a new type: refuse or useDefault.")
  var unfit: MigrationResolutions.UnfitValues = .refuse

  @Flag(help: "Go on without the records and values that would be lost.")
  var allowLoss = false

  @Flag(help: "Read the records into memory, even if an SQLite store could make the new ones itself.")
  var throughMemory = false

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Print nothing unless it fails.")
  var quiet = false

  func validate() throws {
    try TypeName.check(from, "--from")
    try TypeName.check(to, "--to")
    if output == "-" { throw ValidationError("“-” is not a file name.") }
    if backup, output != nil { throw ValidationError("With --output the old file stays; leave out --backup.") }
    if to != nil || force, output == nil { throw ValidationError("--to and --force require --output.") }
  }

  func run() throws {
    let progress = ProgressBar(phases: [.reading, .migrating, .writing, .flushing], isShown: !quiet && !json)
    let run = StoreMigrationRun(self, progress)
    let result = try progress.whileShown { try run.run() }
    if result == nil, let output {
      throw ToolError(
        at: store,
        "The store has this version of the model already, so \(DisplayText.safe(output)) was not written. heartwood convert makes a copy."
      )
    }
    let isRefused = (result?.report).map(empties) ?? false
    let report = MigrationOutcome(store: output ?? store, isDry: dryRun, isRefused: isRefused, result)
    if !quiet {
      for note in notes(result) { StandardError.write(StandardError.note("\(output ?? store): \(note)")) }
      try StandardOutput.untilClosed { try write(json ? report.json.line : report.text, isDone: result != nil) }
    }
    guard let reason = report.refusal else { return }
    if quiet || json { throw ToolError(at: store, reason) }
    throw ExitCode.failure
  }

  /// Returns notes about what differs in the other file.
  private func notes(_ result: StoreMigrationRun.Result?) -> [String] {
    guard let result else { return [] }
    return [
      result.report.hasRenamedRecords ? DestinationNotes.renamedRecords(of: store) : nil,
      result.lacksModel ? DestinationNotes.lackingModel(at: toModel) : nil,
    ].compactMap(\.self)
  }

  private func write(_ report: String, isDone: Bool) throws {
    guard isDone, !dryRun else { return try StandardOutput.write(report) }
    try StandardOutput.report(report, of: "The store was migrated", at: output ?? store)
  }

  /// Returns whether a migration leaves no records, and nothing keeps the old ones.
  func empties(_ report: MigrationReport) -> Bool {
    !backup && output == nil && report.sourceCount > 0 && report.destinationCount == 0
  }
}

extension MigrationResolutions.Duplicates: ExpressibleByArgument {}
extension MigrationResolutions.SeveralObjects: ExpressibleByArgument {}
extension MigrationResolutions.UnfitValues: ExpressibleByArgument {}
