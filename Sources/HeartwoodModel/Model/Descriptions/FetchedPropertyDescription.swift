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
