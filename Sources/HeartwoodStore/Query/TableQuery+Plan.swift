package import HeartwoodModel

extension TableQuery {
  /// How the query is done.
  package func plan(sortedBy sorts: [SortPlan], offset: Int = 0, limit: Int? = nil) -> QueryPlan.Step {
    var step = QueryPlan.Step(entityName: table.entity.name, recordCount: table.count)
    step.tests = testNames
    step.order = order(sorts, offset, limit)
    return step
  }

  private var testNames: [String] {
    switch test {
    case .literal(true): []
    case .and(let terms): terms.map { $0.description(for: table.entity) }
    default: [test.description(for: table.entity)]
    }
  }

  private func order(_ sorts: [SortPlan], _ offset: Int, _ limit: Int?) -> String? {
    guard RowSort(sorts, tables, table) != nil else { return nil }
    let keys = sorts.map {
      ($0.expression.ownProperty.map { table.entity.properties[$0.ordinal].name } ?? "an expression")
    }
    let names = keys.joined(separator: ", ")
    guard let limit, limit <= RowSort.largestSelection, offset <= RowSort.largestSelection - limit else {
      return "\(names), all that pass"
    }
    return "\(names), selecting the first \(offset + limit)"
  }
}
