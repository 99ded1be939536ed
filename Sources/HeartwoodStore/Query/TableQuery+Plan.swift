package import HeartwoodModel

extension TableQuery {
  /// How the query is done.
  package func plan(sortedBy sorts: [SortPlan], offset: Int = 0, limit: Int? = nil) -> QueryPlan.Step {
    var step = QueryPlan.Step(entityName: table.entity.name, recordCount: table.count)
    step.tests = testNames
    if let (ordinal, test) = indexedTest {
      step.indexName = table.entity.fetchIndexNames[ordinal]
      step.candidateCount = candidateCount(ordinal, test)
    }
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

  /// The test that an index answers, which all records that pass have to pass.
  private var indexedTest: (Int, ColumnTest)? {
    switch test {
    case .indexed(let ordinal, let test): (ordinal, test)
    case .and(let terms):
      terms.lazy.compactMap { term in
        if case .indexed(let ordinal, let test) = term { (ordinal, test) } else { nil }
      }.first
    default: nil
    }
  }

  /// How many records an index leaves to be looked at.
  private func candidateCount(_ ordinal: Int, _ test: ColumnTest) -> Int {
    table.groups.reduce(0) { count, group in
      let column = group.columns[ordinal]
      let places = column.order.rows(of: column, isNeeded: true).flatMap {
        test.places(in: $0, group.unsafeViews[ordinal])
      }
      return count + (places?.reduce(0) { $0 + $1.count } ?? group.rowCount)
    }
  }

  private func order(_ sorts: [SortPlan], _ offset: Int, _ limit: Int?) -> String? {
    guard let sort = RowSort(sorts, tables, table, indexUse) else { return nil }
    let keys = sorts.map {
      ($0.expression.ownProperty.map { table.entity.properties[$0.ordinal].name } ?? "an expression")
    }
    let names = keys.joined(separator: ", ")
    guard let limit, limit <= RowSort.largestSelection, offset <= RowSort.largestSelection - limit else {
      return "\(names), all that pass"
    }
    let index = sort.indexedOrdinal.flatMap { table.entity.fetchIndexNames[$0] }.map { " by the index \($0)" } ?? ""
    return "\(names), selecting the first \(offset + limit)\(index)"
  }
}
