/// An index of an entity: properties by whose values its objects shall be found fast.
///
/// It is a wish that stores fulfil in their own way. It does not enter version hashes.
public struct FetchIndexDescription: Sendable, Hashable {
  /// The name, unique in the entity.
  public var name: String
  /// What is indexed, most significant first.
  public var elements: [FetchIndexElementDescription]
  /// Which objects the index covers; nil means all.
  public var partialIndexPredicate: FetchPredicate?

  /// An index that is not checked yet: a ``ManagedObjectModel`` does that.
  public init(
    name: String,
    elements: [FetchIndexElementDescription],
    partialIndexPredicate: FetchPredicate? = nil
  ) {
    self.name = name
    self.elements = elements
    self.partialIndexPredicate = partialIndexPredicate
  }

  /// An index over properties, small values first.
  public init(name: String, properties: [String]) {
    self.init(name: name, elements: properties.map { FetchIndexElementDescription(.property($0)) })
  }
}

/// A part of an index.
public struct FetchIndexElementDescription: Sendable, Hashable {
  /// What is indexed.
  public enum Subject: Sendable, Hashable {
    /// The property of this name, own or inherited.
    case property(String)
    /// What an expression makes of an object.
    case expression(FetchExpression)
  }

  /// How values are found. The raw value is how it is written.
  public enum CollationType: String, Sendable, Hashable, CaseIterable, Codable {
    /// By their order.
    case binary
    /// By ranges in several dimensions, for numbers.
    case rTree
  }

  /// What is indexed.
  public var subject: Subject
  /// How values are found.
  public var collationType: CollationType
  /// Whether small values come first.
  public var isAscending: Bool

  /// A part of an index that is not checked yet: a ``ManagedObjectModel`` does that.
  public init(_ subject: Subject, collationType: CollationType = .binary, isAscending: Bool = true) {
    self.subject = subject
    self.collationType = collationType
    self.isAscending = isAscending
  }

  /// The name of the property; nil for an expression.
  public var propertyName: String? {
    if case .property(let name) = subject { name } else { nil }
  }
}
