import HeartwoodModel
import HeartwoodStore

/// The entities and properties that a property list store keeps.
struct PropertyListSchema: Sendable {
  struct Property: Sendable {
    enum Content: Sendable {
      case attribute(AttributeType)
      /// A relationship to one object, of the entity with an ordinal unless a reference says otherwise.
      case toOne(Int)
      case toMany(Int)
    }

    let name: String
    let ordinal: Int
    let content: Content
    /// The entities that a relationship's objects may be of.
    let targets: [Int]
  }

  struct Entity: Sendable {
    let description: EntityDescription
    let properties: [Property]
    let placesByName: [String: Int]

    var name: String { description.name }
  }

  let model: ManagedObjectModel
  let entities: [Entity]
  private let placesByName: [String: Int]

  init(_ model: ManagedObjectModel, entities kept: [EntityDescription]) {
    self.model = model
    entities = kept.filter { !$0.isAbstract }.map { Self.entity($0, of: model) }
    placesByName = Self.places(entities.map(\.name))
  }

  private static func entity(_ entity: EntityDescription, of model: ManagedObjectModel) -> Entity {
    let properties = entity.properties.indices.compactMap { ordinal -> Property? in
      let property = entity.properties[ordinal]
      guard !property.isTransient, let content = content(ordinal, of: entity) else { return nil }
      return Property(
        name: property.name,
        ordinal: ordinal,
        content: content,
        targets: targets(ordinal, of: entity, model)
      )
    }
    return Entity(description: entity, properties: properties, placesByName: places(properties.map(\.name)))
  }

  private static func content(_ ordinal: Int, of entity: EntityDescription) -> Property.Content? {
    switch entity.properties[ordinal] {
    case .attribute(let attribute): .attribute(attribute.type)
    case .relationship(let relationship):
      entity.relationshipTargets[ordinal].map {
        relationship.isToMany ? .toMany($0.entityOrdinal) : .toOne($0.entityOrdinal)
      }
    }
  }

  private static func targets(_ ordinal: Int, of entity: EntityDescription, _ model: ManagedObjectModel) -> [Int] {
    guard let target = entity.relationshipTargets[ordinal] else { return [] }
    return model.concreteEntities(under: model.entities[target.entityOrdinal]).map(\.ordinal)
  }

  private static func places(_ names: [String]) -> [String: Int] {
    Dictionary(names.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
  }

  /// The place of the entity called `name`, of those that have records of their own.
  func place(ofEntity name: String) -> Int? { placesByName[name] }

  /// The ordinal of an entity that a reference names.
  func ordinal(ofEntity name: String) -> Int? { placesByName[name].map { entities[$0].description.ordinal } }
}
