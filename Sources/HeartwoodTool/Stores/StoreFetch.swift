import Heartwood
import HeartwoodRecordText
import HeartwoodStore

/// A fetch from the only store of a context.
struct StoreFetch {
  private let context: ManagedObjectContext
  private let request: FetchRequest<ManagedObject>

  init(_ context: ManagedObjectContext, _ request: FetchRequest<ManagedObject>) {
    self.context = context
    self.request = request
  }

  /// Whether the results are rows of values and not records.
  var isOfRows: Bool {
    request.asksForRows
  }

  func rows() throws -> FetchRows { try context.fetchRows(request) }

  func count() throws -> Int { isOfRows ? try rows().count : try context.count(for: request) }

  /// Returns the records in order, in tables. There is a new table each time the entity changes.
  func records() throws -> [NodeTable] { try context.recordTables(request) }

  /// Returns the records in order, in pages of which each is read when it is asked for, if the store can.
  func pages() throws -> RecordPages { try context.recordPages(request) }
}

// MARK: Explanations

extension StoreFetch {
  /// Returns how the records of each entity are found, and what is done with them.
  func explanation() throws -> String {
    var search = request
    // Rows are sorted by their own columns, which records do not have.
    if isOfRows { (search.sortDescriptors, search.fetchOffset, search.fetchLimit) = ([], 0, nil) }
    var lines = [
      "\(try context.queryPlan(for: request))", "\(Quantity.text(try context.count(for: search), "record")) found",
    ]
    lines.append("on \(Quantity.text(Parallel.powerOfTwoProcessorCount, "thread")), by groups of up to 65536 rows")
    if isOfRows { lines += rowLines }
    // The names of indexes come from the model, so they are escaped.
    return lines.map { DisplayText.safe($0, keepsLines: true) + "\n" }.joined()
  }

  private var rowLines: [String] {
    func names(_ columns: [ExpressionDescription]) -> String { columns.map(\.name).joined(separator: ", ") }
    var lines: [String] = []
    if !request.propertiesToGroupBy.isEmpty { lines.append("grouped by \(names(request.propertiesToGroupBy))") }
    if !request.propertiesToFetch.isEmpty { lines.append("columns \(names(request.propertiesToFetch))") }
    if !request.sortDescriptors.isEmpty {
      lines.append("rows sorted by \(request.sortDescriptors.map(\.keyPath).joined(separator: ", "))")
    }
    return lines
  }
}

// MARK: DumpedEntities

/// The tables that a dump prints.
struct DumpedEntities {
  let tables: [NodeTable]

  /// - Parameter name: the name of the entity that the user requests; nil for all that are not abstract. Damaged
  ///   records of other entities are ignored then.
  init(name: String?, of store: PersistentStore, path: String) throws {
    let entities = store.entities.filter { !$0.isAbstract }
    guard let name else {
      let contents = try store.engine.contents()
      tables = entities.map { contents.table(of: $0) }
      return
    }
    guard let entity = entities.first(where: { $0.name == name }) else {
      throw PersistenceError(
        .entityUnknown,
        "The store has no records of an entity called \(name). It has these entities: \(Self.names(entities)).",
        context: .init(path: path, entity: name)
      )
    }
    let table = try store.engine.table(of: entity)
    try table.checkReadable()
    tables = [table]
  }

  /// The only table, for a format that holds records of one entity.
  var only: NodeTable {
    get throws {
      if let table = tables.first, tables.count == 1 { return table }
      throw ToolError(
        "The format csv has records of one entity. Choose one with --entity: \(Self.names(tables.map(\.entity)))."
      )
    }
  }

  private static func names(_ entities: [EntityDescription]) -> String {
    entities.map(\.name).joined(separator: ", ")
  }
}
