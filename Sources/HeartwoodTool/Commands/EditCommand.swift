import ArgumentParser
import Heartwood
import HeartwoodFormats
import HeartwoodRecordText
import HeartwoodStore

/// The `edit` command.
///
/// Like `migrate`, `convert` and `generate`, it writes unless `--dry-run` is given: a script that omitted an option for
/// writing would do nothing and succeed. A backup is made by default, with which an edit can be undone.
struct EditCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Changes, adds or deletes records of a store of any type.",
    discussion: """
      --set changes the records that --where or --id names, --insert adds one record, and --delete deletes the named \
      records, with the effects of their delete rules. Everything is one save: it is done completely or not at all.

      A VALUE is written as heartwood dump prints it, but text needs no quotation marks: a number, true or false, ISO 8601 \
      for dates (2026-01-31, 2026-01-31T18:00:00Z), a UUID, a URI, base64 for binary data, and null for no value. A value \
      that begins with a quotation mark is a JSON string, so that "null" is a text. A part of a composite attribute is \
      written with a dot, address.city.

      A RECORD at the other end of a relationship is written as its reference, $id in a dump; as \
      {"$entity":"Book","$id":"7"} if records of several entities have the same reference; as its URI, x-coredata://…; or \
      as a predicate in parentheses that finds exactly one record, (name == "Home"). Several records are a list in \
      brackets, [7,8,(name == "Home")]. With --set, it replaces the existing ones; --add and --remove change some of them.

      An edit must meet the rules of the model: types, ranges, lengths, patterns, required values, uniqueness and delete \
      rules. Otherwise, the error names the records, the properties and the rules. A store with a history records the \
      change in it.

      With --dry-run, nothing is written: the change is made in a copy, with the same rules, and printed. Without it, a \
      copy of the store and its files is made beside it first, STORE.backup, or STORE.2.backup if there is one; --restore \
      puts it back. A line that begins with + is a new record, one with - is deleted, and one with ~ is changed, followed \
      by its values before and after, as JSON.

      A file that Core Data mirrors to CloudKit is changed only with --allow-mirrored. The change is then in its history, \
      and the app sends it to CloudKit, and so to all devices of the user, when it is next opened. Close the app before.

      With --json, it prints one object with the members written, backup (a path, or null), inserted, updated, deleted, \
      entities (objects with name and the same three counts), changes (the first changes, objects with change: added, \
      changed or removed; entity, id and values) and hasMoreChanges. If no record is found, or all have the values \
      already, nothing is written and the status is 0.

      EXAMPLE
        heartwood edit todo.csv --where 'sortOrder > 3' --set done=true --dry-run
        heartwood edit todo.csv --insert --set 'memo=Buy milk' --set done=false
        heartwood edit todo.csv --where 'done == YES' --delete
        heartwood edit todo.csv --restore todo.csv.backup
      """
  )

  @OptionGroup var arguments: StoreArguments

  @Option(help: "The entity. Records of its subentities are found, too. It can be left out if there is only one.")
  var entity: String?

  @Option(
    name: .customLong("where"),
    parsing: .unconditional,
    help: ArgumentHelp("Which records to change or delete; TRUEPREDICATE for all.", valueName: "predicate")
  )
  var predicate: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A record to change or delete. It may be given several times.", valueName: "record")
  )
  var id: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("The new value of a property. It may be given several times.", valueName: "key=value")
  )
  var set: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A record to add to a to-many relationship.", valueName: "key=record")
  )
  var add: [String] = []

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp("A record to remove from a to-many relationship.", valueName: "key=record")
  )
  var remove: [String] = []

  @Flag(help: "Add a record, with the values of --set and the defaults of the model.")
  var insert = false

  @Flag(help: "Delete the records.")
  var delete = false

  @Flag(help: "Print what would be changed, and write nothing.")
  var dryRun = false

  @Flag(help: "Make no copy of the store before it is changed.")
  var noBackup = false

  @Option(
    help: ArgumentHelp("Replace the store by a backup. The replaced store is backed up first.", valueName: "backup"),
    completion: .file()
  )
  var restore: String?

  @Flag(help: "Change a file that Core Data mirrors to CloudKit: the app will send the change there.")
  var allowMirrored = false

  @Option(help: "The author of the change, for a store with a history.")
  var author: String?

  @Option(help: ArgumentHelp("How many changed records to print.", valueName: "count"))
  var show = 10

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Print nothing unless it fails.")
  var quiet = false

  func validate() throws {
    if show < 0 { throw ValidationError("--show must not be negative.") }
    guard restore == nil else { return try checkRestoring() }
    _ = try instruction()
  }

  private func checkRestoring() throws {
    let others = [entity, predicate, author].contains { $0 != nil } || insert || delete || dryRun || allowMirrored
    if others || !(id + set + add + remove).isEmpty {
      throw ValidationError("--restore replaces the whole file: give it without options that name or change records.")
    }
  }

  private func instruction() throws -> EditInstruction {
    let assignments =
      try set.map { try EditAssignment($0, .set) } + add.map { try EditAssignment($0, .add) }
      + remove.map { try EditAssignment($0, .remove) }
    if insert, delete { throw ValidationError("Give either --insert or --delete: each is an edit of its own.") }
    if delete, !assignments.isEmpty {
      throw ValidationError("--delete leaves no values: leave out --set, --add and --remove.")
    }
    if !insert, !delete, assignments.isEmpty {
      throw ValidationError("Say what to do: --set with --where or --id, --insert, --delete, or --restore.")
    }
    try checkSelection()
    return EditInstruction(
      action: insert ? .insert : delete ? .delete : .update,
      entityName: entity,
      predicate: try parsedPredicate(),
      references: id,
      assignments: assignments
    )
  }

  private func checkSelection() throws {
    if predicate != nil, !id.isEmpty { throw ValidationError("Give either --where or --id.") }
    let hasSelection = predicate != nil || !id.isEmpty
    if insert, hasSelection { throw ValidationError("--insert adds a record: leave out --where and --id.") }
    if !insert, !hasSelection {
      throw ValidationError("Say which records, with --where or --id. --where TRUEPREDICATE means all.")
    }
  }

  private func parsedPredicate() throws -> FetchPredicate? {
    do {
      return try predicate.map { try FetchPredicate(format: $0) }
    } catch let error as FetchPredicateError {
      throw ValidationError("--where: \(Wording().text(error))")
    }
  }

  func run() throws {
    if let restore { return try putBack(restore) }
    let progress = ProgressBar(phases: StoreEdit.phases, isShown: !quiet && !json)
    let edit = StoreEdit(
      source: arguments.source,
      instruction: try instruction(),
      isDry: dryRun,
      keepsBackup: !noBackup,
      allowsMirrored: allowMirrored,
      author: author,
      shownCount: show,
      progress: progress
    )
    let outcome = try progress.whileShown { try edit.run() }
    guard !quiet else { return }
    outcome.model.tellNotes()
    let report = EditReport(path: arguments.store, isDry: dryRun, outcome: outcome)
    try StandardOutput.untilClosed { try write(json ? report.json.line : report.text, of: outcome) }
    if !json, let advice = report.advice { StandardError.write(StandardError.note(advice)) }
  }

  private func write(_ report: String, of outcome: EditOutcome) throws {
    guard outcome.hasChanges, !dryRun else { return try StandardOutput.write(report) }
    try StandardOutput.report(report, of: "The store was edited", at: arguments.store)
  }

  private func putBack(_ copy: String) throws {
    let source = arguments.source
    let (type, _) = try source.format()
    _ = try source.fileSystem.storeStatus(atPath: copy)
    let storeManager = StoreManager(
      model: try ManagedObjectModel(entities: []),
      registry: .tool,
      fileSystem: POSIXFileSystem()
    )
    let request = StoreManager.Request.reading(arguments.store, type)
    let backup = noBackup ? nil : try StoreBackup(of: request, storeManager)
    do {
      try StoreBackup.restore(request, from: .reading(copy, type), storeManager)
    } catch {
      _ = backup?.removeIfUnneeded()
      throw error
    }
    guard !quiet else { return }
    let object = JSONValue.object([("restored", .string(copy)), ("backup", .optional(backup?.path))])
    let kept = backup.map { "backup: \(DisplayText.safe($0.path))\n" } ?? ""
    let text = "\(kept)\(DisplayText.safe(arguments.store)): restored from \(DisplayText.safe(copy))\n"
    try StandardOutput.untilClosed {
      try StandardOutput.report(json ? object.line : text, of: "The store was restored", at: arguments.store)
    }
  }
}
