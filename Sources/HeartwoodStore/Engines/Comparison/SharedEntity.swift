import HeartwoodModel

/// An entity that two models have, and the properties that both its descriptions have and stores keep.
struct SharedEntity: Sendable {
  /// A property of the same name and nature in both descriptions.
  struct Property: Sendable {
    let name: String
    let ordinals: (first: Int, second: Int)
    let isRelationship: Bool
    /// Whether the order of the objects counts.
    let isOrdered: Bool
  }

  let first: EntityDescription
  let second: EntityDescription
  let properties: [Property]
  /// The names of properties that only one description has, or that are an attribute in one and a relationship in the other.
  let onlyInFirst: [String]
  let onlyInSecond: [String]

  init(first: EntityDescription, second: EntityDescription) {
    self.first = first
    self.second = second
    let properties = Self.keptOrdinals(of: first).compactMap { Self.shared($0, of: first, with: second) }
    let names = Set(properties.map(\.name))
    self.properties = properties
    onlyInFirst = Self.names(of: first).filter { !names.contains($0) }
    onlyInSecond = Self.names(of: second).filter { !names.contains($0) }
  }

  /// Whether both descriptions have the same properties at the same places, so that their rows can be compared column by column.
  var isSame: Bool {
    onlyInFirst.isEmpty && onlyInSecond.isEmpty && properties.allSatisfy { $0.ordinals.first == $0.ordinals.second }
      && first.versionHash == second.versionHash
  }

  private static func keptOrdinals(of entity: EntityDescription) -> [Int] {
    entity.properties.indices.filter { !entity.properties[$0].isTransient }
  }

  private static func names(of entity: EntityDescription) -> [String] {
    keptOrdinals(of: entity).map { entity.properties[$0].name }
  }

  private static func shared(
    _ ordinal: Int,
    of first: EntityDescription,
    with second: EntityDescription
  ) -> Property? {
    let property = first.properties[ordinal]
    guard let other = second.ordinal(ofProperty: property.name), !second.properties[other].isTransient else {
      return nil
    }
    let traits = (first.traits[ordinal], second.traits[other])
    guard (traits.0.attributeType == nil) == (traits.1.attributeType == nil) else { return nil }
    return Property(
      name: property.name,
      ordinals: (ordinal, other),
      isRelationship: traits.0.attributeType == nil,
      isOrdered: traits.0.isOrdered && traits.1.isOrdered
    )
  }
}
