public import HeartwoodModel

/// What is to be found among the records of one entity: what an incremental store may answer itself.
public struct RecordFetch: Sendable {
  /// The entity whose own records are to be found; those of subentities have fetches of their own.
  public let entity: EntityDescription
  /// Which records to find; nil means all. What it says of other records counts as they are stored.
  public let predicate: FetchPredicate?
  /// By what the records are sorted. Those that it leaves alike are in the store's order, and so are all without any: in that of their
  /// references, where these are numbers.
  public let sortDescriptors: [FetchSortDescriptor]
  /// How many of the first are left out.
  public package(set) var offset: Int
  /// How many there are at most; nil means any number.
  public package(set) var limit: Int?
  /// The predicate, checked against the entity.
  package let plan: PlanPredicate?
  /// The sort descriptors, checked against the entity.
  package let sorts: [SortPlan]

  package init(
    entity: EntityDescription,
    predicate: FetchPredicate?,
    sortDescriptors: [FetchSortDescriptor],
    plan: PlanPredicate?,
    sorts: [SortPlan],
    offset: Int = 0,
    limit: Int? = nil
  ) {
    self.entity = entity
    self.predicate = predicate
    self.sortDescriptors = sortDescriptors
    self.plan = plan
    self.sorts = sorts
    self.offset = offset
    self.limit = limit
  }
}

extension RecordFetch {
  /// The same for other places of what is found.
  package func limited(offset: Int, limit: Int?) -> RecordFetch {
    var fetch = self
    fetch.offset = offset
    fetch.limit = limit
    return fetch
  }

  /// How many of the first must be found, so that `limit` are left behind `offset` whichever of `others` come among them; nil means all.
  package static func limit(_ limit: Int?, behind offset: Int, among others: Int = 0) -> Int? {
    limit.map { limit in
      [offset, others].reduce(limit) { sum, more in
        let (sum, overflow) = sum.addingReportingOverflow(more)
        return overflow ? .max : sum
      }
    }
  }

  /// All records of the entity that meet another condition, in another order.
  package func part(where plan: PlanPredicate?, sortedBy sorts: [SortPlan]) -> RecordFetch {
    RecordFetch(entity: entity, predicate: nil, sortDescriptors: [], plan: plan, sorts: sorts)
  }
}

/// What a store has found.
package struct FoundRecords: Sendable {
  /// The rows, in the order of the fetch.
  package let rows: [RowID]
  /// The records that have been read so far, with those that were found.
  package let table: NodeTable

  package init(rows: [RowID], table: NodeTable) {
    self.rows = rows
    self.table = table
  }
}
