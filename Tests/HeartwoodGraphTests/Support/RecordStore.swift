import Foundation
import HeartwoodModel
import HeartwoodStore
import Synchronization

/// A store as an author may write one over a database.
final class RecordStore: IncrementalStore, StoreClass {
  static let typeDescription = StoreTypeDescription(
    type: "Records",
    displayName: "Records",
    fileExtensions: [],
    capabilities: StoreCapabilities(
      kind: .incremental,
      features: [.relationships, .userMetadata],
      attributeTypes: Set(AttributeType.allCases),
      referenceKinds: [.integer]
    )
  )

  private let connection: Mutex<RecordDatabase?>
  private let findDatabase: @Sendable () throws -> RecordDatabase
  private let model: ManagedObjectModel
  /// What is being saved; nil where nothing is.
  private let draft = Mutex<RecordDatabase.Content?>(nil)

  convenience init(_ setup: StoreSetup) throws {
    let database = setup.options[.recordDatabase]
    self.init(setup) {
      guard let database else { throw PersistenceError(.fileNotFound, "The option recordDatabase is missing.") }
      return database
    }
  }

  /// - Parameter findDatabase: tells where the records are, each time that the store connects.
  init(_ setup: StoreSetup, findDatabase: @escaping @Sendable () throws -> RecordDatabase) {
    connection = Mutex(nil)
    model = setup.model
    self.findDatabase = findDatabase
  }

  var database: RecordDatabase {
    get throws {
      if let database = connection.withLock({ $0 }) { return database }
      throw PersistenceError(.storeNotOpen, "The store is not connected.")
    }
  }

  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    throw PersistenceError(.fileNotFound, "There is no file.")
  }

  func connect() throws -> StoreMetadata? {
    let database = try findDatabase()
    connection.withLock { $0 = database }
    database.connectionCount.withLock { $0 += 1 }
    return database.current.metadata
  }

  func create(_ metadata: StoreMetadata) throws {
    try database.change { content in
      content.withLock {
        $0.metadata = metadata
        $0.model = model
      }
    }
  }

  func disconnect() {
    connection.withLock { $0?.connectionCount.withLock { $0 -= 1 } }
  }

  func dataVersion() throws -> UInt64 { try content.changeCount }

  func reading<Result>(_ body: () throws -> Result) throws -> Result { try body() }

  func metadata() throws -> StoreMetadata {
    guard let metadata = try content.metadata else { throw PersistenceError(.fileNotFound, "There is no store.") }
    return metadata
  }

  var content: RecordDatabase.Content {
    get throws { try draft.withLock { $0 } ?? database.current }
  }

  // MARK: Reading

  func load(_ entities: [EntityDescription], into loader: StoreLoader) throws {
    try database.loadCount.withLock { $0 += 1 }
    let content = try content
    for entity in entities {
      for (number, record) in (content.records[entity.name] ?? [:]).sorted(by: { $0.key < $1.key }) {
        try add(record, number, entity, to: loader)
      }
    }
  }

  func load(_ references: [ReferenceID], of entity: EntityDescription, into loader: StoreLoader) throws {
    let (database, content) = (try database, try content)
    database.readCount.withLock { $0 += references.count }
    if let failure = database.readFailure.withLock({ $0.take() }) { throw failure }
    if database.readsTooMuch.withLock({ $0 }) { return try load([entity], into: loader) }
    for case .integer(let number) in references {
      if let record = content.records[entity.name]?[number] { try add(record, number, entity, to: loader) }
    }
  }

  private func add(
    _ record: RecordDatabase.Record,
    _ number: Int64,
    _ entity: EntityDescription,
    to loader: StoreLoader
  ) throws {
    if try database.unreadable.withLock({ $0.contains(number) }) {
      throw PersistenceError(.fileCorrupt, "The record cannot be read.", context: .init(entity: entity.name))
    }
    try loader.addNode(.integer(number), to: entity, version: record.version) { node in
      for (name, value) in record.values {
        try node.setValue(self.value(value, of: name, entity, loader), forKey: name)
      }
    }
  }

  private func value(
    _ value: RecordDatabase.Value,
    of name: String,
    _ entity: EntityDescription,
    _ loader: StoreLoader
  ) throws -> PropertyValue {
    switch value {
    case .attribute(let value): return value
    case .links(let links):
      let ids = try links.map { loader.objectID(.integer($0.number), of: try loader.entity(named: $0.entity)) }
      let isToMany = entity.property(named: name)?.relationship?.isToMany ?? false
      return isToMany ? .toMany(ids) : ids.first.map(PropertyValue.toOne) ?? .null
    }
  }

  func count(of entity: EntityDescription) throws -> Int { try content.records[entity.name]?.count ?? 0 }

  func newReferences(count: Int, for entity: EntityDescription) throws -> [ReferenceID] {
    let database = try database
    let count = database.givesTooFewReferences.withLock { $0 } ? count - 1 : count
    return database.takeNumbers(count).map { .integer($0) }
  }

  // MARK: Saving

  func saving<Result>(_ body: () throws -> Result) throws -> Result {
    let database = try database
    return try database.change { content in
      draft.withLock { $0 = content.withLock { $0 } }
      defer { draft.withLock { $0 = nil } }
      let result = try body()
      if var changed = draft.withLock({ $0 }) {
        // Numbers may have been given to new records meanwhile.
        changed.nextNumber = max(changed.nextNumber, database.current.nextNumber)
        content.withLock { $0 = changed }
      }
      return result
    }
  }

  func save(_ changes: ChangeSet, over contents: StoreContents) throws {
    for snapshot in changes.inserted {
      let id = snapshot.objectID
      let record = RecordDatabase.Record(
        version: snapshot.version,
        values: Self.values(Array(snapshot.values.enumerated()).map { ($0.offset, $0.element) }, id.entity)
      )
      set(record, id)
    }
    for update in changes.updated {
      let id = update.objectID
      guard var record = try content.records[id.entity.name]?[try Self.number(id)] else {
        throw PersistenceError(.saveConflict, "The record is gone.")
      }
      record.version = update.baseVersion + 1
      record.values.merge(Self.values(update.values.map { ($0.ordinal, $0.value) }, id.entity)) { $1 }
      set(record, id)
    }
    for deletion in changes.deleted { set(nil, deletion.objectID) }
  }

  func saveMetadata(_ metadata: StoreMetadata) throws {
    draft.withLock { $0?.metadata = metadata }
  }

  private func set(_ record: RecordDatabase.Record?, _ id: ManagedObjectID) {
    guard case .integer(let number) = id.reference else { return }
    put(record, number, of: id.entity)
  }

  /// Saves a record, or removes it.
  func put(_ record: RecordDatabase.Record?, _ number: Int64, of entity: EntityDescription) {
    draft.withLock { draft in
      guard var changed = draft.take() else { return }
      changed.records[entity.name, default: [:]][number] = record
      changed.noteChange(of: number, entity)
      // Records of another store come with their numbers, which no others get.
      changed.nextNumber = max(changed.nextNumber, number + 1)
      draft = changed
    }
  }

  private static func number(_ id: ManagedObjectID) throws -> Int64 {
    guard case .integer(let number) = id.reference else {
      throw PersistenceError(.capabilityMissing, "Records are called by numbers.")
    }
    return number
  }

  private static func values(
    _ values: [(Int, PropertyValue)],
    _ entity: EntityDescription
  ) -> [String: RecordDatabase.Value] {
    var result: [String: RecordDatabase.Value] = [:]
    for (ordinal, value) in values where !entity.traits[ordinal].isTransient {
      let isRelationship = entity.relationshipTargets[ordinal] != nil
      result[entity.properties[ordinal].name] = isRelationship ? .links(links(value)) : .attribute(value)
    }
    return result
  }

  private static func links(_ value: PropertyValue) -> [RecordDatabase.Link] {
    let ids: [ManagedObjectID]
    switch value {
    case .toOne(let id): ids = [id]
    case .toMany(let several): ids = several
    default: ids = []
    }
    return ids.compactMap { id in
      guard case .integer(let number) = id.reference else { return nil }
      return RecordDatabase.Link(entity: id.entity.name, number: number)
    }
  }
}
