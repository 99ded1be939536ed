/// An attribute that is made of several: an address of a street and a city.
///
/// The parts are attributes of the entity by themselves, so that every store keeps them, and predicates and indexes reach them: the part
/// `city` of `address` is the attribute `address_city`.
public struct CompositeAttributeDescription: Sendable, Hashable {
  /// One part.
  public struct Element: Sendable, Hashable, Codable {
    private enum CodingKeys: String, CodingKey {
      case name
      case attributeName = "attribute"
    }

    /// The name in the composite: `city`, or `place.city` for a part of a part.
    public var name: String
    /// The name of the attribute of the entity.
    public var attributeName: String

    /// A part that is not checked yet: a ``ManagedObjectModel`` does that.
    public init(name: String, attributeName: String) {
      self.name = name
      self.attributeName = attributeName
    }
  }

  /// The name of the whole, unique in the entity.
  public var name: String
  /// The name of the composite, which several attributes may have.
  public var compositeName: String
  /// The parts, in declared order.
  public var elements: [Element]
  /// The author's own notes, by key.
  public var userInfo: [String: String]

  /// A composite attribute that is not checked yet: a ``ManagedObjectModel`` does that.
  public init(name: String, compositeName: String, elements: [Element], userInfo: [String: String] = [:]) {
    self.name = name
    self.compositeName = compositeName
    self.elements = elements
    self.userInfo = userInfo
  }
}
