import HeartwoodFoundation

/// Makes entity descriptions of definitions that have been validated: names become ordinals, properties are inherited.
struct ModelResolver {
  private let index: DefinitionIndex
  /// The ordinals of the descendants of each entity, in the order of the definitions.
  private let descendants: [[Int]]

  init(definitions: [EntityDefinition]) {
    let index = DefinitionIndex(definitions)
    var descendants: [[Int]] = Array(repeating: [], count: definitions.count)
    for entity in definitions.indices {
      for ancestor in index.lineage(of: entity).dropFirst() { descendants[ancestor].append(entity) }
    }
    self.index = index
    self.descendants = descendants
  }

  func resolve() -> [EntityDescription] {
    var resolved: [EntityDescription?] = Array(repeating: nil, count: index.definitions.count)
    for ordinal in index.definitions.indices { _ = resolve(ordinal, in: &resolved) }
    return resolved.compactMap(\.self)
  }

  /// The entity at `ordinal`, made after its superentity.
  private func resolve(_ ordinal: Int, in resolved: inout [EntityDescription?]) -> EntityDescription {
    if let entity = resolved[ordinal] { return entity }
    let definition = index.definitions[ordinal]
    let superentity = index.parents[ordinal].map { resolve($0, in: &resolved) }
    let inherited = superentity?.properties ?? []
    let properties = inherited + definition.properties
    let ruled = definition.properties.enumerated().compactMap { index, property in
      RuledAttribute(property, ordinal: inherited.count + index)
    }
    let targets = definition.properties.map { $0.relationship.flatMap(target) }
    let entity = EntityDescription(
      definition: definition,
      ordinal: ordinal,
      superentity: superentity,
      subentityOrdinals: descendants[ordinal],
      properties: properties,
      ruledAttributes: (superentity?.ruledAttributes ?? []) + ruled,
      relationshipTargets: (superentity?.relationshipTargets ?? []) + targets,
      versionHash: VersionHash.entity(definition, properties: properties, superentityHash: superentity?.versionHash)
    )
    resolved[ordinal] = entity
    return entity
  }

  private func target(of relationship: RelationshipDescription) -> RelationshipTarget? {
    index.ordinal(ofEntity: relationship.destinationEntityName).map { destination in
      RelationshipTarget(
        entityOrdinal: destination,
        inverseOrdinal: relationship.hasOneSidedInverse
          ? nil : relationship.inverseRelationshipName.flatMap { ordinal(ofProperty: $0, in: destination) }
      )
    }
  }

  /// The ordinal of a property, own or inherited: those that the owner inherits come before it.
  private func ordinal(ofProperty name: String, in entity: Int) -> Int? {
    index.place(ofProperty: name, in: entity).map { place in
      index.lineage(of: place.entity).dropFirst().reduce(place.index) { $0 + index.definitions[$1].properties.count }
    }
  }
}

// MARK: DefinitionIndex

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

// MARK: InheritanceSurvey

/// How deep each entity stands below its ancestors, and which parents go in a circle. Made in O(n).
struct InheritanceSurvey {
  private enum Standing {
    case unknown
    case underway
    case depth(Int)
    /// The entity is in a circle of parents, or below one.
    case endless
  }

  private let index: DefinitionIndex
  private var standings: [Standing]
  /// The first entity of each circle, in the order of the definitions.
  private var circleStarts: Set<Int> = []

  init(_ index: DefinitionIndex) {
    self.index = index
    self.standings = Array(repeating: .unknown, count: index.definitions.count)
    for entity in index.definitions.indices { survey(entity) }
  }

  /// The names of the entities of the circle that begins at `entity`, or nil where none does.
  func circle(foundAt entity: Int) -> String? {
    guard circleStarts.contains(entity) else { return nil }
    let shown = 8
    let names = index.lineage(of: entity).map { index.definitions[$0].name }
    let ellipsis = names.count > shown ? ["…"] : []
    return (names.prefix(shown) + ellipsis + names.prefix(1)).joined(separator: " → ")
  }

  /// Whether the entity has just one ancestor more than allowed. Those further down are too deep for the same reason.
  func isFirstTooDeep(_ entity: Int) -> Bool {
    if case .depth(ManagedObjectModel.deepestInheritance + 1) = standings[entity] { true } else { false }
  }

  /// Follows the parents of `start` up to an entity that is known already, then writes down what lies between.
  private mutating func survey(_ start: Int) {
    var path: [Int] = []
    var next: Int? = start
    while let entity = next, case .unknown = standings[entity] {
      standings[entity] = .underway
      path.append(entity)
      next = index.parents[entity]
    }
    settle(path, below: next)
  }

  private mutating func settle(_ path: [Int], below entity: Int?) {
    var depth: Int?
    switch entity.map({ standings[$0] }) {
    case nil: depth = -1
    case .depth(let known): depth = known
    case .underway: noteCircle(in: path, from: entity)
    case .endless, .unknown: break
    }
    for entity in path.reversed() {
      depth = depth.map { $0 + 1 }
      standings[entity] = depth.map(Standing.depth) ?? .endless
    }
  }

  private mutating func noteCircle(in path: [Int], from entity: Int?) {
    guard let entity, let first = path.firstIndex(of: entity), let start = path[first...].min() else { return }
    circleStarts.insert(start)
  }
}
