package import HeartwoodModel

/// A fetch from one table: a condition, an order, and how many rows are wanted.
package struct TableQuery: Sendable {
  let tables: QueryTables
  let table: NodeTable
  let test: ColumnTest

  /// - Parameter predicate: nil lets all records pass.
  package init(_ tables: QueryTables, _ table: NodeTable, where predicate: PlanPredicate?) {
    self.tables = tables
    self.table = table
    self.test = predicate.map { ColumnTestBuilder(tables: tables, table: table).test($0) } ?? .literal(true)
  }
}

extension TableQuery {
  /// How many records pass.
  package func count() -> Int {
    if case .literal(let flag) = test { return flag ? table.count : 0 }
    return perGroup { _, rows in rows.count }.reduce(0, +)
  }

  /// The rows that pass, in the order of the table.
  package func rows() -> [RowID] {
    perGroup { ordinal, rows in
      var ids: [RowID] = []
      ids.reserveCapacity(rows.count)
      rows.forEach { ids.append(RowID(group: ordinal, row: $0)) }
      return ids
    }.flatMap(\.self)
  }

  /// The rows that pass, sorted; those that the order leaves alike are in the order of the table.
  ///
  /// - Parameters:
  ///   - offset: how many of the first are left out.
  ///   - limit: how many there are at most; nil means all. A small number makes the sort much cheaper.
  package func rows(sortedBy sorts: [SortPlan], offset: Int = 0, limit: Int? = nil) -> [RowID] {
    let wanted = limit.map { offset.addingReportingOverflow($0) }.map { $0.overflow ? Int.max : $0.partialValue }
    guard let sort = RowSort(sorts, tables, table) else {
      return Array(rows().dropFirst(offset).prefix(limit ?? .max))
    }
    let sorted: [RowID]
    if let wanted, wanted <= RowSort.largestSelection {
      sorted = sort.first(wanted, of: perGroup { ordinal, rows in sort.first(wanted, of: rows, inGroup: ordinal) })
    } else {
      sorted = sort.sorted(perGroup { ordinal, rows in sort.keys(of: rows, inGroup: ordinal) })
    }
    return Array(sorted.dropFirst(offset).prefix(limit ?? .max))
  }

  /// What `body` makes of the rows that pass in each group; on all processors where there are several groups.
  private func perGroup<Result: Sendable>(_ body: @Sendable (_ ordinal: Int, RowBitmap) -> Result) -> [Result] {
    Parallel.map(table.groups.count) { ordinal in
      let group = table.groups[ordinal]
      var rows = RowBitmap(liveRowsOf: group)
      var tester = GroupTester(group, ordinal: ordinal, entityOrdinal: table.entity.ordinal, tables: tables)
      tester.apply(test, to: &rows)
      return body(ordinal, rows)
    }
  }
}
