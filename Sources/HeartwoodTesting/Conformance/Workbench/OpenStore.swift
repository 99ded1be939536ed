import Heartwood
import HeartwoodFoundation
import HeartwoodStore

/// An open store, in a coordinator of its own.
struct OpenStore {
  let coordinator: PersistentStoreCoordinator
  let store: PersistentStore
  /// Returns whether the tested type cannot hold a value. Such values are not used.
  var refuses: @Sendable (PropertyValue, AttributeType) -> Bool

  func makeContext() -> ManagedObjectContext { ManagedObjectContext(coordinator) }

  /// Returns the contents of the store, validated.
  func contents() throws -> StoreContents { try store.engine.contents() }

  /// The entities that are not abstract.
  var concreteEntities: [EntityDescription] { store.entities.filter { !$0.isAbstract } }
}

extension OpenStore {
  /// Saves `count` new records with random values, distributed over all entities.
  func insertRandom(_ count: Int, seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let context = makeContext()
    let entities = concreteEntities
    for index in 0..<count {
      try setRandomAttributes(of: try context.insert(entityName: entities[index % entities.count].name), &generator)
    }
    try context.save()
  }

  /// Gives every attribute a random value, which is sometimes null.
  func setRandomAttributes(of object: ManagedObject, _ generator: inout SeededGenerator) throws {
    for attribute in object.entity.attributes {
      try object.setPropertyValue(randomValue(of: attribute.type, &generator), forKey: attribute.name)
    }
  }

  /// Returns a random value that the tested type can hold. It is sometimes null.
  func randomValue(of type: AttributeType, _ generator: inout SeededGenerator) -> PropertyValue {
    if generator.chance(oneIn: 6) { return .null }
    // Almost all random dates are beyond the range of common formats.
    let isNear = type == .date && !generator.chance(oneIn: 4)
    let value = isNear ? NearDates.random(&generator) : .random(of: type, using: &generator)
    return refuses(value, type) ? .null : value
  }

  /// Saves a record of the first entity for each reference, with random values.
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

// MARK: History

/// The content of a transaction, without its identity.
struct HistoryRecord: Equatable {
  let number: Int64
  let seconds: Double
  let author: String?
  let contextName: String?
  let changes: [PersistentHistoryChange]

  init(_ transaction: PersistentHistoryTransaction) {
    number = transaction.transactionNumber
    seconds = transaction.timestamp.timeIntervalSinceReferenceDate
    author = transaction.author
    contextName = transaction.contextName
    changes = transaction.changes
  }

  /// Copies a record with other changes.
  init(_ record: HistoryRecord, changes: [PersistentHistoryChange]) {
    number = record.number
    seconds = record.seconds
    author = record.author
    contextName = record.contextName
    self.changes = changes
  }
}

extension OpenStore {
  /// Returns the transactions after a token.
  func history(after token: PersistentHistoryToken? = nil) throws -> [HistoryRecord] {
    try coordinator.execute(.fetchHistory(after: token), in: [store]).map(HistoryRecord.init)
  }

  func token() throws -> PersistentHistoryToken? {
    try coordinator.currentPersistentHistoryToken(fromStores: [store])
  }

  /// Saves three transactions: an insertion by one author, then an update and a deletion by another. Returns the names
  /// of the updated attributes.
  @discardableResult
  func saveHistory(seed: UInt64) throws -> Set<String> {
    var generator = SeededGenerator(seed: seed)
    let context = makeContext()
    (context.transactionAuthor, context.name) = ("first", "kit")
    let entity = try unwrap(concreteEntities.first, "an entity")
    let objects = try (0..<3).map { _ in try context.insert(entityName: entity.name) }
    for object in objects { try setRandomAttributes(of: object, &generator) }
    try context.save()
    context.transactionAuthor = "second, ä😀"
    let updated = try changeAttributes(of: objects[0], &generator)
    try context.save()
    context.delete(objects[1])
    try context.save()
    return updated
  }

  /// Gives attributes random values until one has changed. Returns the names of the changed attributes.
  private func changeAttributes(
    of object: ManagedObject,
    _ generator: inout SeededGenerator
  ) throws -> Set<String> {
    let names = object.entity.attributes.map(\.name)
    let before = try names.map { try object.propertyValue(forKey: $0) }
    while true {
      try setRandomAttributes(of: object, &generator)
      let after = try names.map { try object.propertyValue(forKey: $0) }
      let changed = names.indices.filter { before[$0] != after[$0] }.map { names[$0] }
      if !changed.isEmpty { return Set(changed) }
    }
  }
}
