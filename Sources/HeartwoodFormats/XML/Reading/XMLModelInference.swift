import CLibXML2
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// Makes a model from the elements of a file.
final class XMLModelInference: XMLDatabaseHandler {
  private struct Entity {
    var name: String
    var properties: [PropertyDescription] = []
    var places: [String: Int] = [:]
    /// The records that each relationship refers to, by its destination's place.
    var targets: [Int: Set<String>] = [:]
  }

  private var entities: [Entity] = []
  private var places: [String: Int] = [:]
  /// The place of the entity of each record.
  private var owners: [String: Int] = [:]
  private var properNames: [String: String] = [:]
  private var current: Int?

  init(limits: XMLLimits) {
    super.init(storeType: .xml, limits: limits)
  }

  /// The hashes of the model that the file was written with contain the spelling of its entities.
  override func endHeader(_ header: XMLHeader) {
    for name in XMLMetadata.metadata(header).modelVersionHashes.keys.sorted() {
      properNames[XMLFormat.fileName(ofEntity: name)] = name
      _ = place(ofEntity: XMLFormat.fileName(ofEntity: name))
    }
  }

  private func place(ofEntity name: String) -> Int {
    if let place = places[name] { return place }
    entities.append(Entity(name: properNames[name] ?? name))
    places[name] = entities.count - 1
    return entities.count - 1
  }

  // MARK: Elements

  override func beginRecord(_ tag: XMLTag, _ word: Word?) {
    let values = values(of: tag)
    switch (current, word) {
    case (nil, .object):
      guard let type = values[.type], let id = values[.id] else { return fail("An object must have a type and an id.") }
      let place = place(ofEntity: type)
      current = place
      owners[id] = place
    case (let entity?, .attribute):
      guard let name = values[.name], let type = values[.type].flatMap(Self.type) else {
        return fail("An attribute must have a name and one of the known types.")
      }
      add(.attribute(name, type, optional: true), to: entity)
      collectText()
    case (let entity?, .relationship): addRelationship(values, to: entity)
    default: fail("The element does not belong here.")
    }
  }

  override func endRecord() {
    // After an object, only the database is open.
    if depth == 1 { current = nil }
  }

  private func values(of tag: XMLTag) -> [Word: String] {
    var values: [Word: String] = [:]
    for index in 0..<tag.attributeCount {
      guard let word = tag.name(index).flatMap(word) else { continue }
      values[word] = String(decoding: tag.value(index), as: UTF8.self)
    }
    return values
  }

  private static func type(_ name: String) -> AttributeType? {
    AttributeType.allCases.first { XMLFormat.typeName($0) == name }
  }

  private func add(_ property: PropertyDescription, to entity: Int) {
    if let place = entities[entity].places[property.name] {
      guard entities[entity].properties[place] == property else {
        return fail("The property \(property.name) has different kinds in different objects, so no model fits.")
      }
      return
    }
    entities[entity].places[property.name] = entities[entity].properties.count
    entities[entity].properties.append(property)
  }

  private func addRelationship(_ values: [Word: String], to entity: Int) {
    guard let name = values[.name], let destinationName = values[.destination], let counts = values[.type] else {
      return fail("A relationship must have a name, a destination and a type.")
    }
    let numbers = counts.split(separator: "/").map { Int($0) ?? 0 }
    guard numbers.count == 2, numbers[0] >= 0, numbers[1] >= 0 else {
      return fail("The type of a relationship must be the least and the greatest count.")
    }
    let destination = place(ofEntity: destinationName)
    let ownName = entities[destination].name
    let many = RelationshipDescription(
      name: name,
      destinationEntityName: ownName,
      isToMany: true,
      minCount: numbers[0],
      maxCount: numbers[1] == 0 ? 0 : max(numbers[0], numbers[1])
    )
    add(numbers[1] == 1 ? .toOne(name, ownName, inverse: nil) : .relationship(many), to: entity)
    let targets = (values[.idrefs] ?? "").split(separator: " ").map(String.init)
    entities[entity].targets[destination, default: []].formUnion(targets)
  }

  // MARK: The model

  func model() throws -> ManagedObjectModel {
    let parents = try parents()
    return try ManagedObjectModel(
      entities: entities.enumerated().map { place, entity in
        EntityDefinition(
          name: entity.name,
          superentityName: parents[place].map { entities[$0].name },
          properties: entity.properties.filter { !isInherited($0, by: place, parents) }
        )
      }
    )
  }

  /// Returns the parent of each entity: one that is the destination of relationships which refer to its records. If
  /// there are several, the one with the fewest such entities is the nearest.
  private func parents() throws -> [Int: Int] {
    var children: [Int: Set<Int>] = [:]
    for entity in entities {
      for (destination, ids) in entity.targets {
        let found = Set(ids.compactMap { owner(of: $0) }).subtracting([destination])
        children[destination, default: []].formUnion(found)
      }
    }
    var parents: [Int: Int] = [:]
    var tops = Array(entities.indices)
    for (parent, found) in children.sorted(by: { ($0.value.count, $0.key) < ($1.value.count, $1.key) }) {
      // An entity must not inherit from itself through others, whatever a file contains.
      let top = Self.root(of: parent, &tops)
      for child in found.sorted() {
        let root = Self.root(of: child, &tops)
        guard root != top else { continue }
        parents[root] = parent
        tops[root] = top
      }
    }
    return parents
  }

  /// Returns the place of the entity of a record that a relationship refers to. Its name precedes ids that several
  /// entities have.
  private func owner(of reference: String) -> Int? {
    guard let end = reference.firstIndex(of: ":") else { return owners[reference] }
    return places[String(reference[..<end])]
  }

  private func isInherited(_ property: PropertyDescription, by entity: Int, _ parents: [Int: Int]) -> Bool {
    // No model has more ancestors than these, so that a long chain is refused early.
    let ancestors = sequence(first: entity) { parents[$0] }.dropFirst().prefix(ManagedObjectModel.deepestInheritance)
    return ancestors.contains { ancestor in
      let entity = entities[ancestor]
      return entity.places[property.name].map { entity.properties[$0] } == property
    }
  }

  /// Returns the topmost entity that `entity` inherits from, and shortens the path for the next call.
  private static func root(of entity: Int, _ tops: inout [Int]) -> Int {
    var root = entity
    while tops[root] != root {
      tops[root] = tops[tops[root]]
      root = tops[root]
    }
    return root
  }
}
