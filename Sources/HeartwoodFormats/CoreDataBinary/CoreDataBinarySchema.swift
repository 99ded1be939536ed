import HeartwoodModel
import HeartwoodStore

/// The places of values in a file for the entities of a model: attributes by position, relationships by name.
struct CoreDataBinarySchema: Sendable {
  struct Relationship: Sendable {
    let name: String
    let ordinal: Int
    let isToMany: Bool
    /// The entities that the relationship's objects may be of.
    let targets: [Int]
  }

  /// An entity that has records of its own.
  struct Entity: Sendable {
    let description: EntityDescription
    /// The ordinal of the attribute at each position; nil for positions that the model does not have.
    let attributes: [Int?]
    /// The same with the transient attributes, which have no values; nil if there are none.
    let attributesWithTransients: [Int?]?
    let relationships: [Relationship]
    let relationshipsByName: [String: Int]

    var name: String { description.name }
    /// The number of values of a record: one for each attribute, and a null for each relationship.
    var valueCount: Int { attributes.count + relationships.count }

    /// Returns the ordinals of the attributes of a record with so many values; nil if no record of this entity has so
    /// many.
    func attributes(ofValueCount count: Int) -> [Int?]? {
      if (attributes.count...valueCount).contains(count) { return attributes }
      if let all = attributesWithTransients, (all.count...(all.count + relationships.count)).contains(count) {
        return all
      }
      return nil
    }
  }

  let entities: [Entity]
  private let placesByName: [String: Int]
  /// Whether positions follow from the names that a recovered model gives to attributes.
  let isRecovered: Bool

  init(_ model: ManagedObjectModel, entities kept: [EntityDescription]) {
    let isRecovered = model.isRecovered
    self.isRecovered = isRecovered
    entities = kept.filter { !$0.isAbstract }.map { Self.entity($0, of: model, isRecovered: isRecovered) }
    placesByName = Dictionary(
      entities.enumerated().map { ($0.element.name, $0.offset) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  /// Returns the place of the entity called `name` among those that have records of their own.
  func place(ofEntity name: String) -> Int? { placesByName[name] }

  private static func entity(
    _ entity: EntityDescription,
    of model: ManagedObjectModel,
    isRecovered: Bool
  ) -> Entity {
    let relationships = entity.properties.indices.compactMap { relationship($0, of: entity, model) }
    let all = attributeOrder(of: entity)
    let stored = all.filter { !entity.properties[$0].isTransient }
    return Entity(
      description: entity,
      attributes: (isRecovered ? recoveredPositions(stored, of: entity) : nil) ?? stored,
      attributesWithTransients: stored.count == all.count
        ? nil : all.map { entity.properties[$0].isTransient ? nil : $0 },
      relationships: relationships,
      relationshipsByName: Dictionary(
        relationships.enumerated().map { ($0.element.name, $0.offset) },
        uniquingKeysWith: { first, _ in first }
      )
    )
  }

  /// Returns the attributes of the topmost entity by name, then those that the next one adds by name, and so on.
  private static func attributeOrder(of entity: EntityDescription) -> [Int] {
    let line = sequence(first: entity, next: \.superentity).reversed()
    func depth(_ ordinal: Int) -> Int {
      let name = entity.properties[ordinal].name
      return line.firstIndex { $0.ordinal(ofProperty: name) != nil } ?? line.count
    }
    return entity.properties.indices.filter { entity.properties[$0].attribute != nil }
      .map { (depth: depth($0), name: entity.properties[$0].name, ordinal: $0) }
      .sorted { $0.depth == $1.depth ? precedes($0.name, $1.name) : $0.depth < $1.depth }
      .map(\.ordinal)
  }

  /// Compares names in the order in which they enter version hashes.
  private static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  private static func recoveredPositions(_ ordinals: [Int], of entity: EntityDescription) -> [Int?]? {
    var positions: [Int?] = []
    for ordinal in ordinals {
      guard let position = CoreDataBinaryNames.position(ofAttribute: entity.properties[ordinal].name) else {
        return nil
      }
      if position >= positions.count {
        positions += Array(repeating: nil, count: position + 1 - positions.count)
      }
      positions[position] = ordinal
    }
    return positions
  }

  private static func relationship(
    _ ordinal: Int,
    of entity: EntityDescription,
    _ model: ManagedObjectModel
  ) -> Relationship? {
    let property = entity.properties[ordinal]
    guard let relationship = property.relationship, !property.isTransient,
      let target = entity.relationshipTargets[ordinal]
    else { return nil }
    return Relationship(
      name: property.name,
      ordinal: ordinal,
      isToMany: relationship.isToMany,
      targets: model.concreteEntities(under: model.entities[target.entityOrdinal]).map(\.ordinal)
    )
  }
}

// MARK: CoreDataBinaryNames

/// The names of attributes in a recovered model, for which a file contains only the positions.
enum CoreDataBinaryNames {
  private static let prefix = "attribute"
  /// No entity has as many attributes: a name with a greater number is none of these.
  static let mostPositions = 1 << 16

  /// Returns `attribute1` for the first position, which is 0.
  static func attribute(atPosition position: Int) -> String { "\(prefix)\(position + 1)" }

  /// Returns the position of an attribute of that name; nil if it is another name.
  static func position(ofAttribute name: String) -> Int? {
    guard name.hasPrefix(prefix), let number = Int(name.dropFirst(prefix.count)), (1...mostPositions).contains(number),
      attribute(atPosition: number - 1) == name
    else { return nil }
    return number - 1
  }
}
