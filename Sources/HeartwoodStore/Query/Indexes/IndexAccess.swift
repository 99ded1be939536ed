import HeartwoodModel

/// How a query finds rows by an index.
struct IndexAccess: Sendable {
  let plan: FetchIndexPlan
  /// What the first properties of the index have to be, each tested in one way or more: all but the last one have single values.
  let tests: [[ColumnTest]]
  /// What tells whether a row is in the index.
  let membership: ColumnTest
  /// How many properties of the index it is about: those that are tested, and those that rows are then to be in the order of.
  let elementCount: Int

  /// Whether the order of the first property alone is all that is needed.
  var needsOneColumn: Bool { elementCount == 1 && plan.conditions.isEmpty }
}

/// What an index has found in a group: places in an order of rows.
struct IndexFinding {
  let rows: [UInt16]
  let places: [Range<Int>]
  /// The order, where it is that of several properties or of some rows.
  let indexed: CompoundOrder?

  var count: Int { places.reduce(0) { $0 + $1.count } }
}

extension GroupTester {
  /// The rows that an index finds; nil where it has not been made, or would take too long to look into.
  mutating func find(_ access: IndexAccess, isNeeded: Bool) -> IndexFinding? {
    let column = group.columns[access.plan.elements[0].ordinal]
    if access.needsOneColumn {
      guard let order = column.order.rows(of: column, isNeeded: isNeeded),
        let places = access.tests.isEmpty
          ? [order.rows.indices] : places(access.tests[0], access.plan.elements[0].ordinal, order)
      else { return nil }
      return IndexFinding(rows: order.rows, places: places, indexed: nil)
    }
    let indexed = column.order.rows(of: access.plan, in: group, isNeeded: isNeeded) {
      // Other versions of the table share the index: a record that was deleted in this one may be there in them.
      var members = RowBitmap(allRowsOf: group)
      apply(access.membership, to: &members)
      return members
    }
    guard let indexed else { return nil }
    var ranges: [[Range<Int>]] = []
    for (element, tests) in zip(access.plan.elements, access.tests) {
      let column = group.columns[element.ordinal]
      guard let order = column.order.rows(of: column, isNeeded: true),
        let places = places(tests, element.ordinal, order)
      else { return nil }
      ranges.append(places)
    }
    return indexed.places(ranges).map { IndexFinding(rows: indexed.rows, places: $0, indexed: indexed) }
  }

  /// The places in the order of a column of the rows that pass all of `tests`.
  private func places(_ tests: [ColumnTest], _ ordinal: Int, _ order: OrderedRows) -> [Range<Int>]? {
    var found: [Range<Int>]?
    for test in tests {
      guard let places = test.places(in: order, group.columns[ordinal], group.unsafeViews[ordinal]) else { return nil }
      found = found.map { found in found.flatMap { one in places.map { $0.clamped(to: one) } } } ?? places
    }
    return found?.filter { !$0.isEmpty }
  }
}
