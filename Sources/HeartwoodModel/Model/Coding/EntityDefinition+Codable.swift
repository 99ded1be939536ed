extension EntityDefinition: Codable {
  private enum Key: String, CodingKey {
    case name
    case className = "class"
    case abstract, parent, properties, unique, unenforcedConstraints, fetchedProperties, indexes, composites,
      renamingIdentifier,
      versionHashModifier, userInfo
  }

  /// Writes the entity as `Formats/Model/README.md` says.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encodeIfPresent(managedObjectClassName, forKey: .className)
    try container.encodeIfSet(isAbstract, forKey: .abstract)
    try container.encodeIfPresent(superentityName, forKey: .parent)
    try container.encodeIfNotEmpty(properties, forKey: .properties)
    try container.encodeIfNotEmpty(uniquenessConstraints, forKey: .unique)
    try container.encodeIfSet(hasUnenforcedConstraints, forKey: .unenforcedConstraints)
    try container.encodeIfNotEmpty(fetchedProperties, forKey: .fetchedProperties)
    try container.encodeIfNotEmpty(fetchIndexes, forKey: .indexes)
    try container.encodeIfNotEmpty(compositeAttributes, forKey: .composites)
    try container.encodeIfPresent(renamingIdentifier, forKey: .renamingIdentifier)
    try container.encodeIfPresent(versionHashModifier, forKey: .versionHashModifier)
    try container.encodeIfNotEmpty(userInfo, forKey: .userInfo)
  }

  /// Reads an entity as `Formats/Model/README.md` says. What names refer to is checked by a ``ManagedObjectModel``.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      managedObjectClassName: try container.text(forKey: .className),
      isAbstract: try container.flag(forKey: .abstract),
      superentityName: try container.text(forKey: .parent),
      properties: try container.list(of: PropertyDescription.self, forKey: .properties),
      uniquenessConstraints: try container.list(of: [String].self, forKey: .unique),
      hasUnenforcedConstraints: try container.flag(forKey: .unenforcedConstraints),
      fetchedProperties: try container.list(of: FetchedPropertyDescription.self, forKey: .fetchedProperties),
      fetchIndexes: try container.list(of: FetchIndexDescription.self, forKey: .indexes),
      compositeAttributes: try container.list(of: CompositeAttributeDescription.self, forKey: .composites),
      renamingIdentifier: try container.text(forKey: .renamingIdentifier),
      versionHashModifier: try container.text(forKey: .versionHashModifier),
      userInfo: try container.userInfo(forKey: .userInfo)
    )
  }
}
