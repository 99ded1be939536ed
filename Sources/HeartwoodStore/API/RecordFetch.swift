public import HeartwoodModel
import Synchronization

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

// MARK: GroupFetch

/// What is to be made of the records of one entity, in groups: what a ``GroupingStore`` may answer itself.
package struct GroupFetch: Sendable {
  /// Which records count. Its order and its limits do not.
  package let records: RecordFetch
  package let grouping: SelectionPlan.Grouping
  /// Records that do not count, whatever they hold.
  package let excluded: [ReferenceID]
  /// Whether no other records come to the groups. Then groups that do not meet the condition on groups may be left out, and an aggregate
  /// need not tell more than its result.
  package let isComplete: Bool

  package init(
    _ records: RecordFetch,
    by grouping: SelectionPlan.Grouping,
    without excluded: [ReferenceID] = [],
    isComplete: Bool
  ) {
    self.records = records
    self.grouping = grouping
    self.excluded = excluded
    self.isComplete = isComplete
  }
}

/// An incremental store that makes groups of its records without handing these over.
package protocol GroupingStore: IncrementalStore {
  /// The groups, in the order of the first record of each; nil where the store would not make just the same. Where there is nothing to
  /// group by, there may be a group of no records.
  ///
  /// - Parameter scopes: what the ids of records are made with, indexed by entity ordinal.
  func groups(_ fetch: GroupFetch, scopes: [ObjectIDScope]) throws -> [RecordGroup]?

  /// How groups are made, a line each, for people to read; nil as with ``groups(_:scopes:)``.
  func queryPlan(_ fetch: GroupFetch) throws -> [String]?
}

// MARK: FetchProgress

/// How far a fetch has come, and the means to stop it. Foundation's `Progress` is not everywhere; this one can be sent anywhere.
///
/// A unit is a group of some ten thousand records.
public final class FetchProgress: Sendable {
  private let total = Atomic<Int>(0)
  private let completed = Atomic<Int>(0)
  private let isStopped = Atomic<Bool>(false)

  /// The progress of a fetch that has not begun.
  public init() {}

  /// How many units there are to be done, as far as that is known; 0 before the fetch begins.
  public var totalUnitCount: Int { total.load(ordering: .acquiring) }

  /// How many units have been done.
  public var completedUnitCount: Int { completed.load(ordering: .acquiring) }

  /// How much has been done, from 0 to 1.
  public var fractionCompleted: Double {
    let total = totalUnitCount
    return total == 0 ? 0 : Double(completedUnitCount) / Double(total)
  }

  /// Whether the fetch is to stop.
  public var isCancelled: Bool { isStopped.load(ordering: .acquiring) }

  /// Stops the fetch before the next unit; it throws `CancellationError`.
  public func cancel() {
    isStopped.store(true, ordering: .releasing)
  }

  package func begin(_ unitCount: Int) {
    total.add(unitCount, ordering: .acquiringAndReleasing)
  }

  func advance() {
    completed.add(1, ordering: .acquiringAndReleasing)
  }
}
