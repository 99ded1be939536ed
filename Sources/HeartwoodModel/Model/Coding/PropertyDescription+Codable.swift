extension PropertyDescription: Codable {
  private enum Key: String, CodingKey {
    case kind
  }

  private enum Kind: String, Codable {
    case attribute, relationship
  }

  /// Writes the kind, and beside it what the attribute or the relationship writes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    switch self {
    case .attribute(let attribute):
      try container.encode(Kind.attribute, forKey: .kind)
      try attribute.encode(to: encoder)
    case .relationship(let relationship):
      try container.encode(Kind.relationship, forKey: .kind)
      try relationship.encode(to: encoder)
    }
  }

  /// Reads the kind, and then the attribute or the relationship. A kind that is not known is an error.
  public init(from decoder: any Decoder) throws {
    switch try decoder.container(keyedBy: Key.self).decode(Kind.self, forKey: .kind) {
    case .attribute: self = .attribute(try AttributeDescription(from: decoder))
    case .relationship: self = .relationship(try RelationshipDescription(from: decoder))
    }
  }
}
