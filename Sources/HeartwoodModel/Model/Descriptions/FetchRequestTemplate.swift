/// A fetch request that a model keeps under a name. Its variables get their values when it is used.
public struct FetchRequestTemplate: Sendable, Hashable {
  /// What a fetch returns. The raw value is the spelling in files.
  public enum ResultType: String, Sendable, Hashable, CaseIterable, Codable {
    /// The matching objects.
    case objects
    /// The ids of the matching objects.
    case objectIDs
    /// The values of the matching objects by property name, without objects.
    case dictionaries
    /// The number of matching objects.
    case count
  }

  /// The name, unique in the model.
  public var name: String
  /// The name of the entity whose objects are fetched.
  public var entityName: String
  /// The condition that fetched objects meet; nil means all objects. Its ``FetchPredicate/variables`` get their values
  /// when the template is used.
  public var predicate: FetchPredicate?
  /// What a fetch returns.
  public var resultType: ResultType
  /// The greatest number of fetched objects; 0 means no limit.
  public var fetchLimit: Int
  /// The number of objects that are read at a time; 0 means all.
  public var fetchBatchSize: Int
  /// Whether objects of subentities are fetched, too.
  public var includesSubentities: Bool
  /// Whether the values of the fetched objects are read at once.
  public var includesPropertyValues: Bool
  /// Whether the fetch takes unsaved changes into account.
  public var includesPendingChanges: Bool
  /// Whether objects are returned before their values are read.
  public var returnsObjectsAsFaults: Bool
  /// Whether equal results are returned once.
  public var returnsDistinctResults: Bool

  /// Makes a template without validating it; a ``ManagedObjectModel`` reports its faults.
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

/// A property whose objects come from a fetch and are not kept: a weak relationship.
///
/// In its predicate, `$FETCH_SOURCE` is the object that has the property, and `$FETCHED_PROPERTY` is this description.
public struct FetchedPropertyDescription: Sendable, Hashable {
  /// The name, unique in the entity.
  public var name: String
  /// The request that finds the objects.
  public var fetchRequest: FetchRequestTemplate
  /// Whether the property may be empty. No check uses it.
  public var isOptional: Bool
  /// The name of the property in the previous version of the model, if it was renamed.
  public var renamingIdentifier: String?
  /// A text that would change the version hash if fetched properties were part of it.
  public var versionHashModifier: String?
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// Makes a description without validating it; a ``ManagedObjectModel`` reports its faults.
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
