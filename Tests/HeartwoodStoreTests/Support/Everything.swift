import Foundation
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

/// A model with every kind of property, and random records of it.
struct Everything {
  /// Which kinds of references records and relationships have.
  enum References: CaseIterable {
    case integers, uuids, strings, mixed
  }

  let model: ManagedObjectModel
  let entity: EntityDescription
  let other: EntityDescription
  let scopes: [ObjectIDScope]
  let references: References
  var generator: SeededGenerator

  init(seed: UInt64, references: References) throws {
    print("seed \(seed), references \(references)")
    generator = SeededGenerator(seed: seed)
    self.references = references
    let attributes = AttributeType.allCases.map { type in
      PropertyDescription.attribute(
        AttributeDescription(
          name: type.rawValue,
          type: type,
          valueTransformerName: type == .transformable ? "Color" : nil
        )
      )
    }
    model = try ManagedObjectModel(entities: [
      .entity(
        "Other",
        .toOne("everything", "Everything", inverse: "others"),
        .toMany("all", "Everything", inverse: "other")
      ),
      EntityDefinition(
        name: "Everything",
        properties: attributes + [
          .attribute("note", .string, optional: true, transient: true),
          .toOne("other", "Other", inverse: "all"),
          .toMany("others", "Other", inverse: "everything"),
          .toOne("next", "Everything", inverse: nil),
        ]
      ),
      .entity("Special", parent: "Everything"),
    ])
    entity = try #require(model.entity(named: "Everything"))
    other = try #require(model.entity(named: "Other"))
    let store = UUID()
    scopes = model.entities.map { ObjectIDScope(storeIdentifier: store, entity: $0) }
  }
}

extension Everything {
  mutating func reference() -> ReferenceID {
    switch references {
    case .integers: return .integer(Int64(truncatingIfNeeded: generator.next()))
    case .uuids: return .uuid(generator.nextUUID())
    case .strings: return .string(generator.nextString() + String(generator.next()))
    case .mixed:
      switch Int.random(in: 0..<3, using: &generator) {
      case 0: return .integer(Int64(truncatingIfNeeded: generator.next()))
      case 1: return .uuid(generator.nextUUID())
      default: return .string(generator.nextString() + String(generator.next()))
      }
    }
  }

  mutating func value(_ ordinal: Int) -> PropertyValue {
    let property = entity.properties[ordinal]
    if let type = property.attribute?.type {
      return property.isTransient || generator.chance(oneIn: 4) ? .null : .random(of: type, using: &generator)
    }
    let targets = property.name == "next" ? [entity.ordinal, entity.ordinal + 1] : [other.ordinal]
    func id() -> ManagedObjectID {
      ManagedObjectID(scope: scopes[targets.randomElement(using: &generator) ?? 0], reference: reference())
    }
    if property.relationship?.isToMany == true {
      return .toMany((0..<Int.random(in: 0...3, using: &generator)).map { _ in id() })
    }
    return generator.chance(oneIn: 3) ? .null : .toOne(id())
  }

  mutating func values() -> [PropertyValue] { entity.properties.indices.map { value($0) } }

  mutating func newRow() -> NodeTable.NewRow { .init(reference: reference(), values: values()) }

  func node(_ row: RowID, in table: NodeTable) -> AtomicStoreCacheNode {
    AtomicStoreCacheNode(group: table.groups[row.group], row: row.row, entity: entity, scopes: scopes)
  }
}
