public import HeartwoodModel
public import HeartwoodStore

/// What is to be fetched: the objects of which entity, under which condition, in which order, and how many.
///
/// It is a value that belongs to no context; it may be kept, changed and sent.
public struct FetchRequest<Object: ManagedObject>: Sendable {
  /// The name of the entity.
  public var entityName: String
  /// Which objects to give; nil means all.
  public var predicate: FetchPredicate?
  /// By what the objects are sorted: first by the first, those that it leaves alike by the second, and so on. Without any they are in
  /// the stores' order, new objects last.
  public var sortDescriptors: [FetchSortDescriptor]
  /// How many of the first objects are left out.
  public var fetchOffset: Int
  /// How many objects there are at most; nil means any number.
  public var fetchLimit: Int?
  /// Whether objects of subentities are given too.
  public var includesSubentities = true
  /// Whether the context's unsaved changes count. Without them objects are found by what the stores have, new ones not at all, and
  /// deleted ones still are.
  public var includesPendingChanges = true
  /// The stores to fetch from; nil means all that keep the entity. New objects are found in any case. One that was converted stands for
  /// what it was converted to; one that is not open any more is an error, ``PersistenceError/Code/storeNotOpen``.
  public var affectedStores: [PersistentStore]?
  /// Whether the values of the objects are read when they are asked for. Otherwise they are with the fetch.
  public var returnsObjectsAsFaults = true
  /// Whether objects that had been read before take the newest values of their records, with their own changes on top.
  public var refreshesRefetchedObjects = false
  /// Relationships that will be followed, as key paths: the records at their ends are read with the fetch, all of a step together. All
  /// records of atomic stores are in memory; there it makes sure of them, so that a damaged file is told of then.
  public var relationshipKeyPathsForPrefetching: [String] = []
  /// The columns that `fetchRows` gives; see there. Without any they are what the rows are grouped by, or all attributes.
  public var propertiesToFetch: [ExpressionDescription] = []
  /// What records have in common that make one row of `fetchRows`.
  public var propertiesToGroupBy: [ExpressionDescription] = []
  /// Which groups `fetchRows` gives: a condition on what they are grouped by and on aggregates, in which `$name` stands for a column.
  public var havingPredicate: FetchPredicate?
  /// Whether `fetchRows` gives rows that are the same but once.
  public var returnsDistinctResults = false

  /// A request for objects of the entity of the class `Object`.
  public init(
    where predicate: FetchPredicate? = nil,
    sortedBy sortDescriptors: [FetchSortDescriptor] = [],
    offset: Int = 0,
    limit: Int? = nil
  ) {
    self.init(
      entityName: Object.entityName,
      where: predicate,
      sortedBy: sortDescriptors,
      offset: offset,
      limit: limit
    )
  }

  /// A request for objects of the entity called `entityName`, whose class is `Object` or inherits from it.
  public init(
    entityName: String,
    where predicate: FetchPredicate? = nil,
    sortedBy sortDescriptors: [FetchSortDescriptor] = [],
    offset: Int = 0,
    limit: Int? = nil
  ) {
    self.entityName = entityName
    self.predicate = predicate
    self.sortDescriptors = sortDescriptors
    self.fetchOffset = offset
    self.fetchLimit = limit
  }
}

extension FetchRequest {
  /// Whether it asks for rows of values: columns, groups, or rows that are not the same.
  package var asksForRows: Bool {
    !propertiesToFetch.isEmpty || !propertiesToGroupBy.isEmpty || havingPredicate != nil || returnsDistinctResults
  }
}
