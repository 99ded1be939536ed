extension CompositeAttributeDescription: Codable {
  private enum Key: String, CodingKey {
    case name, composite, elements, userInfo
  }

  /// Writes the composite attribute as `Formats/Model/README.md` says.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encode(compositeName, forKey: .composite)
    try container.encode(elements, forKey: .elements)
    try container.encodeIfNotEmpty(userInfo, forKey: .userInfo)
  }

  /// Reads a composite attribute as `Formats/Model/README.md` says.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      compositeName: try container.decode(String.self, forKey: .composite),
      elements: try container.list(of: Element.self, forKey: .elements),
      userInfo: try container.userInfo(forKey: .userInfo)
    )
  }
}
