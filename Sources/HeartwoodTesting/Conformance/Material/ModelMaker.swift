import Heartwood

/// Makes models that a store can hold, or that it cannot hold, from its declared capabilities.
struct ModelMaker {
  /// The name of the attribute, in models with a single one.
  static let value = "value"
  /// The name of the entity, in models with a single one.
  static let entity = "Record"

  private let attributeTypes: Set<AttributeType>
  private let supportsRelationships: Bool
  private let maximumEntityCount: Int?

  /// - Parameter others: the capabilities of further types that also have to hold the models.
  init(_ capabilities: StoreCapabilities, and others: StoreCapabilities...) {
    let all = [capabilities] + others
    attributeTypes = others.reduce(capabilities.attributeTypes) { $0.intersection($1.attributeTypes) }
    supportsRelationships = all.allSatisfy { $0.supports(.relationships) }
    maximumEntityCount = all.compactMap(\.maximumEntityCount).min()
  }

  /// Returns a model with an entity that has one attribute.
  static func model(attribute type: AttributeType) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [.entity(entity, .attribute(value, type, optional: true))])
  }

  /// Returns a model with an entity that has one attribute, whose values must be unique.
  static func model(uniqueAttribute type: AttributeType) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [.entity(entity, unique: [[value]], .attribute(value, type, optional: true))])
  }

  /// Returns a model with an entity that has an attribute of each supported type.
  func smallest() throws -> ManagedObjectModel { try withEntities(1) }

  /// Returns a model with entities that have only attributes.
  func withEntities(_ count: Int) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      entities: (0..<count).map { index in
        EntityDefinition(name: index == 0 ? Self.entity : "\(Self.entity)\(index)", properties: attributes)
      }
    )
  }

  /// Returns another version of the model, with an entity of the same name and other attributes.
  func changed() throws -> ManagedObjectModel {
    let definition = EntityDefinition(name: Self.entity, properties: attributes, versionHashModifier: "changed")
    return try ManagedObjectModel(entities: [definition])
  }

  /// Returns a model with an entity that has attributes that histories preserve, and one that they do not.
  func withPreservedAttributes() throws -> ManagedObjectModel {
    var properties = attributes.map { $0.preserved() }
    if let type = AttributeType.allCases.first(where: attributeTypes.contains) {
      properties.append(.attribute(Self.value, type, optional: true))
    }
    return try ManagedObjectModel(entities: [EntityDefinition(name: Self.entity, properties: properties)])
  }

  /// Returns a model with an entity whose properties have names that stores use internally, or names in other scripts.
  /// One property is transient. If the store supports relationships, two of them have no inverse, and one is its own
  /// inverse.
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

  /// Returns a model with an entity that refers to itself, for stores that do not support relationships.
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
  /// The number of entities in ``severalEntities()`` that are not abstract.
  static let severalEntityCount = 3

  /// Returns the model with the most features that the store supports.
  func richest() throws -> ManagedObjectModel {
    guard supportsRelationships else {
      return try withEntities(min(maximumEntityCount ?? Self.severalEntityCount, Self.severalEntityCount))
    }
    return Self.severalEntityCount <= maximumEntityCount ?? .max ? try severalEntities() : try leadingToItself()
  }

  /// Returns a model with an entity whose relationships refer to itself: a tree, to-many relationships on both ends,
  /// ordered and unordered, and pairs.
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

  /// Returns a model with entities that inherit from and refer to each other: an abstract parent, a subentity of a
  /// subentity, and relationships to objects of several entities.
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
