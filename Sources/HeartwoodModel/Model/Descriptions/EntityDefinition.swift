/// An entity as a model declares it: its own properties, and its parent by name.
///
///     let toDo = EntityDefinition.entity(
///       "ToDo",
///       parent: "Note",
///       unique: [["number"]],
///       .attribute("number", .integer64),
///       .attribute("due", .date, optional: true),
///       .toOne("list", "List", inverse: "items")
///     )
///
/// A definition is not validated: names may refer to entities that do not exist. A ``ManagedObjectModel`` validates all
/// definitions together and makes an ``EntityDescription`` of each, in which the names are resolved.
public struct EntityDefinition: Sendable, Hashable {
  /// The name, unique in the model.
  public var name: String
  /// The Swift class of the entity's objects; nil if the model names none.
  public var managedObjectClassName: String?
  /// Whether objects belong to subentities only, and never to this entity itself.
  public var isAbstract: Bool
  /// The name of the entity whose properties this one inherits.
  public var superentityName: String?
  /// The properties that the entity adds to the inherited ones, in the order in which stores list them.
  public var properties: [PropertyDescription]
  /// Groups of attribute names. No two objects may have the same values in all attributes of a group.
  public var uniquenessConstraints: [[String]]
  /// Whether uniqueness constraints may name relationships and transient attributes, as models made by other tools do.
  /// Such constraints are kept because they are part of the version hash, but no store enforces them.
  public var hasUnenforcedConstraints: Bool
  /// The properties whose objects come from a fetch. They are separate from ``properties``, which stores keep.
  public var fetchedProperties: [FetchedPropertyDescription]
  /// The indexes by which fetches find objects faster.
  public var fetchIndexes: [FetchIndexDescription]
  /// The composite attributes, each a group of attributes in ``properties``.
  public var compositeAttributes: [CompositeAttributeDescription]
  /// The name of the entity in the previous version of the model, if it was renamed.
  public var renamingIdentifier: String?
  /// A text that changes the version hash, for a change that is not visible in the definition.
  public var versionHashModifier: String?
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// Makes a definition without validating it; a ``ManagedObjectModel`` reports its faults.
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
  /// Makes a definition in the short form for models written in code. Nothing is validated here.
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
