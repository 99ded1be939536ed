package import HeartwoodModel

extension TableQuery {
  /// How the query is done.
  package func plan(sortedBy sorts: [SortPlan], offset: Int = 0, limit: Int? = nil) -> QueryPlan.Step {
    var step = QueryPlan.Step(entityName: table.entity.name, recordCount: table.count)
    step.tests = testNames
    if let access = indexAccess {
      step.indexName = access.plan.name
      step.candidateCount = candidateCount(access)
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
  private var indexAccess: IndexAccess? {
    switch test {
    case .indexed(let access, _): access
    case .and(let terms):
      terms.lazy.compactMap { term in
        if case .indexed(let access, _) = term { access } else { nil }
      }.first
    default: nil
    }
  }

  /// How many records an index leaves to be looked at.
  private func candidateCount(_ access: IndexAccess) -> Int {
    table.groups.indices.reduce(0) { count, ordinal in
      var tester = tester(ofGroup: ordinal)
      return count + (tester.find(access, isNeeded: true)?.count ?? table.groups[ordinal].rowCount)
    }
  }

  private func order(_ sorts: [SortPlan], _ offset: Int, _ limit: Int?) -> String? {
    guard let sort = RowSort(sorts, tables, table) else { return nil }
    let keys = sorts.map {
      ($0.expression.ownProperty.map { table.entity.properties[$0.ordinal].name } ?? "an expression")
    }
    let names = keys.joined(separator: ", ")
    guard let limit, limit <= RowSort.largestSelection, offset <= RowSort.largestSelection - limit else {
      return "\(names), all that pass"
    }
    let index = sortAccess(sort).map { " by the index \($0.access.plan.name)" } ?? ""
    return "\(names), selecting the first \(offset + limit)\(index)"
  }
}
