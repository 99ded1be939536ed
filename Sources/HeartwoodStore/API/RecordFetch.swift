public import HeartwoodModel
import Synchronization

/// A fetch of the records of one entity that an incremental store can answer itself.
///
/// A fetch has its predicate and its sort descriptors in two forms: as the caller wrote them, and compiled against the
/// entity. The compiled form is easier to translate: keys are ordinals, constants are computed, and the types of both
/// sides match.
///
///     func fetch(_ fetch: RecordFetch) throws -> [ReferenceID]? {
///       guard case .comparison(let comparison)? = fetch.compiledPredicate,
///         comparison.comparator == .equalTo, comparison.options.isEmpty,
///         let property = comparison.left.ownProperty, let constant = comparison.right.constant
///       else { return nil }
///       return try index(of: fetch.entity, property.ordinal).references(of: constant.scalar)
///     }
public struct RecordFetch: Sendable {
  /// The entity whose own records are to be found. Records of subentities have fetches of their own.
  public let entity: EntityDescription
  /// The condition that records must meet; nil if all records are to be found. Conditions on related records refer to
  /// these records as they are stored.
  public let predicate: FetchPredicate?
  /// The order of the records. Records that are equal in it are in the store's order: that of their references if these
  /// are numbers. Without descriptors, all records are in the store's order.
  public let sortDescriptors: [FetchSortDescriptor]
  /// The number of records to skip at the beginning.
  public package(set) var offset: Int
  /// The greatest number of records to return; nil means no limit.
  public package(set) var limit: Int?
  /// The predicate, compiled against the entity; nil if all records are to be found.
  public let compiledPredicate: CompiledPredicate?
  /// The sort descriptors, compiled against the entity.
  public let compiledSorts: [CompiledSort]
  /// The progress of the fetch, if the caller may cancel it; otherwise nil. A store that searches for long should end
  /// the search with any error when ``FetchProgress/isCancelled`` becomes true: the caller receives
  /// `CancellationError`.
  public package(set) var progress: FetchProgress?

  /// Creates a fetch, and compiles its predicate and its sort descriptors.
  ///
  /// - Throws: ``FetchPredicateError`` if the predicate or a sort descriptor does not fit the entity.
  public init(
    entity: EntityDescription,
    predicate: FetchPredicate? = nil,
    sortDescriptors: [FetchSortDescriptor] = [],
    offset: Int = 0,
    limit: Int? = nil,
    in model: ManagedObjectModel
  ) throws(FetchPredicateError) {
    self.entity = entity
    self.predicate = predicate
    self.sortDescriptors = sortDescriptors
    self.offset = offset
    self.limit = limit
    compiledPredicate = try predicate.map { predicate throws(FetchPredicateError) in
      try CompiledPredicate(predicate, for: entity, in: model)
    }
    compiledSorts = try sortDescriptors.map { sort throws(FetchPredicateError) in
      try CompiledSort(sort, for: entity, in: model)
    }
  }

  package init(
    entity: EntityDescription,
    predicate: FetchPredicate?,
    sortDescriptors: [FetchSortDescriptor],
    compiledPredicate: CompiledPredicate?,
    compiledSorts: [CompiledSort],
    offset: Int = 0,
    limit: Int? = nil
  ) {
    self.entity = entity
    self.predicate = predicate
    self.sortDescriptors = sortDescriptors
    self.compiledPredicate = compiledPredicate
    self.compiledSorts = compiledSorts
    self.offset = offset
    self.limit = limit
  }
}

extension RecordFetch {
  /// Returns the same fetch with another offset and limit.
  package func limited(offset: Int, limit: Int?) -> RecordFetch {
    var fetch = self
    fetch.offset = offset
    fetch.limit = limit
    return fetch
  }

  /// Returns how many records must be found so that `limit` of them remain after `offset`, wherever `others` are among
  /// them; nil means all.
  package static func limit(_ limit: Int?, behind offset: Int, among others: Int = 0) -> Int? {
    limit.map { limit in
      [offset, others].reduce(limit) { sum, more in
        let (sum, overflow) = sum.addingReportingOverflow(more)
        return overflow ? .max : sum
      }
    }
  }

  /// Fetches for each of the conditions that must all be met. They have no order and no limits.
  var conjuncts: [RecordFetch] {
    // Compiling keeps the shape of a predicate, so that both forms have the same conditions.
    zip(predicate?.conjuncts ?? [], compiledPredicate?.conjuncts ?? []).map { part(where: $0, $1) }
  }

  /// A fetch of all records in the order of this one.
  var ofAllInOrder: RecordFetch { part(where: nil, nil, isSorted: true) }

  /// A fetch of all records that meet the conditions of `parts`, in the order of this one or in none.
  func part(of parts: [RecordFetch], isSorted: Bool) -> RecordFetch {
    part(
      where: .and(parts.compactMap(\.predicate)),
      .and(parts.compactMap(\.compiledPredicate)),
      isSorted: isSorted
    )
  }

  private func part(
    where predicate: FetchPredicate?,
    _ compiled: CompiledPredicate?,
    isSorted: Bool = false
  ) -> RecordFetch {
    var part = RecordFetch(
      entity: entity,
      predicate: predicate,
      sortDescriptors: isSorted ? sortDescriptors : [],
      compiledPredicate: compiled,
      compiledSorts: isSorted ? compiledSorts : []
    )
    part.progress = progress
    return part
  }
}

/// The records that a store has found.
package struct FoundRecords: Sendable {
  /// The rows, in the order of the fetch.
  package let rows: [RowID]
  /// The records that have been read so far, including those that were found.
  package let table: NodeTable

  package init(rows: [RowID], table: NodeTable) {
    self.rows = rows
    self.table = table
  }
}

// MARK: GroupFetch

/// Groups of the records of one entity, each with its aggregates, that an incremental store can make itself.
public struct GroupFetch: Sendable {
  /// The records to be grouped. Ignore the order and the limits of this fetch.
  public let records: RecordFetch
  /// The keys by which records are grouped, the aggregates of each group, and the condition on groups.
  public let grouping: CompiledGrouping
  /// Records to be left out, whatever they contain: the caller has newer values of them.
  public let excluded: [ReferenceID]
  /// Whether the store's groups are the final result. If true, groups that do not meet the condition may be left out,
  /// and an aggregate need contain only its result. If false, the groups of other records are merged with them, and
  /// each aggregate must be one that can be merged.
  public let isComplete: Bool
  /// The scopes of object ids, by entity ordinal. The engine of the store sets them.
  var scopes: [ObjectIDScope] = []

  package init(
    _ records: RecordFetch,
    by grouping: CompiledGrouping,
    without excluded: [ReferenceID] = [],
    isComplete: Bool
  ) {
    self.records = records
    self.grouping = grouping
    self.excluded = excluded
    self.isComplete = isComplete
  }

  /// Returns the id of a record of the store, for groups whose key is a to-one relationship. O(1).
  ///
  /// - Parameter entity: the entity of the record itself, not one that it inherits from.
  public func objectID(_ reference: ReferenceID, of entity: EntityDescription) -> ManagedObjectID {
    let scope =
      scopes.indices.contains(entity.ordinal)
      ? scopes[entity.ordinal] : ObjectIDScope(storeIdentifier: nil, entity: entity)
    return ManagedObjectID(scope: scope, reference: reference)
  }

  /// Returns the same fetch for a store whose records have these scopes.
  package func scoped(_ scopes: [ObjectIDScope]) -> GroupFetch {
    var fetch = self
    fetch.scopes = scopes
    return fetch
  }
}

// MARK: FetchProgress

/// The progress of a fetch, and the means to cancel it. Foundation's `Progress` does not exist on all platforms; this
/// class is `Sendable`.
///
/// A unit is a group of some ten thousand records.
public final class FetchProgress: Sendable {
  private let total = Atomic<Int>(0)
  private let completed = Atomic<Int>(0)
  private let isStopped = Atomic<Bool>(false)

  /// Creates the progress of a fetch that has not begun.
  public init() {}

  /// The number of units of work, as far as it is known; 0 before the fetch begins.
  public var totalUnitCount: Int { total.load(ordering: .acquiring) }

  /// The number of units that are done.
  public var completedUnitCount: Int { completed.load(ordering: .acquiring) }

  /// The fraction of the work that is done, from 0 to 1.
  public var fractionCompleted: Double {
    let total = totalUnitCount
    return total == 0 ? 0 : Double(completedUnitCount) / Double(total)
  }

  /// Whether ``cancel()`` has been called.
  public var isCancelled: Bool { isStopped.load(ordering: .acquiring) }

  /// Cancels the fetch before its next unit. The fetch then throws `CancellationError`.
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
