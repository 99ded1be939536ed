import Heartwood
import HeartwoodRecordText
import HeartwoodStore

/// A fetch from the one store of a context.
struct StoreFetch {
  private let context: ManagedObjectContext
  private let request: FetchRequest<ManagedObject>

  init(_ context: ManagedObjectContext, _ request: FetchRequest<ManagedObject>) {
    self.context = context
    self.request = request
  }

  /// Whether the result is rows of values and not records.
  var isOfRows: Bool {
    request.asksForRows
  }

  func rows() throws -> FetchRows { try context.fetchRows(request) }

  func count() throws -> Int { isOfRows ? try rows().count : try context.count(for: request) }

  /// The records in their order, as tables: as many as the order changes from one entity to another.
  func records() throws -> [NodeTable] { try context.recordTables(request) }
}

// MARK: Explanations

extension StoreFetch {
  /// How the records are found, entity by entity, and what is made of them.
  func explanation() throws -> String {
    var search = request
    // Rows are sorted by their own columns, which records do not have.
    if isOfRows { (search.sortDescriptors, search.fetchOffset, search.fetchLimit) = ([], 0, nil) }
    var lines = [
      "\(try context.queryPlan(for: request))", "\(Quantity.text(try context.count(for: search), "record")) found",
    ]
    lines.append("on \(Quantity.text(Parallel.powerOfTwoProcessorCount, "thread")), by groups of up to 65536 rows")
    if isOfRows { lines += rowLines }
    // The names of indexes are the model's.
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

  /// - Parameter name: the entity that the user asks for; nil means all that have records of their own. What is wrong with the records of others
  ///   does not matter then.
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

  /// The one table, for a form that holds one only.
  var only: NodeTable {
    get throws {
      if let table = tables.first, tables.count == 1 { return table }
      throw ToolError(
        "The form csv has records of one entity. Choose one with --entity: \(Self.names(tables.map(\.entity)))."
      )
    }
  }

  private static func names(_ entities: [EntityDescription]) -> String {
    entities.map(\.name).joined(separator: ", ")
  }
}
