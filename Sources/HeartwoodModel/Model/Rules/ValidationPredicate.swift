/// A condition that the values of an attribute have to meet before they may be saved: `SELF` stands for the value.
///
///     AttributeRules(predicates: [try ValidationPredicate("SELF == 0 OR SELF >= 18", warning: "is no age of an adult.")])
public struct ValidationPredicate: Sendable, Hashable {
  /// The condition.
  public var predicate: FetchPredicate
  /// What is wrong with a value that does not meet it, as the rest of a sentence that begins with the attribute's name.
  public var warning: String

  /// Makes a condition; a ``ManagedObjectModel`` checks whether it suits the attribute.
  public init(_ predicate: FetchPredicate, warning: String) {
    self.predicate = predicate
    self.warning = warning
  }

  /// Makes a condition of a format string; see ``FetchPredicate/init(format:_:)``.
  ///
  /// - Throws: ``FetchPredicateError``, which shows the place of a mistake.
  public init(
    _ format: String,
    _ arguments: any FetchArgument...,
    warning: String
  ) throws(FetchPredicateError) {
    self.init(try FetchPredicate(format: format, arguments: arguments), warning: warning)
  }
}

extension ValidationPredicate: Codable {
  private enum Key: String, CodingKey {
    case predicate, warning
  }

  /// Reads an object with the members `predicate`, a format string, and `warning`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    predicate = try container.decode(FetchPredicate.self, forKey: .predicate)
    warning = try container.decode(String.self, forKey: .warning)
  }

  /// Writes an object with the members `predicate`, a format string, and `warning`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(predicate, forKey: .predicate)
    try container.encode(warning, forKey: .warning)
  }
}
