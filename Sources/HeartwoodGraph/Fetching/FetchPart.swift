import HeartwoodModel
import HeartwoodStore

/// What a fetch asks of one table.
final class FetchPart {
  let binding: EntityBinding
  private let tables: QueryTables
  private let table: NodeTable
  /// The rows of objects that the context has changed or deleted: what the table says of them does not count.
  private var hiddenRows: Set<RowID> = []

  /// - Parameter destinations: the entities to which relationships are followed, by ordinal.
  init(_ binding: EntityBinding, following destinations: Set<Int>, in model: ManagedObjectModel) throws {
    self.binding = binding
    self.table = binding.table
    let needed = destinations.reduce(into: Set<Int>()) { needed, ordinal in
      needed.formUnion([ordinal] + model.entities[ordinal].subentityOrdinals)
    }
    let table = binding.table
    let tables = try model.entities.map { entity -> NodeTable? in
      if entity.ordinal == binding.entity.ordinal { return table }
      return needed.contains(entity.ordinal) ? try binding.source?.table(of: entity) : nil
    }
    self.tables = QueryTables(tables: tables, scopes: binding.scopes)
  }

  func hide(_ objects: [ManagedObject]) {
    for object in objects where object.binding === binding { hiddenRows.insert(object.rowID) }
  }
}

extension FetchPart {
  /// The objects of all records, made as faults where there are none yet.
  var objects: [ManagedObject] { table.liveRows.map(binding.object) }

  func match(_ row: RowID) -> FetchPass.Match { .row(binding, row) }

  /// The search for the rows that pass and are not hidden, sorted.
  func search(_ plan: PlanPredicate?, _ sorts: [SortPlan], offset: Int, limit: Int?) -> TableSearch {
    TableSearch(query(plan), sortedBy: sorts, offset: offset, limit: limit)
  }

  /// How the rows are found.
  func queryPlan(_ plan: PlanPredicate?, _ sorts: [SortPlan], offset: Int, limit: Int?) -> QueryPlan.Step {
    TableQuery(tables, table, where: plan).plan(sortedBy: sorts, offset: offset, limit: limit)
  }

  /// How many rows pass and are not hidden.
  func count(_ plan: PlanPredicate?) -> Int { query(plan).count() }

  /// The rows that pass and are not hidden, in groups.
  func groups(_ plan: PlanPredicate?, by grouping: SelectionPlan.Grouping) -> [RecordGroup] {
    query(plan).groups(by: grouping)
  }

  /// The values of expressions for each of the rows, one row after the other.
  func values(_ expressions: [PlanExpression], of rows: [RowID]) -> [PropertyValue] {
    tables.values(expressions, of: rows, entityOrdinal: binding.entity.ordinal)
  }

  private func query(_ plan: PlanPredicate?) -> TableQuery {
    TableQuery(tables, table, where: plan, without: hiddenRows)
  }

  /// The values by which a row is sorted.
  func keys(_ row: RowID, _ sorts: [SortPlan]) -> [PropertyValue] {
    sorts.map { value($0.expression, row) }
  }

  /// What a row has for an expression.
  func value(_ expression: PlanExpression, _ row: RowID) -> PropertyValue {
    PredicateEvaluator(tables).value(expression, subject(row)).scalar
  }

  private func subject(_ row: RowID) -> QueryTables.Subject {
    .init(entityOrdinal: binding.entity.ordinal, row: row)
  }
}
