package import HeartwoodModel

/// A fetch from one table: a condition, an order, and how many rows are wanted.
package struct TableQuery: Sendable {
  let tables: QueryTables
  let table: NodeTable
  let test: ColumnTest
  /// Rows that do not pass whatever they hold, by group.
  private let hiddenRows: [Int: [Int]]
  /// The rows that pass, by group, where that is known beforehand.
  private let chosenRows: [Int: [Int]]?
  let indexUse: IndexUse
  let planner: IndexPlanner
  /// Who is told how far it has come.
  var progress: FetchProgress?

  /// - Parameters:
  ///   - predicate: nil lets all records pass.
  ///   - hiddenRows: rows that do not pass whatever they hold.
  package init(
    _ tables: QueryTables,
    _ table: NodeTable,
    where predicate: PlanPredicate?,
    without hiddenRows: Set<RowID> = [],
    indexUse: IndexUse = .automatic
  ) {
    self.init(tables, table, where: predicate, hidden: hiddenRows.byGroup, chosen: nil, indexUse)
  }

  /// - Parameter rows: those of which some may pass; each is tested.
  package init(_ tables: QueryTables, _ table: NodeTable, where predicate: PlanPredicate?, among rows: [RowID]) {
    self.init(tables, table, where: predicate, hidden: [:], chosen: rows.byGroup, .never)
  }

  /// The records of `rows`, which somebody else has found.
  package init(_ tables: QueryTables, _ table: NodeTable, rows: [RowID]) {
    self.init(tables, table, where: nil, among: rows)
  }

  private init(
    _ tables: QueryTables,
    _ table: NodeTable,
    where predicate: PlanPredicate?,
    hidden: [Int: [Int]],
    chosen: [Int: [Int]]?,
    _ indexUse: IndexUse
  ) {
    self.indexUse = indexUse
    self.tables = tables
    self.table = table
    hiddenRows = hidden
    chosenRows = chosen
    let builder = ColumnTestBuilder(tables: tables, table: table)
    let terms = (predicate?.conjuncts ?? []).map { IndexPlanner.Term(plan: $0, test: builder.test($0)) }
    planner = IndexPlanner(indexUse == .never ? [] : table.entity.fetchIndexPlans, terms, builder)
    test = planner.test
  }
}

extension TableQuery {
  /// The ordinal of the entity whose records are searched.
  package var entityOrdinal: Int { table.entity.ordinal }

  /// How many records pass.
  package func count() -> Int {
    if case .literal(let flag) = test, chosenRows == nil, !flag || hiddenRows.isEmpty { return flag ? table.count : 0 }
    return perGroup { _, rows in rows.count }.reduce(0, +)
  }

  /// The rows that pass, from the first on.
  package func rows() -> [RowID] {
    perGroup { ordinal, rows in
      var ids: [RowID] = []
      ids.reserveCapacity(rows.count)
      rows.forEach { ids.append(RowID(group: ordinal, row: $0)) }
      return ids
    }.flatMap(\.self)
  }

  /// The rows that pass, sorted; those that the order leaves alike are in the order of the table's records, and so are all without one.
  ///
  /// - Parameters:
  ///   - offset: how many of the first are left out.
  ///   - limit: how many there are at most; nil means all. A small number makes the sort much cheaper.
  package func rows(sortedBy sorts: [SortPlan], offset: Int = 0, limit: Int? = nil) -> [RowID] {
    let wanted = RecordFetch.limit(limit, behind: offset)
    guard let sort = RowSort(sorts, tables, table) else {
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

  /// What `body` makes of the rows that pass in each group; on all processors where there are several groups.
  private func perGroup<Result: Sendable>(_ body: @Sendable (_ ordinal: Int, RowBitmap) -> Result) -> [Result] {
    Parallel.map(table.groups.count) { ordinal in
      if progress?.isCancelled == true { return body(ordinal, RowBitmap(liveRowsOf: table.groups[ordinal]).cleared) }
      defer { progress?.advance() }
      return body(ordinal, passing(inGroup: ordinal))
    }
  }

  /// The rows of a group that pass.
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

  func tester(ofGroup ordinal: Int) -> GroupTester {
    GroupTester(
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
