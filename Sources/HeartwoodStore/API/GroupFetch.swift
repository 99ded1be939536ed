package import HeartwoodModel

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
