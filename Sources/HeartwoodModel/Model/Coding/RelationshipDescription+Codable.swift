extension RelationshipDescription: Codable {
  private enum Key: String, CodingKey {
    case name, destination, inverse, oneSided, toMany, ordered, optional, transient, deleteRule, minCount, maxCount
    case renamingIdentifier, versionHashModifier, userInfo
  }

  /// Writes the relationship as `Formats/Model/README.md` says.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encode(destinationEntityName, forKey: .destination)
    try container.encodeIfPresent(inverseRelationshipName, forKey: .inverse)
    try container.encodeIfSet(hasOneSidedInverse, forKey: .oneSided)
    try container.encodeIfSet(isToMany, forKey: .toMany)
    try container.encodeIfSet(isOrdered, forKey: .ordered)
    try container.encodeIfSet(isOptional, forKey: .optional)
    try container.encodeIfSet(isTransient, forKey: .transient)
    try container.encode(deleteRule, unless: .nullify, forKey: .deleteRule)
    try container.encode(minCount, unless: 0, forKey: .minCount)
    try container.encode(maxCount, unless: isToMany ? 0 : 1, forKey: .maxCount)
    try container.encodeIfPresent(renamingIdentifier, forKey: .renamingIdentifier)
    try container.encodeIfPresent(versionHashModifier, forKey: .versionHashModifier)
    try container.encodeIfNotEmpty(userInfo, forKey: .userInfo)
  }

  /// Reads a relationship as `Formats/Model/README.md` says.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      destinationEntityName: try container.decode(String.self, forKey: .destination),
      inverseRelationshipName: try container.text(forKey: .inverse),
      hasOneSidedInverse: try container.flag(forKey: .oneSided),
      isToMany: try container.flag(forKey: .toMany),
      isOrdered: try container.flag(forKey: .ordered),
      isOptional: try container.flag(forKey: .optional),
      isTransient: try container.flag(forKey: .transient),
      deleteRule: try container.decodeIfPresent(DeleteRule.self, forKey: .deleteRule) ?? .nullify,
      minCount: try container.decodeIfPresent(Int.self, forKey: .minCount) ?? 0,
      maxCount: try container.decodeIfPresent(Int.self, forKey: .maxCount),
      renamingIdentifier: try container.text(forKey: .renamingIdentifier),
      versionHashModifier: try container.text(forKey: .versionHashModifier),
      userInfo: try container.userInfo(forKey: .userInfo)
    )
  }
}
