package import HeartwoodFoundation
package import HeartwoodModel

/// All differences between two stores: metadata, entities, properties, records and values.
///
/// The stores may be of different types and models: entities and properties of the same name are compared. The order of
/// records is ignored, and so are their versions.
package struct ContentsDifferences {
  /// How a record of one store is matched with a record of the other.
  package enum Matching: Sendable, Equatable {
    /// By the same reference.
    case reference
    /// By the same values in the attributes of these names. An entity that lacks one of them is matched by all its
    /// attributes, and so is every entity if no names are given. Of several candidates, the most similar one is taken.
    case values(of: [String])
  }

  /// One of the two stores.
  package enum Side: Sendable {
    case first, second
  }

  /// One difference between the stores.
  package enum Difference: Sendable {
    /// The identifiers of the stores.
    case identifier(first: UUID, second: UUID)
    /// A value of the user's metadata; nil if a store has none for the key.
    case metadata(key: String, first: MetadataValue?, second: MetadataValue?)
    /// Only one of the models has the entity, and its store has records of it.
    case entity(EntityDescription, count: Int, in: Side)
    /// Only one of the models has the property.
    case property(String, EntityDescription, in: Side)
    /// Only one of the stores has the record.
    case record(AtomicStoreCacheNode, in: Side)
    /// The values of these properties of a record.
    case values(AtomicStoreCacheNode, AtomicStoreCacheNode, properties: [String])
  }

  private let first: StoreContents
  private let second: StoreContents
  private let matching: Matching
  private let entities: [SharedEntity]
  /// By the name of the entity.
  private let matches: [String: RecordMatching]

  /// Matches the records of two stores. O(values).
  ///
  /// - Throws: ``PersistenceError/Code/propertyUnknown`` if no entity has one of the attributes to match by;
  ///   ``PersistenceError/Code/duplicateReference`` if a store is damaged.
  package init(_ first: StoreContents, _ second: StoreContents, matching: Matching) throws(PersistenceError) {
    self.first = first
    self.second = second
    self.matching = matching
    let entities = Self.sharedEntities(first, second)
    self.entities = entities
    matches =
      switch matching {
      case .reference: try Self.matchesByReference(entities, first, second)
      case .values(let names): try Self.matchesByValue(entities, first, second, names)
      }
  }

  /// The numbers of records in both stores.
  package var recordCounts: (first: Int, second: Int) {
    (first.tables.reduce(0) { $0 + $1.count }, second.tables.reduce(0) { $0 + $1.count })
  }

  private static func sharedEntities(_ first: StoreContents, _ second: StoreContents) -> [SharedEntity] {
    first.concreteEntities.compactMap { entity in
      second.concreteEntities.first { $0.name == entity.name }.map { SharedEntity(first: entity, second: $0) }
    }
  }
}

// MARK: Matching

extension ContentsDifferences {
  /// How many times the keys are refined, each time by one more step along the relationships.
  private static let refinementCount = 3

  private static func matchesByReference(
    _ entities: [SharedEntity],
    _ first: StoreContents,
    _ second: StoreContents
  ) throws(PersistenceError) -> [String: RecordMatching] {
    var matches: [String: RecordMatching] = [:]
    for entity in entities {
      matches[entity.first.name] = try .byReference(first.table(of: entity.first), second.table(of: entity.second))
    }
    return matches
  }

  private static func matchesByValue(
    _ entities: [SharedEntity],
    _ first: StoreContents,
    _ second: StoreContents,
    _ names: [String]
  ) throws(PersistenceError) -> [String: RecordMatching] {
    for name in names where !entities.contains(where: { $0.hasAttribute(name) }) {
      throw PersistenceError(
        .propertyUnknown,
        "No entity that both stores have has an attribute called \(name) to match records by.",
        context: .init(property: name)
      )
    }
    let attributes = try keys(entities, first, second) { $0.attributeNames }
    var passes = [try refined(attributes), attributes]
    if !names.isEmpty {
      passes.append(try keys(entities, first, second) { names.allSatisfy($0.hasAttribute) ? names : $0.attributeNames })
    }
    var matches: [String: RecordMatching] = [:]
    for entity in entities {
      let own = names.allSatisfy(entity.hasAttribute) ? passes : Array(passes.prefix(2))
      matches[entity.first.name] = .byKeys(
        entity,
        first.table(of: entity.first),
        second.table(of: entity.second),
        passes: own
      )
    }
    return matches
  }

  private static func keys(
    _ entities: [SharedEntity],
    _ first: StoreContents,
    _ second: StoreContents,
    attributes: (SharedEntity) -> [String]
  ) throws(PersistenceError) -> (first: RecordKeys, second: RecordKeys) {
    let columns = entities.map { $0.columns(attributes: attributes($0)) }
    return (RecordKeys(first, columns.map(\.first)), RecordKeys(second, columns.map(\.second)))
  }

  private static func refined(
    _ keys: (first: RecordKeys, second: RecordKeys)
  ) throws(PersistenceError) -> (first: RecordKeys, second: RecordKeys) {
    var keys = keys
    for _ in 0..<refinementCount { keys = (try keys.first.refined(), try keys.second.refined()) }
    return keys
  }
}

// MARK: Comparing

extension ContentsDifferences {
  /// Calls `body` with each difference: metadata first, then entity by entity in the order of the first model, and record by
  /// record in the order of the first store, followed by those that only the second has. O(values).
  package func forEach(_ body: (Difference) throws -> Void) throws {
    try compareMetadata(body)
    try reportLoneEntities(first, second, .first, body)
    for entity in entities { try compare(entity, body) }
    try reportLoneEntities(second, first, .second, body)
  }

  private func compareMetadata(_ body: (Difference) throws -> Void) rethrows {
    let identifiers = (first.metadata.identifier, second.metadata.identifier)
    if matching == .reference, identifiers.0 != identifiers.1 {
      try body(.identifier(first: identifiers.0, second: identifiers.1))
    }
    let values = (first.metadata.userInfo, second.metadata.userInfo)
    for key in Set(values.0.keys).union(values.1.keys).sorted() where values.0[key] != values.1[key] {
      try body(.metadata(key: key, first: values.0[key], second: values.1[key]))
    }
  }

  private func reportLoneEntities(
    _ contents: StoreContents,
    _ other: StoreContents,
    _ side: Side,
    _ body: (Difference) throws -> Void
  ) rethrows {
    for entity in contents.concreteEntities where !other.concreteEntities.contains(where: { $0.name == entity.name }) {
      let count = contents.table(of: entity).count
      if count > 0 { try body(.entity(entity, count: count, in: side)) }
    }
  }

  private func compare(_ entity: SharedEntity, _ body: (Difference) throws -> Void) throws {
    if matching == .reference, entity.isSame, ContentsComparison.haveSameRecords(first, second, entity) { return }
    guard let matching = matches[entity.first.name] else { return }
    for name in entity.onlyInFirst { try body(.property(name, entity.first, in: .first)) }
    for name in entity.onlyInSecond { try body(.property(name, entity.second, in: .second)) }
    for row in first.table(of: entity.first).liveRows {
      let node = first.node(row, of: entity.first)
      guard let counterpart = matching.counterpart(of: row) else {
        try body(.record(node, in: .first))
        continue
      }
      let other = second.node(counterpart, of: entity.second)
      let names = try entity.properties.filter { try differs($0, node, other) }.map(\.name)
      if !names.isEmpty { try body(.values(node, other, properties: names)) }
    }
    for row in matching.unmatchedRows { try body(.record(second.node(row, of: entity.second), in: .second)) }
  }

  private func differs(
    _ property: SharedEntity.Property,
    _ node: AtomicStoreCacheNode,
    _ other: AtomicStoreCacheNode
  ) throws(PersistenceError) -> Bool {
    let values = (node[property.ordinals.first], other[property.ordinals.second])
    guard property.isRelationship else { return values.0 != values.1 }
    var targets: [Target] = []
    for id in values.0.objectIDs { targets.append(try counterpart(of: id)) }
    let others = values.1.objectIDs.map { Target(entity: $0.entity.name, reference: $0.reference) }
    return property.isOrdered ? targets != others : Set(targets) != Set(others)
  }

  /// Returns the record of the second store that a relationship should refer to if it refers to `id` in the first.
  private func counterpart(of id: ManagedObjectID) throws(PersistenceError) -> Target {
    let name = id.entity.name
    guard matching != .reference, let matching = matches[name],
      let row = try first.table(of: id.entity).row(of: id.reference),
      let other = entities.first(where: { $0.first === id.entity })?.second
    else { return Target(entity: name, reference: id.reference) }
    // A record without a counterpart refers to no record of the second store, whatever the references are there.
    guard let counterpart = matching.counterpart(of: row) else { return Target(entity: name, reference: nil) }
    return Target(entity: name, reference: second.table(of: other).reference(counterpart))
  }

  private struct Target: Hashable {
    let entity: String
    let reference: ReferenceID?
  }
}

extension StoreContents {
  fileprivate var concreteEntities: [EntityDescription] { entities.filter { !$0.isAbstract } }
}

extension SharedEntity {
  fileprivate var attributeNames: [String] { properties.filter { !$0.isRelationship }.map(\.name) }

  fileprivate func hasAttribute(_ name: String) -> Bool {
    properties.contains { $0.name == name && !$0.isRelationship }
  }

  /// Returns the columns that keys are computed from: the attributes of these names, and all relationships.
  fileprivate func columns(attributes names: [String]) -> (first: RecordKeys.Columns, second: RecordKeys.Columns) {
    let attributes = names.compactMap { name in properties.first { $0.name == name && !$0.isRelationship } }
    let relationships = properties.filter(\.isRelationship)
    return (
      RecordKeys.Columns(
        entity: first,
        attributes: attributes.map(\.ordinals.first),
        relationships: relationships.map { ($0.ordinals.first, $0.isOrdered) }
      ),
      RecordKeys.Columns(
        entity: second,
        attributes: attributes.map(\.ordinals.second),
        relationships: relationships.map { ($0.ordinals.second, $0.isOrdered) }
      )
    )
  }
}
