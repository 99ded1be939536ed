/// Where the value of a property of a new record comes from.
public struct PropertyMapping: Sendable, Hashable {
  /// The name of the property in the destination entity.
  public var name: String
  /// What gives the value; nil means that the property is left as it is: with its default value, or leading nowhere, unless a
  /// policy sets it.
  public var valueExpression: MappingExpression?
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// Makes a mapping that is not held against models yet.
  public init(name: String, valueExpression: MappingExpression? = nil, userInfo: [String: String] = [:]) {
    self.name = name
    self.valueExpression = valueExpression
    self.userInfo = userInfo
  }
}
