/// Definitions made quick to look things up in, whether they are sound or not.
struct DefinitionIndex {
  /// An own property of an entity: the entity's ordinal, and the place in ``EntityDefinition/properties``.
  struct PropertyPlace {
    let entity: Int
    let index: Int
  }

  let definitions: [EntityDefinition]
  /// The ordinal of each entity's parent; nil where there is none, or none of that name.
  let parents: [Int?]
  private let ordinals: [String: Int]
  private let ownProperties: [[String: Int]]
  /// The names of the entity's own fetched properties and composite attributes.
  private let ownNamesBeside: [Set<String>]

  init(_ definitions: [EntityDefinition]) {
    let ordinals = Dictionary(
      definitions.enumerated().map { ($0.element.name, $0.offset) },
      uniquingKeysWith: { first, _ in first }
    )
    self.definitions = definitions
    self.ordinals = ordinals
    self.parents = definitions.map { $0.superentityName.flatMap { ordinals[$0] } }
    self.ownProperties = definitions.map { definition in
      Dictionary(
        definition.properties.enumerated().map { ($0.element.name, $0.offset) },
        uniquingKeysWith: { first, _ in first }
      )
    }
    self.ownNamesBeside = definitions.map { definition in
      Set(definition.fetchedProperties.map(\.name) + definition.compositeAttributes.map(\.name))
    }
  }

  /// The ordinal of the first entity called `name`.
  func ordinal(ofEntity name: String) -> Int? { ordinals[name] }

  /// The place of the first own property called `name`, not an inherited one.
  func index(ofOwnProperty name: String, in entity: Int) -> Int? { ownProperties[entity][name] }

  /// The nearest ancestor that has a property called `name`, or something beside the properties; nil where none has.
  func ancestor(naming name: String, of entity: Int) -> Int? {
    lineage(of: entity).dropFirst().first { ownProperties[$0][name] != nil || ownNamesBeside[$0].contains(name) }
  }

  /// The property called `name`, own or inherited.
  func place(ofProperty name: String, in entity: Int) -> PropertyPlace? {
    for ancestor in lineage(of: entity) {
      if let index = ownProperties[ancestor][name] { return PropertyPlace(entity: ancestor, index: index) }
    }
    return nil
  }

  func property(at place: PropertyPlace) -> PropertyDescription {
    definitions[place.entity].properties[place.index]
  }

  /// Whether `inverse` leads to `entity` or a relative of it, as the inverse of one of the entity's relationships has to.
  func leadsBack(_ inverse: RelationshipDescription, to entity: Int) -> Bool {
    ordinal(ofEntity: inverse.destinationEntityName).map { isRelated($0, to: entity) } ?? false
  }

  /// Whether the relationship's inverse is a relationship that leads elsewhere or has another inverse.
  func namesOneSidedInverse(_ relationship: RelationshipDescription, of entity: Int) -> Bool {
    guard let name = relationship.inverseRelationshipName,
      let destination = ordinal(ofEntity: relationship.destinationEntityName),
      let inverse = place(ofProperty: name, in: destination).flatMap({ property(at: $0).relationship })
    else { return false }
    return !leadsBack(inverse, to: entity) || inverse.inverseRelationshipName != relationship.name
  }

  /// The entity and its ancestors, nearest first: at most as many as may be, even where the parents go in a circle.
  func lineage(of entity: Int) -> [Int] {
    var lineage = [entity]
    while let last = lineage.last, let parent = parents[last], parent != entity,
      lineage.count <= ManagedObjectModel.deepestInheritance
    {
      lineage.append(parent)
    }
    return lineage
  }

  /// Whether one of the entities inherits from the other, or they are the same.
  func isRelated(_ entity: Int, to other: Int) -> Bool {
    lineage(of: entity).contains(other) || lineage(of: other).contains(entity)
  }
}
