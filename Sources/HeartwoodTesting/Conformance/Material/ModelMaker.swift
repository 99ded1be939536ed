import Heartwood

/// Makes the models that a store can hold, or those that it cannot, from what it has declared.
struct ModelMaker {
  /// The name of the attribute of models that have one.
  static let value = "value"
  /// The name of the entity of models that have one.
  static let entity = "Record"

  private let attributeTypes: Set<AttributeType>
  private let supportsRelationships: Bool
  private let maximumEntityCount: Int?

  /// - Parameter others: further types that have to hold the models too.
  init(_ capabilities: StoreCapabilities, and others: StoreCapabilities...) {
    let all = [capabilities] + others
    attributeTypes = others.reduce(capabilities.attributeTypes) { $0.intersection($1.attributeTypes) }
    supportsRelationships = all.allSatisfy { $0.supports(.relationships) }
    maximumEntityCount = all.compactMap(\.maximumEntityCount).min()
  }

  /// An entity with one attribute.
  static func model(attribute type: AttributeType) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [.entity(entity, .attribute(value, type, optional: true))])
  }

  /// An entity with one attribute whose values must be unique.
  static func model(uniqueAttribute type: AttributeType) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [.entity(entity, unique: [[value]], .attribute(value, type, optional: true))])
  }

  /// An entity with an attribute of every type that can be held.
  func smallest() throws -> ManagedObjectModel { try withEntities(1) }

  /// Entities with attributes only.
  func withEntities(_ count: Int) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: (0..<count).map { index in
        EntityDefinition(name: index == 0 ? Self.entity : "\(Self.entity)\(index)", properties: attributes)
      }
    )
  }

  /// An entity of the same name whose attributes differ, as another version of the model has it.
  func changed() throws -> ManagedObjectModel {
    let definition = EntityDefinition(name: Self.entity, properties: attributes, versionHashModifier: "changed")
    return try ManagedObjectModel(entities: [definition])
  }

  /// An entity with attributes that histories preserve, and one that they do not.
  func withPreservedAttributes() throws -> ManagedObjectModel {
    var properties = attributes.map { $0.preserved() }
    if let type = AttributeType.allCases.first(where: attributeTypes.contains) {
      properties.append(.attribute(Self.value, type, optional: true))
    }
    return try ManagedObjectModel(entities: [EntityDefinition(name: Self.entity, properties: properties)])
  }

  /// An entity whose properties are called as stores call their own things, or in other scripts; one of them is kept by nobody. Where there may
  /// be relationships, two have no inverse, and one is its own.
  func withAwkwardProperties() throws -> ManagedObjectModel {
    let types = AttributeType.allCases.filter(attributeTypes.contains)
    let names = ["id", "entity", "reference", "version", "select", "größe", "名前"]
    var properties =
      types.isEmpty
      ? []
      : names.enumerated().map { index, name in
        PropertyDescription.attribute(name, types[index % types.count], optional: true, transient: name == "entity")
      }
    if supportsRelationships {
      properties += [
        .toOne("order", Self.entity, inverse: nil),
        .toMany("group", Self.entity, inverse: nil),
        .toMany("mates", Self.entity, inverse: "mates", ordered: true),
      ]
    }
    return try ManagedObjectModel(entities: [EntityDefinition(name: Self.entity, properties: properties)])
  }

  /// An entity that leads to itself, for stores that have no relationships.
  func withForbiddenRelationship() throws -> ManagedObjectModel {
    let properties = attributes + [.toOne("next", Self.entity, inverse: nil)]
    return try ManagedObjectModel(entities: [EntityDefinition(name: Self.entity, properties: properties)])
  }

  private var attributes: [PropertyDescription] {
    AttributeType.allCases.filter(attributeTypes.contains).map { .attribute($0.rawValue, $0, optional: true) }
  }
}

// MARK: Graphs

extension ModelMaker {
  /// How many entities ``severalEntities()`` has, abstract ones not counted.
  static let severalEntityCount = 3

  /// The richest model that can be held.
  func richest() throws -> ManagedObjectModel {
    guard supportsRelationships else {
      return try withEntities(min(maximumEntityCount ?? Self.severalEntityCount, Self.severalEntityCount))
    }
    return Self.severalEntityCount <= maximumEntityCount ?? .max ? try severalEntities() : try leadingToItself()
  }

  /// One entity whose relationships lead to itself: a tree, ordered and unordered to-many on both ends, and pairs.
  func leadingToItself() throws -> ManagedObjectModel {
    let links: [PropertyDescription] = [
      .toOne("parent", Self.entity, inverse: "children"),
      .toMany("children", Self.entity, inverse: "parent"),
      .toMany("steps", Self.entity, inverse: "stepOf", ordered: true),
      .toMany("stepOf", Self.entity, inverse: "steps"),
      .toOne("leader", Self.entity, inverse: "follower"),
      .toOne("follower", Self.entity, inverse: "leader"),
    ]
    return try ManagedObjectModel(
      entities: [EntityDefinition(name: Self.entity, properties: attributes + links)]
    )
  }

  /// Entities that inherit and lead to each other: an abstract parent, a subentity of a subentity, and relationships that lead to
  /// objects of several entities.
  func severalEntities() throws -> ManagedObjectModel {
    let thing: [PropertyDescription] = [.toMany("admirers", "Person", inverse: "favourites")]
    let person: [PropertyDescription] = [
      .toOne("manager", "Person", inverse: "reports"),
      .toMany("reports", "Person", inverse: "manager"),
      .toMany("favourites", "Thing", inverse: "admirers", ordered: true),
      .toMany("teams", "Team", inverse: "members"),
      .toOne("office", "Team", inverse: "occupant"),
    ]
    let team: [PropertyDescription] = [
      .toMany("members", "Person", inverse: "teams", ordered: true),
      .toOne("occupant", "Person", inverse: "office"),
    ]
    return try ManagedObjectModel(entities: [
      EntityDefinition(name: "Thing", isAbstract: true, properties: attributes + thing),
      EntityDefinition(name: "Person", superentityName: "Thing", properties: person),
      EntityDefinition(
        name: "Engineer",
        superentityName: "Person",
        properties: attributes.map { $0.renamed("own_" + $0.name) }
      ),
      EntityDefinition(name: "Team", superentityName: "Thing", properties: team),
    ])
  }
}

extension PropertyDescription {
  fileprivate func preserved() -> PropertyDescription {
    guard case .attribute(var attribute) = self else { return self }
    attribute.preservesValueInHistoryOnDeletion = true
    return .attribute(attribute)
  }

  fileprivate func renamed(_ name: String) -> PropertyDescription {
    switch self {
    case .attribute(var attribute):
      attribute.name = name
      return .attribute(attribute)
    case .relationship(var relationship):
      relationship.name = name
      return .relationship(relationship)
    }
  }
}
