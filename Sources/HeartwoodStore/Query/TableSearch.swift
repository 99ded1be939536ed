package import HeartwoodModel

/// A query of one table with its order, which can be sent to where it is to be done.
package struct TableSearch: Sendable {
  private var query: TableQuery
  private let sorts: [SortPlan]
  private let offset: Int
  private let limit: Int?

  package init(_ query: TableQuery, sortedBy sorts: [SortPlan], offset: Int, limit: Int?) {
    self.query = query
    self.sorts = sorts
    self.offset = offset
    self.limit = limit
  }

  /// How many units of progress there are.
  package var unitCount: Int { query.table.groups.count }

  /// The rows that pass, sorted.
  package func rows() -> [RowID] {
    query.rows(sortedBy: sorts, offset: offset, limit: limit)
  }

  /// The rows that pass, sorted; or some of them, where `progress` is cancelled.
  package func rows(_ progress: FetchProgress) -> [RowID] {
    var search = self
    search.query.progress = progress
    return search.rows()
  }
}
