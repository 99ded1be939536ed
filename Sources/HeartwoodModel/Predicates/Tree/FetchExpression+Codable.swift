extension FetchExpression: Codable {
  /// Writes the expression as it stands in a format string.
  ///
  /// - Throws: `EncodingError` where it names an object that has not been saved: such an id means nothing elsewhere.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    let text = description
    // try?: what does not come back is thrown.
    guard (try? FetchExpression(format: text)) == simplified else {
      let problem = "The expression names an unsaved object, or has no form as text. Save the object first."
      throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: problem))
    }
    try container.encode(text)
  }

  /// Reads an expression as it stands in a format string.
  ///
  /// - Throws: ``FetchPredicateError`` where it is none.
  public init(from decoder: any Decoder) throws {
    try self.init(format: decoder.singleValueContainer().decode(String.self))
  }
}
