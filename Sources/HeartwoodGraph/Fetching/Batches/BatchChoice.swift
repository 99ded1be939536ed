import HeartwoodModel
import HeartwoodStore

/// The records of one store that a batch is about.
struct BatchChoice {
  /// What is chosen of one entity.
  enum Part {
    case all(NodeTable)
    case matching(PlanPredicate, NodeTable)
    /// What the store has found.
    case found(FoundRecords)

    var table: NodeTable {
      switch self {
      case .all(let table), .matching(_, let table): table
      case .found(let found): found.table
      }
    }

    func query(_ tables: QueryTables) -> TableQuery {
      switch self {
      case .all(let table): TableQuery(tables, table, where: nil)
      case .matching(let plan, let table): TableQuery(tables, table, where: plan)
      case .found(let found): TableQuery(tables, found.table, rows: found.rows)
      }
    }
  }

  let tables: QueryTables
  /// For each entity, in their order.
  let queries: [TableQuery]

  init(tables: QueryTables, queries: [TableQuery]) {
    self.tables = tables
    self.queries = queries
  }

  /// A choice for which no other records are looked at.
  init(_ parts: [Part], scopes: [ObjectIDScope], _ model: ManagedObjectModel) {
    var all: [NodeTable?] = model.entities.map { _ in nil }
    for part in parts { all[part.table.entity.ordinal] = part.table }
    tables = QueryTables(tables: all, scopes: scopes)
    queries = parts.map { [tables] part in part.query(tables) }
  }

  /// The rows, by entity ordinal.
  var rows: [Int: [RowID]] {
    queries.reduce(into: [:]) { $0[$1.entityOrdinal] = $1.rows() }
  }
}
