import ArgumentParser
import Heartwood
import HeartwoodFormats
import HeartwoodStore

struct FetchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Prints the records of an entity that meet a condition, or values made of them.",
    discussion: """
      Conditions and expressions have the syntax of NSPredicate: done == NO AND memo CONTAINS[cd] "milk", ANY tags.name IN \
      {"a", "b"}, count(distinct(list)), sum(price * 2). Key paths may go through relationships: list.name.

      Without --select, whole records are printed, in the form of heartwood dump. With --select or --distinct, each record \
      is a row of values. With --group-by, or if --select contains aggregates (sum, count, min, max, average, median, \
      mode, stddev), each group is a row. The name of a column is its expression, or the name after AS; --sort and \
      --having name columns, --having as $name.

      As json, each line is an object. As csv, there is a header. As table, columns are aligned, and shortened to fit the \
      terminal; records of several entities are in several tables, in their order.

      EXAMPLE
        heartwood fetch todo.csv ToDo --where 'memo CONTAINS[c] "mail"' --limit 10
        heartwood fetch todo.csv ToDo --group-by done --select 'done,count(SELF)'
      """
  )

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case json, csv, table
  }

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The entity. Records of its subentities are fetched, too.")
  var entity: String

  @Option(
    name: .customLong("where"),
    parsing: .unconditional,
    help: ArgumentHelp("Which records to fetch.", valueName: "predicate")
  )
  var predicate: String?

  @Option(
    help: ArgumentHelp(
      "The sort keys, each followed by :asc or :desc and, for text, :c, :cd or :l (localized).",
      valueName: "key[:desc],…"
    )
  )
  var sort: String?

  @Option(parsing: .unconditional, help: "The maximum number of results.")
  var limit: Int?

  @Option(parsing: .unconditional, help: "The number of results to skip.")
  var offset = 0

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The columns: attributes, key paths, expressions.", valueName: "a,b,…")
  )
  var select: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The values that records of a row have in common.", valueName: "a,b,…")
  )
  var groupBy: String?

  @Option(parsing: .unconditional, help: ArgumentHelp("Which groups to print.", valueName: "predicate"))
  var having: String?

  @Flag(help: "Print equal rows only once; without --select, rows of all attributes.")
  var distinct = false

  @Flag(help: "Print only the number of results.")
  var count = false

  @Flag(help: "Print how the records are found, and not the records.")
  var explain = false

  @Option(help: "The format of the output.")
  var format = Format.json

  func validate() throws {
    if limit ?? 0 < 0 || offset < 0 { throw ValidationError("--limit and --offset must not be negative.") }
    if having != nil, groupBy == nil, select == nil {
      throw ValidationError("--having is a condition for groups: give --group-by or --select with it.")
    }
    if explain, count {
      throw ValidationError("--explain fetches no records, so it cannot count them: leave out --count.")
    }
    _ = try request()
  }

  func run() throws {
    let (context, model) = try arguments.source.openContext()
    model.tellNotes()
    let fetch = StoreFetch(context, try request())
    if explain { return try StandardOutput.write(try fetch.explanation()) }
    if count { return try StandardOutput.write("\(try fetch.count())\n") }
    if fetch.isOfRows {
      try FetchRowsReport(try fetch.rows(), format: format).write()
    } else {
      try write(fetch, RecordOutput(entities: model.model.entities))
    }
  }

  private func request() throws -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entityName: entity, offset: offset, limit: limit)
    request.predicate = try read(predicate, "--where") { try FetchPredicate(format: $0) }
    request.sortDescriptors =
      try sort.map { try ExpressionList.parts(of: $0).map(FetchSortDescriptor.init(argument:)) } ?? []
    request.propertiesToFetch = try read(select, "--select", namedColumns) ?? []
    // Without --select, these are the columns.
    request.propertiesToGroupBy = try read(groupBy, "--group-by", select == nil ? namedColumns : columns) ?? []
    request.havingPredicate = try read(having, "--having") { try FetchPredicate(format: $0) }
    request.returnsDistinctResults = distinct
    return request
  }

  /// Parses an option. An error names the option.
  private func read<Value>(_ text: String?, _ option: String, _ parse: (String) throws -> Value) throws -> Value? {
    do {
      return try text.map(parse)
    } catch let error as FetchPredicateError {
      throw ValidationError("\(option): \(Wording().text(error))")
    } catch is EmptyColumn {
      throw ValidationError("\(option): A column is empty. Leave out the comma beside it, or the option.")
    }
  }

  private struct EmptyColumn: Error {}

  private func columns(_ list: String) throws -> [ExpressionDescription] {
    try ExpressionList.parts(of: list).map { part in
      if part.isEmpty { throw EmptyColumn() }
      return try ExpressionDescription(format: part)
    }
  }

  private func namedColumns(_ list: String) throws -> [ExpressionDescription] {
    let columns = try columns(list)
    try SelectionPlan.checkNames(columns)
    return columns
  }

  private func write(_ fetch: StoreFetch, _ output: RecordOutput) throws {
    switch format {
    case .json: try output.writeJSON(try fetch.pages())
    case .csv: try output.writeFields(try fetch.pages())
    // The width of a column depends on all records.
    case .table: try output.writeTables(try fetch.records())
    }
  }
}

extension FetchSortDescriptor {
  /// Parses `key`, `key:desc` or `key:desc:cd`. Known words after colons are not part of the key.
  fileprivate init(argument: String) throws {
    self.init(argument)
    var hasOrder = false
    var hasComparison = false
    while let colon = keyPath.lastIndex(of: ":") {
      let ending = keyPath[keyPath.index(after: colon)...]
      switch ending {
      case "asc", "desc":
        try Self.set(&hasOrder, argument)
        isAscending = ending == "asc"
      case "c", "cd", "l":
        try Self.set(&hasComparison, argument)
        comparison =
          ending == "l" ? .localizedStandard : ending == "c" ? .caseInsensitive : .caseAndDiacriticInsensitive
      // The colon may belong to a function.
      case _ where ending.contains(where: { !$0.isLetter }): return
      default:
        throw ValidationError(
          "--sort: “\(ending)” follows a key, and is none of asc, desc and, for text, c, cd and l."
        )
      }
      keyPath = String(keyPath[..<colon])
    }
    if keyPath.isEmpty {
      throw ValidationError("--sort: A key is empty. Leave out the comma beside it, or the option.")
    }
  }

  private static func set(_ isSaid: inout Bool, _ argument: String) throws {
    guard !isSaid else {
      throw ValidationError("--sort: “\(argument)” has two orders or two comparisons. Leave out one of them.")
    }
    isSaid = true
  }
}

/// Expressions that are separated by commas.
enum ExpressionList {
  /// Returns the expressions without surrounding spaces. Commas within brackets or quotation marks do not separate.
  static func parts(of text: String) -> [String] {
    var parts = [""]
    var depth = 0
    var quote: Character?
    var isEscaped = false
    for character in text {
      if character == ",", depth == 0, quote == nil {
        parts.append("")
        continue
      }
      if isEscaped {
        isEscaped = false
      } else if let open = quote {
        isEscaped = character == "\\"
        if character == open { quote = nil }
      } else if character == "\"" || character == "'" {
        quote = character
      }
      if quote == nil, "({[".contains(character) { depth += 1 }
      if quote == nil, ")}]".contains(character) { depth -= 1 }
      parts[parts.count - 1].append(character)
    }
    return parts.map(trimmed)
  }

  private static func trimmed(_ part: String) -> String {
    String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}

// MARK: DumpCommand

struct DumpCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dump",
    abstract: "Prints the records of a store.",
    discussion: """
      As json, each line is an object: $entity, $id (the reference), the attributes and then the relationships in the \
      order of the model. A relationship is a reference or a list of references. If a record belongs to another entity \
      than the relationship's destination, such as a subentity, it is an object with $entity and $id, in the other formats \
      too. Dates are ISO 8601 in UTC, binary data is base64, decimal numbers are strings, nil is null. As csv, there is a \
      header and a line for each record of one entity. As table, columns are aligned, and shortened to fit the terminal.

      EXAMPLE
        heartwood dump todo.csv --entity ToDo --format table
      """
  )

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case json, csv, table
  }

  @OptionGroup var arguments: StoreArguments

  @Option(help: "Print only the records of this entity, without those of its subentities.")
  var entity: String?

  @Option(help: "The format of the output.")
  var format = Format.json

  func run() throws {
    let opened = try arguments.source.open()
    opened.model.tellNotes()
    let entities = try DumpedEntities(name: entity, of: opened.store, path: arguments.store)
    let output = RecordOutput(entities: opened.model.model.entities)
    switch format {
    case .json: try output.writeJSON(entities.tables)
    case .csv: try output.writeFields(try entities.only)
    case .table: try output.writeTables(entities.tables)
    }
  }
}
