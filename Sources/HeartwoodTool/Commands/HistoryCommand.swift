import ArgumentParser
import Heartwood
import HeartwoodRecordText
import HeartwoodFoundation
import HeartwoodStore

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Prints the history of a store: the transactions with date, author and changes.",
    discussion: """
      As table, there is a line for each transaction. As json, each line is an object with number, date, author, context, \
      bundle and process (if they are known, as in SQLite files), and changes: a list of objects with kind (insert, \
      update, delete), entity, id, for an update properties, and for a deletion tombstone, the values that the model \
      preserves. With --purge-before, it is one object with removed and left.

      A store has a history if it was saved with the option tracksPersistentHistory. An SQLite file also has one if Core \
      Data keeps one in it.

      EXAMPLE
        heartwood history todo.heartwood --after 120 --format json
        heartwood history todo.heartwood --after 120 --limit 50
        heartwood history todo.heartwood --purge-before 2026-01-31
      """
  )

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case json, table
  }

  @OptionGroup var arguments: StoreArguments

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Print only the transactions after the one with this number.", valueName: "number")
  )
  var after: Int64?

  @Option(
    help: ArgumentHelp(
      "Print at most so many transactions, the earliest of those that the other options ask for.",
      valueName: "count"
    )
  )
  var limit: Int?

  @Option(help: "Print only the transactions of this author.")
  var author: String?

  @Option(help: "Print only changes of this entity and its subentities.")
  var entity: String?

  @Option(help: "The format of the output.")
  var format = Format.table

  @Option(
    help: ArgumentHelp(
      "Remove the transactions that were saved before a date, 2026-01-31 or 2026-01-31T18:00:00Z, and print how many.",
      valueName: "date"
    )
  )
  var purgeBefore: PurgeDate?

  func validate() throws {
    if let after, after < 0 { throw ValidationError("The number after --after must not be negative.") }
    if let limit, limit < 1 { throw ValidationError("The number after --limit must be at least 1.") }
    if purgeBefore != nil, after != nil || limit != nil || author != nil || entity != nil {
      throw ValidationError("--purge-before removes whole transactions: give it alone.")
    }
  }

  func run() throws {
    if let purgeBefore { return try purge(before: purgeBefore.date) }
    let opened = try arguments.source.open()
    opened.model.tellNotes()
    try checkEntity(in: opened.model.model)
    let reader = try historyReader(of: opened)
    let request = request(opened.store.identifier)
    switch format {
    case .json: try writeJSON(reader, request)
    case .table: try writeTable(reader, request)
    }
  }

  private func historyReader(of opened: OpenStore) throws -> HistoryReader {
    let foreignCount = try opened.foreignTransactionCount()
    guard foreignCount == 0 else {
      let count = Quantity.text(foreignCount, "transaction")
      throw ToolError(
        at: opened.path,
        "The file has a history of Core Data, \(count), of an unknown form."
      )
    }
    return try opened.store.requiredHistoryReader()
  }

  private func request(_ identifier: UUID) -> PersistentHistoryChangeRequest {
    var request = PersistentHistoryChangeRequest.fetchHistory(
      after: after.map { PersistentHistoryToken([identifier: $0]) }
    )
    request.authors = author.map { [$0] }
    request.entityName = entity
    return request
  }

  private func checkEntity(in model: ManagedObjectModel) throws(PersistenceError) {
    if let entity { _ = try model.knownEntity(named: entity) }
  }

  private func writeJSON(_ reader: HistoryReader, _ request: PersistentHistoryChangeRequest) throws {
    let line = GrowableBytes()
    try reader.forEachTransaction(request, limit: limit ?? .max) { transaction in
      HistoryJSON.append(transaction, to: line)
      try StandardOutput.write(line.sealed())
    }
  }

  private func writeTable(_ reader: HistoryReader, _ request: PersistentHistoryChangeRequest) throws {
    var table = HistoryTable(StandardOutput.write)
    try reader.forEachTransaction(request, limit: limit ?? .max) { try table.append($0) }
    try table.finish()
  }

  private func purge(before date: Date) throws {
    let opened = try arguments.source.open(options: StoreOptions())
    opened.model.tellNotes()
    let store = opened.store
    let before = try historyReader(of: opened).history.transactionCount
    try store.engine.deleteHistory(before: date)
    let left = try store.requiredHistoryReader().history.transactionCount
    let object = JSONValue.object([("removed", .integer(before - left)), ("left", .integer(left))])
    let text = "\(Quantity.text(before - left, "transaction")) removed, \(left) left\n"
    try StandardOutput.report(
      format == .json ? object.line : text,
      of: "\(Quantity.text(before - left, "transaction")) removed",
      at: opened.path
    )
  }
}

/// A day, from midnight UTC, or a point in time, as ISO 8601.
struct PurgeDate: ExpressibleByArgument {
  let date: Date

  init?(argument: String) {
    let style: Date.ISO8601FormatStyle = argument.utf8.count == Self.dayLength ? Self.day : .iso8601
    guard Self.hasForm(argument), let date = try? style.parse(argument), Self.exists(argument, style) else {
      return nil
    }
    self.date = date
  }

  private static let dayLength = 10
  private static let day = Date.ISO8601FormatStyle.iso8601.year().month().day()

  /// Returns whether the whole text is a day, or a time with its offset from UTC. The format styles ignore the rest of
  /// a text.
  private static func hasForm(_ text: String) -> Bool {
    text.wholeMatch(of: /\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(Z|[+-]\d\d:?\d\d))?/) != nil
  }

  /// Returns whether the date and the time exist. The format styles accept February 30 as a day in March.
  private static func exists(_ text: String, _ style: Date.ISO8601FormatStyle) -> Bool {
    // Without the offset from UTC, a valid text is formatted as it was parsed.
    let local = text.utf8.count == dayLength ? text : text.prefix(19) + "Z"
    return (try? style.parse(local)).map(style.format) == local
  }
}
