import HeartwoodFoundation

/// Makes entity descriptions of valid definitions: resolves names to ordinals, and adds inherited properties.
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

  /// Returns the entity at `ordinal`. Its superentity is made first.
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

  /// Returns the ordinal of an own or inherited property. The properties that the declaring entity inherits come before
  /// it.
  private func ordinal(ofProperty name: String, in entity: Int) -> Int? {
    index.place(ofProperty: name, in: entity).map { place in
      index.lineage(of: place.entity).dropFirst().reduce(place.index) { $0 + index.definitions[$1].properties.count }
    }
  }
}

// MARK: DefinitionIndex

/// Tables for fast lookups in definitions, whether these are valid or not.
struct DefinitionIndex {
  /// A property in the entity that declares it: the entity's ordinal, and the index in ``EntityDefinition/properties``.
  struct PropertyPlace {
    let entity: Int
    let index: Int
  }

  let definitions: [EntityDefinition]
  /// The ordinal of each entity's parent; nil if it has no parent, or if the parent does not exist.
  let parents: [Int?]
  private let ordinals: [String: Int]
  private let ownProperties: [[String: Int]]
  /// The names of the fetched properties and composite attributes that each entity declares.
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

  /// Returns the ordinal of the first entity with this name.
  func ordinal(ofEntity name: String) -> Int? { ordinals[name] }

  /// Returns the index of the first property with this name that the entity declares itself.
  func index(ofOwnProperty name: String, in entity: Int) -> Int? { ownProperties[entity][name] }

  /// Returns the nearest ancestor that declares a property, fetched property or composite attribute with this name; nil
  /// if there is none.
  func ancestor(naming name: String, of entity: Int) -> Int? {
    lineage(of: entity).dropFirst().first { ownProperties[$0][name] != nil || ownNamesBeside[$0].contains(name) }
  }

  /// Returns the place of the property with this name, own or inherited.
  func place(ofProperty name: String, in entity: Int) -> PropertyPlace? {
    for ancestor in lineage(of: entity) {
      if let index = ownProperties[ancestor][name] { return PropertyPlace(entity: ancestor, index: index) }
    }
    return nil
  }

  func property(at place: PropertyPlace) -> PropertyDescription {
    definitions[place.entity].properties[place.index]
  }

  /// Returns whether the destination of `inverse` is `entity`, one of its ancestors or one of its subentities, as
  /// required of an inverse.
  func leadsBack(_ inverse: RelationshipDescription, to entity: Int) -> Bool {
    ordinal(ofEntity: inverse.destinationEntityName).map { isRelated($0, to: entity) } ?? false
  }

  /// Returns whether the inverse of the relationship has another destination or names another inverse.
  func namesOneSidedInverse(_ relationship: RelationshipDescription, of entity: Int) -> Bool {
    guard let name = relationship.inverseRelationshipName,
      let destination = ordinal(ofEntity: relationship.destinationEntityName),
      let inverse = place(ofProperty: name, in: destination).flatMap({ property(at: $0).relationship })
    else { return false }
    return !leadsBack(inverse, to: entity) || inverse.inverseRelationshipName != relationship.name
  }

  /// Returns the entity and its ancestors, the nearest first. The number is limited, even if the parents form a cycle.
  func lineage(of entity: Int) -> [Int] {
    var lineage = [entity]
    while let last = lineage.last, let parent = parents[last], parent != entity,
      lineage.count <= ManagedObjectModel.deepestInheritance
    {
      lineage.append(parent)
    }
    return lineage
  }

  /// Returns whether the entities are the same, or one inherits from the other.
  func isRelated(_ entity: Int, to other: Int) -> Bool {
    lineage(of: entity).contains(other) || lineage(of: other).contains(entity)
  }
}

// MARK: InheritanceSurvey

/// The number of ancestors of each entity, and the cycles among the parents. Made in O(n).
struct InheritanceSurvey {
  private enum Depth {
    case unknown
    case underway
    case depth(Int)
    /// The entity is part of a cycle of parents, or inherits from one.
    case endless
  }

  private let index: DefinitionIndex
  private var depths: [Depth]
  /// The first entity of each cycle, in the order of the definitions.
  private var circleStarts: Set<Int> = []

  init(_ index: DefinitionIndex) {
    self.index = index
    self.depths = Array(repeating: .unknown, count: index.definitions.count)
    for entity in index.definitions.indices { survey(entity) }
  }

  /// Returns the names of the entities of the cycle that begins at `entity`, or nil if none begins there.
  func circle(foundAt entity: Int) -> String? {
    guard circleStarts.contains(entity) else { return nil }
    let shown = 8
    let names = index.lineage(of: entity).map { index.definitions[$0].name }
    let ellipsis = names.count > shown ? ["…"] : []
    return (names.prefix(shown) + ellipsis + names.prefix(1)).joined(separator: " → ")
  }

  /// Returns whether the entity has exactly one ancestor more than allowed. Its descendants are too deep for the same
  /// reason.
  func isFirstTooDeep(_ entity: Int) -> Bool {
    if case .depth(ManagedObjectModel.deepestInheritance + 1) = depths[entity] { true } else { false }
  }

  /// Follows the parents of `start` up to an entity whose depth is known, then sets the depths of all entities between
  /// them.
  private mutating func survey(_ start: Int) {
    var path: [Int] = []
    var next: Int? = start
    while let entity = next, case .unknown = depths[entity] {
      depths[entity] = .underway
      path.append(entity)
      next = index.parents[entity]
    }
    settle(path, below: next)
  }

  private mutating func settle(_ path: [Int], below entity: Int?) {
    var depth: Int?
    switch entity.map({ depths[$0] }) {
    case nil: depth = -1
    case .depth(let known): depth = known
    case .underway: noteCircle(in: path, from: entity)
    case .endless, .unknown: break
    }
    for entity in path.reversed() {
      depth = depth.map { $0 + 1 }
      depths[entity] = depth.map(Depth.depth) ?? .endless
    }
  }

  private mutating func noteCircle(in path: [Int], from entity: Int?) {
    guard let entity, let first = path.firstIndex(of: entity), let start = path[first...].min() else { return }
    circleStarts.insert(start)
  }
}
