import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

@Suite(
  "The records of files that Core Data made, from public repositories",
  .enabled(if: SQLiteCorpus.folder != nil, "set HEARTWOOD_CORPUS to the folder of the corpus")
)
struct CorpusStoreTests {
  /// A copy of a store, opened, and the model that it was opened with.
  private struct Opened {
    let scratch: ScratchFolder
    let path: String
    let coordinator: PersistentStoreCoordinator
    let store: PersistentStore

    init(_ corpus: SQLiteCorpus.Store) throws {
      let scratch = try ScratchFolder()
      let path = try SQLiteCorpus.copy(corpus, to: scratch)
      let model = try #require(try SQLiteCorpus.models(corpus, path: path).first)
      try self.init(path: path, model: model, scratch: scratch)
    }

    init(path: String, model: ManagedObjectModel, scratch: ScratchFolder) throws {
      self.scratch = scratch
      self.path = path
      coordinator = try SQLiteBench.coordinator(model)
      var options = StoreOptions()
      // Some stores were written with a version of the model that is not at hand.
      options[.ignoresModelVersion] = true
      store = try coordinator.addPersistentStore(type: .sqlite, at: URL(filePath: path), options: options)
    }

    func reopened() throws -> Opened {
      try Opened(path: path, model: coordinator.managedObjectModel, scratch: scratch)
    }

    /// Asks the file itself, beside the store.
    func query<Value>(_ body: (Database) throws -> Value) throws -> Value {
      try DatabaseQueue(path: path).read(body)
    }
  }

  // Files without a model of any kind are read by their metadata only.
  private static let openable = SQLiteCorpus.stores.filter { $0.model != nil || $0.modelcache }

  @Test("Counts and values are those of the rows", arguments: openable)
  func values(_ corpus: SQLiteCorpus.Store) throws {
    let opened = try Opened(corpus)
    let contents = try opened.store.engine.contents()
    let schema = try opened.query { db in
      try SQLiteSchema.existing(
        in: db,
        model: contents.model,
        entities: contents.entities,
        path: opened.path
      )
    }
    for placement in schema.entities.compactMap(\.self) where !placement.entity.isAbstract {
      let rows = try opened.query { db in
        try Row.fetchAll(
          db,
          sql: "SELECT * FROM \"\(placement.tableName)\" WHERE Z_ENT = \(placement.number) ORDER BY Z_PK"
        )
      }
      let nodes = Array(contents.nodes(of: placement.entity))
      #expect(nodes.map(\.reference) == rows.map { .integer($0["Z_PK"]) })
      #expect(try opened.store.engine.count(of: placement.entity) == rows.count)
      for (node, row) in zip(nodes, rows) { expect(node, row, placement) }
    }
  }

  private func expect(_ node: AtomicStoreCacheNode, _ row: Row, _ placement: EntityPlacement) {
    for (ordinal, property) in placement.entity.properties.enumerated() {
      let value = node[property.name]
      switch placement.properties[ordinal] {
      case .attribute(let place):
        #expect(Self.isSame(value, row[place.column], place.storage), "\(placement.entity.name).\(property.name)")
      case .toOne(let place):
        let key: Int64? = row[place.column]
        if case .toOne(let id) = value {
          #expect(id.reference == key.map { .integer($0) })
        } else {
          #expect(key == nil)
        }
      default: break
      }
    }
  }

  static func isSame(_ value: PropertyValue, _ stored: DatabaseValue, _ storage: AttributeStorage) -> Bool {
    switch value {
    case .null: stored.isNull
    case .integer(let number): Int64.fromDatabaseValue(stored) == number
    case .boolean(let flag): Int64.fromDatabaseValue(stored).map { $0 != 0 } == flag
    case .double(let number): Double.fromDatabaseValue(stored) == number
    case .float(let number): Double.fromDatabaseValue(stored).map(Float.init) == number
    case .date(let date): Double.fromDatabaseValue(stored) == date.timeIntervalSinceReferenceDate
    case .decimal(let number) where number.isNaN: String.fromDatabaseValue(stored) == "NaN"
    case .decimal(let number):
      Double.fromDatabaseValue(stored).map { "\($0)" }.flatMap { Decimal(string: $0) } == number
    case .string(let text): String.fromDatabaseValue(stored) == text
    case .uri(let uri): String.fromDatabaseValue(stored) == uri.absoluteString
    case .uuid(let uuid): Data.fromDatabaseValue(stored) == withUnsafeBytes(of: uuid.uuid) { Data($0) }
    case .binary(let data):
      if case .externalBlob = storage {
        Data.fromDatabaseValue(stored).map { $0.first == 2 || $0.dropFirst() == data } ?? false
      } else {
        Data.fromDatabaseValue(stored) == data
      }
    case .toOne, .toMany: false
    }
  }

  @Test("Relationships lead both ways", arguments: openable)
  func relationships(_ corpus: SQLiteCorpus.Store) throws {
    let contents = try Opened(corpus).store.engine.contents()
    for entity in contents.entities where !entity.isAbstract {
      for case .relationship(let relationship) in entity.properties {
        guard let inverse = relationship.inverseRelationshipName else { continue }
        for node in contents.nodes(of: entity) {
          for id in Self.ids(node[relationship.name]) {
            guard let other = try contents.node(id.reference, of: id.entity) else { continue }
            let back = Self.ids(other[inverse])
            #expect(back.contains(node.objectID), "\(entity.name).\(relationship.name) of \(node.reference.text)")
          }
        }
      }
    }
  }

  private static func ids(_ value: PropertyValue) -> [ManagedObjectID] {
    switch value {
    case .toOne(let id): [id]
    case .toMany(let ids): ids
    default: []
    }
  }

  @Test("A copy has the same records, whoever makes it", arguments: openable)
  func copying(_ corpus: SQLiteCorpus.Store) throws {
    let opened = try Opened(corpus)
    let url = opened.scratch.url.appending(path: "Second.sqlite")
    try opened.coordinator.copyPersistentStore(opened.store, to: url)
    let copy = try Opened(path: url.path, model: opened.coordinator.managedObjectModel, scratch: opened.scratch)
    let (before, after) = (try opened.store.engine.contents(), try copy.store.engine.contents())
    let difference = ContentsComparison.firstDifference(before, after)
    #expect(difference == nil, "\(difference.map { "\($0)" } ?? "")")
    #expect(try copy.query { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
    // What goes through memory is the same.
    let third = opened.scratch.url.appending(path: "Third.sqlite")
    try opened.coordinator.convert(opened.store, to: third)
    let moved = try Opened(path: third.path, model: opened.coordinator.managedObjectModel, scratch: opened.scratch)
    #expect(ContentsComparison.firstDifference(after, try moved.store.engine.contents()) == nil)
  }

  // MARK: Editing

  @Test("Edited files keep what Core Data relies on", arguments: openable)
  func editing(_ corpus: SQLiteCorpus.Store) throws {
    let opened = try Opened(corpus)
    let context = ManagedObjectContext(opened.coordinator)
    guard let entity = try Self.editableEntity(opened) else { return }
    let attribute = try #require(Self.text(entity))
    let request = FetchRequest<ManagedObject>(entityName: entity.name)
    let objects = try context.fetch(request).filter { $0.entity === entity }
    let object = try #require(objects.first)
    try object.setValue("edited \u{1F333}", forKey: attribute)
    let refusals = try opened.query { db in
      try SQLiteSchema.existing(
        in: db,
        model: opened.coordinator.managedObjectModel,
        entities: opened.store.entities,
        path: opened.path
      ).writeRefusals
    }
    let before = try opened.query { try FileState($0, entity, object.objectID) }
    if let refusal = refusals.first {
      let error = #expect(throws: PersistenceError.self) { try context.save() }
      #expect(error?.code == .storeReadOnly)
      #expect(error?.message.contains(refusal) == true)
      #expect(error?.message.contains("heartwood convert") == true, "it says what to do")
      #expect(try opened.query { try FileState($0, entity, object.objectID) } == before)
      return
    }
    do {
      try context.save()
    } catch let error as PersistenceError where error.code == .validationFailed {
      // The old record is not as its model wants it.
      return
    }
    let after = try opened.query { try FileState($0, entity, object.objectID) }
    #expect(after.version == before.version + 1)
    #expect(after.rowCount == before.rowCount)
    #expect(after.greatestKey >= after.greatestRow)
    #expect(after.integrity == "ok")
    #expect(after.metadata == before.metadata)
    let reopened = try opened.reopened()
    let again = ManagedObjectContext(reopened.coordinator)
    let same = try again.fetch(request).first { $0.objectID.uriRepresentation() == object.objectID.uriRepresentation() }
    #expect(try same?.value(forKey: attribute) as? String == "edited \u{1F333}")
  }

  /// What must hold of a file, beside its values.
  private struct FileState: Equatable {
    let version: Int64
    let rowCount: Int
    let greatestKey: Int64
    let greatestRow: Int64
    let integrity: String?
    let metadata: Data?

    init(_ db: Database, _ entity: EntityDescription, _ id: ManagedObjectID) throws {
      guard case .integer(let key) = id.reference else {
        throw PersistenceError(.fileMalformed, "The key is no number.")
      }
      let table = "Z" + entity.rootEntity.name.uppercased()
      version = try Int64.fetchOne(db, sql: "SELECT Z_OPT FROM \(table) WHERE Z_PK = ?", arguments: [key]) ?? 0
      rowCount = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table)") ?? 0
      greatestRow = try Int64.fetchOne(db, sql: "SELECT max(Z_PK) FROM \(table)") ?? 0
      greatestKey =
        try Int64.fetchOne(
          db,
          sql: "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = ?",
          arguments: [entity.rootEntity.name]
        ) ?? 0
      integrity = try String.fetchOne(db, sql: "PRAGMA integrity_check")
      metadata = try Data.fetchOne(db, sql: "SELECT Z_PLIST FROM Z_METADATA")
    }
  }

  private static func editableEntity(_ opened: Opened) throws -> EntityDescription? {
    try opened.store.entities.first { entity in
      try !entity.isAbstract && text(entity) != nil && opened.store.engine.count(of: entity) > 0
    }
  }

  /// A text attribute that may be anything.
  private static func text(_ entity: EntityDescription) -> String? {
    for (ordinal, property) in entity.properties.enumerated() {
      guard case .attribute(let attribute) = property, attribute.type == .string, !attribute.isTransient,
        attribute.derivationExpression == nil, !entity.uniquenessConstraints.joined().contains(ordinal)
      else { continue }
      return attribute.name
    }
    return nil
  }
}
