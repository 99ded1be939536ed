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

// MARK: FetchedPropertyDescription

/// A property whose objects are found by a fetch and not kept: a weak relationship.
///
/// In its predicate, `$FETCH_SOURCE` stands for the object that has the property, and `$FETCHED_PROPERTY` for this description.
public struct FetchedPropertyDescription: Sendable, Hashable {
  /// The name, unique in the entity.
  public var name: String
  /// What is fetched.
  public var fetchRequest: FetchRequestTemplate
  /// Whether it may be empty. Nothing is checked.
  public var isOptional: Bool
  /// The name that the property had in the version of the model before this one, where it was renamed.
  public var renamingIdentifier: String?
  /// A text that would change the version hash, if fetched properties entered it.
  public var versionHashModifier: String?
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// A fetched property that is not checked yet: a ``ManagedObjectModel`` does that.
  public init(
    name: String,
    fetchRequest: FetchRequestTemplate,
    isOptional: Bool = true,
    renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) {
    self.name = name
    self.fetchRequest = fetchRequest
    self.isOptional = isOptional
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
  }
}
