extension FetchIndexDescription: Codable {
  private enum Key: String, CodingKey {
    case name, elements, predicate
  }

  /// Writes the index as `Formats/Model/README.md` says.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encode(elements, forKey: .elements)
    try container.encodeIfPresent(partialIndexPredicate, forKey: .predicate)
  }

  /// Reads an index as `Formats/Model/README.md` says.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      elements: try container.list(of: FetchIndexElementDescription.self, forKey: .elements),
      partialIndexPredicate: try container.decodeIfPresent(FetchPredicate.self, forKey: .predicate)
    )
  }
}
