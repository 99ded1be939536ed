import Heartwood

/// A version of a model that is easy to change, and that knows which entity and which property of the version before each was.
struct ModelDraft {
  struct Entity {
    let id: Int
    var name: String
    /// What it was called in the version before; nil for a new one.
    var formerName: String?
    var identifier: String?
    var parent: Int?
    var isAbstract = false
    var properties: [Property] = []
  }

  struct Property {
    let id: Int
    /// The properties of the version before whose values it has.
    var origins: Set<Int> = []
    var name: String
    var formerName: String?
    var identifier: String?
    var kind: Kind
  }

  enum Kind {
    case attribute(Attribute)
    case link(Link)
  }

  struct Attribute {
    var type: AttributeType
    var isOptional = true
    var isTransient = false
    var defaultValue = PropertyValue.null
  }

  struct Link {
    var destination: Int
    var inverse: Int?
    var isToMany: Bool
    var isOrdered: Bool
  }

  /// The attribute by which tests know an object again, whatever becomes of its entity.
  static let tag = "tag"

  var entities: [Entity] = []
  private var lastID = 0

  mutating func newID() -> Int {
    lastID += 1
    return lastID
  }

  /// Makes this the version before: all that is here is what it was.
  mutating func beginVersion() {
    for place in entities.indices {
      entities[place].formerName = entities[place].name
      for number in entities[place].properties.indices {
        entities[place].properties[number].origins = [entities[place].properties[number].id]
        entities[place].properties[number].formerName = entities[place].properties[number].name
      }
    }
  }
}

// MARK: Looking

extension ModelDraft {
  func entity(_ id: Int?) -> Entity? { entities.first { $0.id == id } }

  /// The entity and those above it, the highest first.
  func lineage(_ id: Int?) -> [Entity] { entity(id).map { lineage($0.parent) + [$0] } ?? [] }

  /// The properties of an entity, those that it inherits first.
  func properties(of id: Int) -> [Property] { lineage(id).flatMap(\.properties) }

  func isKind(_ id: Int, of other: Int) -> Bool { lineage(id).contains { $0.id == other } }

  /// The entities under one, and itself.
  func kinds(of id: Int) -> [Entity] { entities.filter { isKind($0.id, of: id) } }

  var links: [(owner: Int, property: Property, link: Link)] {
    entities.flatMap { entity in
      entity.properties.compactMap { property in
        if case .link(let link) = property.kind { (entity.id, property, link) } else { nil }
      }
    }
  }

  func property(_ id: Int?) -> Property? { entities.lazy.flatMap(\.properties).first { $0.id == id } }

  func owner(of property: Int) -> Int? {
    entities.first { $0.properties.contains { $0.id == property } }?.id
  }
}

// MARK: Changing

extension ModelDraft {
  mutating func change(entity id: Int, _ body: (inout Entity) -> Void) {
    for place in entities.indices where entities[place].id == id { body(&entities[place]) }
  }

  mutating func change(_ property: Int, _ body: (inout Property) -> Void) {
    for place in entities.indices {
      for number in entities[place].properties.indices where entities[place].properties[number].id == property {
        body(&entities[place].properties[number])
      }
    }
  }

  mutating func changeLink(_ property: Int?, _ body: (inout Link) -> Void) {
    guard let property else { return }
    change(property) { property in
      guard case .link(var link) = property.kind else { return }
      body(&link)
      property.kind = .link(link)
    }
  }

  mutating func changeAttribute(_ property: Int, _ body: (inout Attribute) -> Void) {
    change(property) { property in
      guard case .attribute(var attribute) = property.kind else { return }
      body(&attribute)
      property.kind = .attribute(attribute)
    }
  }

  /// Takes a property away; its inverse goes on without one.
  mutating func remove(_ property: Int) {
    for place in entities.indices { entities[place].properties.removeAll { $0.id == property } }
    for (_, other, link) in links where link.inverse == property { changeLink(other.id) { $0.inverse = nil } }
  }
}

// MARK: The model

extension ModelDraft {
  func model() throws -> ManagedObjectModel { try ManagedObjectModel(entities: entities.map(definition)) }

  private func definition(_ entity: Entity) -> EntityDefinition {
    let tag: [PropertyDescription] = declaresTag(entity) ? [.attribute(Self.tag, .integer64)] : []
    return EntityDefinition(
      name: entity.name,
      isAbstract: entity.isAbstract,
      superentityName: self.entity(entity.parent)?.name,
      properties: tag + entity.properties.map(description),
      renamingIdentifier: entity.identifier
    )
  }

  /// Every object has a tag: the highest entity declares it that can have objects.
  private func declaresTag(_ entity: Entity) -> Bool {
    !entity.isAbstract && lineage(entity.parent).allSatisfy(\.isAbstract)
  }

  private func description(_ property: Property) -> PropertyDescription {
    switch property.kind {
    case .attribute(let attribute):
      .attribute(
        property.name,
        attribute.type,
        optional: attribute.isOptional,
        transient: attribute.isTransient,
        default: attribute.defaultValue,
        renamedFrom: property.identifier
      )
    case .link(let link):
      .relationship(
        RelationshipDescription(
          name: property.name,
          destinationEntityName: entity(link.destination)?.name ?? "",
          inverseRelationshipName: self.property(link.inverse)?.name,
          isToMany: link.isToMany,
          isOrdered: link.isToMany && link.isOrdered,
          renamingIdentifier: property.identifier
        )
      )
    }
  }
}

extension ModelDraft: CustomStringConvertible {
  /// An entity a line, with what each was.
  var description: String {
    entities.map { entity in
      let properties = entity.properties.map { property in
        "\(property.name)\(property.identifier.map { " (\($0))" } ?? "") \(kind(property))"
      }
      let parent = self.entity(entity.parent).map { ": \($0.name)" } ?? ""
      return """
          \(entity.isAbstract ? "abstract " : "")\(entity.name)\(entity.identifier.map { " (\($0))" } ?? "")\(parent) \
        \(properties.joined(separator: ", "))
        """
    }.joined(separator: "\n")
  }

  private func kind(_ property: Property) -> String {
    switch property.kind {
    case .attribute(let attribute):
      let value = attribute.defaultValue.isNull ? "" : " = \(attribute.defaultValue)"
      return "\(attribute.isTransient ? "transient " : "")\(attribute.type)\(attribute.isOptional ? "?" : "")\(value)"
    case .link(let link):
      let inverse = self.property(link.inverse).map { " ↔ \($0.name)" } ?? ""
      let count = link.isToMany ? link.isOrdered ? "ordered " : "many " : ""
      return "→ \(count)\(entity(link.destination)?.name ?? "")\(inverse)"
    }
  }
}
