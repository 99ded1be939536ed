/// A fetch request that a model holds under a name, with variables to be put in later.
public struct FetchRequestTemplate: Sendable, Hashable {
  /// What a fetch gives. The raw value is how it is written.
  public enum ResultType: String, Sendable, Hashable, CaseIterable, Codable {
    /// The objects that are found.
    case objects
    /// Their ids.
    case objectIDs
    /// Their values by name, without objects.
    case dictionaries
    /// How many there are.
    case count
  }

  /// The name, unique in the model.
  public var name: String
  /// The name of the entity whose objects are fetched.
  public var entityName: String
  /// Which objects are fetched; nil means all. Its ``FetchPredicate/variables`` are to be put in.
  public var predicate: FetchPredicate?
  /// What a fetch gives.
  public var resultType: ResultType
  /// How many objects are fetched at most; 0 means any number.
  public var fetchLimit: Int
  /// How many objects are read at a time; 0 means all.
  public var fetchBatchSize: Int
  /// Whether objects of subentities are fetched too.
  public var includesSubentities: Bool
  /// Whether the values of what is found are read at once.
  public var includesPropertyValues: Bool
  /// Whether unsaved changes count.
  public var includesPendingChanges: Bool
  /// Whether objects are given before their values are read.
  public var returnsObjectsAsFaults: Bool
  /// Whether equal results are given once.
  public var returnsDistinctResults: Bool

  /// A template that is not checked yet: a ``ManagedObjectModel`` does that.
  public init(
    name: String,
    entityName: String,
    predicate: FetchPredicate? = nil,
    resultType: ResultType = .objects,
    fetchLimit: Int = 0,
    fetchBatchSize: Int = 0,
    includesSubentities: Bool = true,
    includesPropertyValues: Bool = true,
    includesPendingChanges: Bool = true,
    returnsObjectsAsFaults: Bool = true,
    returnsDistinctResults: Bool = false
  ) {
    self.name = name
    self.entityName = entityName
    self.predicate = predicate
    self.resultType = resultType
    self.fetchLimit = fetchLimit
    self.fetchBatchSize = fetchBatchSize
    self.includesSubentities = includesSubentities
    self.includesPropertyValues = includesPropertyValues
    self.includesPendingChanges = includesPendingChanges
    self.returnsObjectsAsFaults = returnsObjectsAsFaults
    self.returnsDistinctResults = returnsDistinctResults
  }
}
