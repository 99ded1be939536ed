extension FetchedPropertyDescription: Codable {
  private enum Key: String, CodingKey {
    case name, request, optional, renamingIdentifier, versionHashModifier, userInfo
  }

  /// Writes the fetched property as `Formats/Model/README.md` says.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encode(fetchRequest, forKey: .request)
    try container.encodeIfSet(isOptional, forKey: .optional)
    try container.encodeIfPresent(renamingIdentifier, forKey: .renamingIdentifier)
    try container.encodeIfPresent(versionHashModifier, forKey: .versionHashModifier)
    try container.encodeIfNotEmpty(userInfo, forKey: .userInfo)
  }

  /// Reads a fetched property as `Formats/Model/README.md` says.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      fetchRequest: try container.decode(FetchRequestTemplate.self, forKey: .request),
      isOptional: try container.flag(forKey: .optional),
      renamingIdentifier: try container.text(forKey: .renamingIdentifier),
      versionHashModifier: try container.text(forKey: .versionHashModifier),
      userInfo: try container.userInfo(forKey: .userInfo)
    )
  }
}
