import Heartwood
import HeartwoodStore

/// A store that is open, in a coordinator of its own.
struct OpenStore {
  let coordinator: PersistentStoreCoordinator
  let store: PersistentStore
  /// Which values the type that is tested cannot hold; they are not used.
  var refuses: @Sendable (PropertyValue, AttributeType) -> Bool

  func makeContext() -> ManagedObjectContext { ManagedObjectContext(coordinator) }

  /// Everything that the store keeps, checked.
  func contents() throws -> StoreContents { try store.engine.contents() }

  /// The entities that have records of their own.
  var concreteEntities: [EntityDescription] { store.entities.filter { !$0.isAbstract } }
}

extension OpenStore {
  /// Saves `count` new records with random values, spread over all entities.
  func insertRandom(_ count: Int, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let context = makeContext()
    let entities = concreteEntities
    for index in 0..<count {
      try setRandomAttributes(of: try context.insert(entityName: entities[index % entities.count].name), &generator)
    }
    try context.save()
  }

  /// Gives every attribute a random value, some of them none.
  func setRandomAttributes(of object: ManagedObject, _ generator: inout SeededGenerator) throws {
    for attribute in object.entity.attributes {
      try object.setPropertyValue(randomValue(of: attribute.type, &generator), forKey: attribute.name)
    }
  }

  /// A random value that the type that is tested can hold; sometimes none.
  func randomValue(of type: AttributeType, _ generator: inout SeededGenerator) -> PropertyValue {
    if generator.chance(oneIn: 6) { return .null }
    // Of the random dates, nearly all are too far away for people.
    let isNear = type == .date && !generator.chance(oneIn: 4)
    let value = isNear ? NearDates.random(&generator) : .random(of: type, using: &generator)
    return refuses(value, type) ? .null : value
  }

  /// Saves a record of each name in the first entity, with random values.
  func insert(_ references: [ReferenceID], seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let entity = try unwrap(concreteEntities.first, "an entity")
    let scope = store.engine.scopes[entity.ordinal]
    let snapshots = references.map { reference in
      let values = entity.properties.map { property in
        switch property {
        case .attribute(let attribute): randomValue(of: attribute.type, &generator)
        case .relationship(let relationship): relationship.isToMany ? PropertyValue.toMany([]) : .null
        }
      }
      return ObjectSnapshot(
        objectID: ManagedObjectID(scope: scope, reference: reference),
        version: 0,
        values: values
      )
    }
    _ = try store.engine.save(ChangeSet(inserted: snapshots))
  }
}
