extension FetchIndexElementDescription: Codable {
  private enum Key: String, CodingKey {
    case property, expression, collation, descending
  }

  /// Writes the element as `Formats/Model/README.md` says.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    switch subject {
    case .property(let name): try container.encode(name, forKey: .property)
    case .expression(let expression): try container.encode(expression, forKey: .expression)
    }
    try container.encode(collationType, unless: .binary, forKey: .collation)
    try container.encodeIfSet(!isAscending, forKey: .descending)
  }

  /// Reads an element as `Formats/Model/README.md` says.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let subject: Subject
    if let expression = try container.decodeIfPresent(FetchExpression.self, forKey: .expression) {
      subject = .expression(expression)
    } else {
      subject = .property(try container.decode(String.self, forKey: .property))
    }
    self.init(
      subject,
      collationType: try container.decodeIfPresent(CollationType.self, forKey: .collation) ?? .binary,
      isAscending: try !container.flag(forKey: .descending)
    )
  }
}
