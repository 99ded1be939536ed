/// An entity as the author of a model writes it down: its own properties, and its parent by name.
///
/// A ``ManagedObjectModel`` checks the definitions and makes an ``EntityDescription`` of each, in which the names are resolved.
public struct EntityDefinition: Sendable, Hashable {
  /// The name, unique in the model.
  public var name: String
  /// The Swift class of the entity's objects, where the model names one.
  public var managedObjectClassName: String?
  /// Whether there are no objects of this entity itself, but only of its subentities.
  public var isAbstract: Bool
  /// The name of the entity whose properties this one inherits.
  public var superentityName: String?
  /// The properties that the entity adds to those it inherits, in the order in which stores list them.
  public var properties: [PropertyDescription]
  /// Groups of attribute names; no two objects have the same values in all attributes of a group.
  public var uniquenessConstraints: [[String]]
  /// Whether uniqueness constraints may name relationships and transient attributes, as models from elsewhere do. They are kept, since they
  /// are part of the version hash, and no store enforces them.
  public var hasUnenforcedConstraints: Bool
  /// The properties whose objects are fetched, beside ``properties``, which stores keep.
  public var fetchedProperties: [FetchedPropertyDescription]
  /// By which values objects shall be found fast.
  public var fetchIndexes: [FetchIndexDescription]
  /// Which of the ``properties`` belong together.
  public var compositeAttributes: [CompositeAttributeDescription]
  /// The name that the entity had in the version of the model before this one, where it was renamed.
  public var renamingIdentifier: String?
  /// A text that changes the version hash, for a change that the description does not show.
  public var versionHashModifier: String?
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// An entity that is not checked yet: a ``ManagedObjectModel`` does that.
  public init(
    name: String,
    managedObjectClassName: String? = nil,
    isAbstract: Bool = false,
    superentityName: String? = nil,
    properties: [PropertyDescription] = [],
    uniquenessConstraints: [[String]] = [],
    hasUnenforcedConstraints: Bool = false,
    fetchedProperties: [FetchedPropertyDescription] = [],
    fetchIndexes: [FetchIndexDescription] = [],
    compositeAttributes: [CompositeAttributeDescription] = [],
    renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) {
    self.name = name
    self.managedObjectClassName = managedObjectClassName
    self.isAbstract = isAbstract
    self.superentityName = superentityName
    self.properties = properties
    self.uniquenessConstraints = uniquenessConstraints
    self.hasUnenforcedConstraints = hasUnenforcedConstraints
    self.fetchedProperties = fetchedProperties
    self.fetchIndexes = fetchIndexes
    self.compositeAttributes = compositeAttributes
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
  }
}

extension EntityDefinition {
  /// An entity, in the short form for models written in code.
  public static func entity(
    _ name: String,
    parent superentityName: String? = nil,
    abstract isAbstract: Bool = false,
    unique uniquenessConstraints: [[String]] = [],
    renamedFrom renamingIdentifier: String? = nil,
    userInfo: [String: String] = [:],
    _ properties: PropertyDescription...
  ) -> EntityDefinition {
    EntityDefinition(
      name: name,
      isAbstract: isAbstract,
      superentityName: superentityName,
      properties: properties,
      uniquenessConstraints: uniquenessConstraints,
      renamingIdentifier: renamingIdentifier,
      userInfo: userInfo
    )
  }
}
