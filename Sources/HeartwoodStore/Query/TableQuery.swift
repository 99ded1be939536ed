package import HeartwoodModel

/// A fetch from one table: a condition, an order, and the number of rows that are wanted.
package struct TableQuery: Sendable {
  let tables: QueryTables
  let table: NodeTable
  let test: ColumnFilter
  /// Rows that do not pass whatever their values are, by group.
  private let hiddenRows: [Int: [Int]]
  /// The rows that pass, by group, if they are known beforehand.
  private let chosenRows: [Int: [Int]]?
  let indexUse: IndexUse
  let planner: IndexPlanner
  /// Receives the progress of the query.
  package var progress: FetchProgress?

  /// - Parameters:
  ///   - predicate: nil means that all records pass.
  ///   - hiddenRows: rows that do not pass whatever their values are.
  package init(
    _ tables: QueryTables,
    _ table: NodeTable,
    where predicate: CompiledPredicate?,
    without hiddenRows: Set<RowID> = [],
    indexUse: IndexUse = .automatic
  ) {
    self.init(tables, table, where: predicate, hidden: hiddenRows.byGroup, chosen: nil, indexUse)
  }

  /// - Parameter rows: the candidates; each is tested.
  package init(_ tables: QueryTables, _ table: NodeTable, where predicate: CompiledPredicate?, among rows: [RowID]) {
    self.init(tables, table, where: predicate, hidden: [:], chosen: rows.byGroup, .never)
  }

  /// Makes a query of the records of `rows`, which have been found by other means.
  package init(_ tables: QueryTables, _ table: NodeTable, rows: [RowID]) {
    self.init(tables, table, where: nil, among: rows)
  }

  private init(
    _ tables: QueryTables,
    _ table: NodeTable,
    where predicate: CompiledPredicate?,
    hidden: [Int: [Int]],
    chosen: [Int: [Int]]?,
    _ indexUse: IndexUse
  ) {
    self.indexUse = indexUse
    self.tables = tables
    self.table = table
    hiddenRows = hidden
    chosenRows = chosen
    let builder = ColumnFilterBuilder(tables: tables, table: table)
    let terms = (predicate?.conjuncts ?? []).map { IndexPlanner.Term(plan: $0, test: builder.test($0)) }
    planner = IndexPlanner(indexUse == .never ? [] : table.entity.fetchIndexPlans, terms, builder)
    test = planner.test
  }
}

extension TableQuery {
  /// The ordinal of the entity whose records are searched.
  package var entityOrdinal: Int { table.entity.ordinal }

  /// Returns the number of records that pass.
  package func count() -> Int {
    if case .literal(let flag) = test, chosenRows == nil, !flag || hiddenRows.isEmpty { return flag ? table.count : 0 }
    return perGroup { _, rows in rows.count }.reduce(0, +)
  }

  /// Returns the rows that pass, from the first on.
  package func rows() -> [RowID] {
    perGroup { ordinal, rows in
      var ids: [RowID] = []
      ids.reserveCapacity(rows.count)
      rows.forEach { ids.append(RowID(group: ordinal, row: $0)) }
      return ids
    }.flatMap(\.self)
  }

  /// Returns the rows that pass, sorted; rows that the order does not distinguish, and all rows without an order, are
  /// in the order of the table's records.
  ///
  /// - Parameters:
  ///   - offset: the number of rows to leave out at the beginning.
  ///   - limit: the greatest number of rows to return; nil means all. A small number makes the sort much cheaper.
  package func rows(sortedBy sorts: [CompiledSort], offset: Int = 0, limit: Int? = nil) -> [RowID] {
    let wanted = RecordFetch.limit(limit, behind: offset)
    guard let sort = RowSort(sorts, tables, table) else {
      if let limit, !table.isOutOfOrder { return rows(inOrderFrom: offset, limit: limit) }
      return Array(table.ordered(rows()).dropFirst(offset).prefix(limit ?? .max))
    }
    let sorted: [RowID]
    if let wanted, wanted <= RowSort.largestSelection {
      sorted = sort.first(
        wanted,
        of: perGroup { ordinal, rows in
          firstByIndex(wanted, sort, of: rows, inGroup: ordinal) ?? sort.first(wanted, of: rows, inGroup: ordinal)
        }
      )
    } else {
      sorted = sort.sorted(perGroup { ordinal, rows in sort.keys(of: rows, inGroup: ordinal) })
    }
    return Array(sorted.dropFirst(offset).prefix(limit ?? .max))
  }

  /// Returns some of the rows that pass, in the order of the table's rows. Groups after the last of them are not read,
  /// and neither are groups before the first if all their records pass. O(groups + rows of the groups that are read).
  private func rows(inOrderFrom offset: Int, limit: Int) -> [RowID] {
    var (ids, passedOver, next, stride): ([RowID], Int, Int, Int) = ([], 0, 0, 1)
    while ids.count < limit, next < table.groups.count, progress?.isCancelled != true {
      if allPass(inGroup: next), offset - passedOver >= table.groups[next].liveCount {
        passedOver += table.groups[next].liveCount
        progress?.advance()
        next += 1
        continue
      }
      // More at a time if few records pass, so that all processors test them.
      let groups = next..<min(next + stride, table.groups.count)
      let parts = Parallel.map(groups.count) { passing(inGroup: groups.lowerBound + $0) }
      for (ordinal, part) in zip(groups, parts) {
        progress?.advance()
        let count = part.count
        defer { passedOver += min(count, max(0, offset - passedOver)) }
        guard ids.count < limit, count > offset - passedOver else { continue }
        var rest = max(0, offset - passedOver)
        part.forEach { row in
          if rest > 0 { rest -= 1 } else if ids.count < limit { ids.append(RowID(group: ordinal, row: row)) }
        }
      }
      (next, stride) = (groups.upperBound, stride * 2)
    }
    for _ in next..<table.groups.count { progress?.advance() }
    return ids
  }

  /// Returns whether all records of a group pass, if that is known without testing them.
  private func allPass(inGroup ordinal: Int) -> Bool {
    if case .literal(true) = test { chosenRows == nil && hiddenRows[ordinal] == nil } else { false }
  }

  /// Returns the results of `body` for the rows that pass in each group; computed on all processors if there are
  /// several groups.
  private func perGroup<Result: Sendable>(_ body: @Sendable (_ ordinal: Int, RowBitmap) -> Result) -> [Result] {
    Parallel.map(table.groups.count) { ordinal in
      if progress?.isCancelled == true { return body(ordinal, RowBitmap(liveRowsOf: table.groups[ordinal]).cleared) }
      defer { progress?.advance() }
      return body(ordinal, passing(inGroup: ordinal))
    }
  }

  /// Returns the rows of a group that pass.
  func passing(inGroup ordinal: Int) -> RowBitmap {
    let group = table.groups[ordinal]
    var rows = RowBitmap(liveRowsOf: group)
    if let chosenRows {
      var chosen = rows.cleared
      for row in chosenRows[ordinal] ?? [] where rows.contains(row) { chosen.insert(row) }
      if chosen.isEmpty { return chosen }
      rows = chosen
    }
    for row in hiddenRows[ordinal] ?? [] where row < group.rowCount { rows.remove(row) }
    var tester = tester(ofGroup: ordinal)
    tester.apply(test, to: &rows)
    return rows
  }

  func tester(ofGroup ordinal: Int) -> RowGroupFilter {
    RowGroupFilter(
      table.groups[ordinal],
      ordinal: ordinal,
      entityOrdinal: table.entity.ordinal,
      tables: tables,
      indexUse: indexUse
    )
  }
}

extension Sequence<RowID> {
  /// The rows of each group.
  fileprivate var byGroup: [Int: [Int]] { reduce(into: [:]) { $0[$1.group, default: []].append($1.row) } }
}

// MARK: Plan

extension TableQuery {
  /// Describes how the query is executed.
  package func plan(sortedBy sorts: [CompiledSort], offset: Int = 0, limit: Int? = nil) -> QueryPlan.Step {
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

  /// The test for which an index is used. All records that pass must pass it.
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

  /// Returns the number of records that are left to test after using an index.
  private func candidateCount(_ access: IndexAccess) -> Int {
    table.groups.indices.reduce(0) { count, ordinal in
      var tester = tester(ofGroup: ordinal)
      return count + (tester.find(access, isNeeded: true)?.count ?? table.groups[ordinal].rowCount)
    }
  }

  private func order(_ sorts: [CompiledSort], _ offset: Int, _ limit: Int?) -> String? {
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

// MARK: TableSearch

/// A query of one table with its order, which can be sent to the task that executes it.
package struct TableSearch: Sendable {
  private var query: TableQuery
  private let sorts: [CompiledSort]
  private let offset: Int
  private let limit: Int?

  package init(_ query: TableQuery, sortedBy sorts: [CompiledSort], offset: Int, limit: Int?) {
    self.query = query
    self.sorts = sorts
    self.offset = offset
    self.limit = limit
  }

  /// The number of units of progress.
  package var unitCount: Int { query.table.groups.count }

  /// Returns the rows that pass, sorted.
  package func rows() -> [RowID] {
    query.rows(sortedBy: sorts, offset: offset, limit: limit)
  }

  /// Returns the rows that pass, sorted; or some of them, if `progress` is cancelled.
  package func rows(_ progress: FetchProgress) -> [RowID] {
    var search = self
    search.query.progress = progress
    return search.rows()
  }
}
