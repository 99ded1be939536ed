import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore

@testable import HeartwoodSQLite

/// A store of notes with attributes of all types, in lists and with tags, whose rows can be changed by hand.
struct ReadingBench {
  let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench(Self.model())
  }

  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      .entity(
        "Note",
        .attribute("name", .string),
        .attribute("short", .integer16, optional: true),
        .attribute("medium", .integer32, optional: true),
        .attribute("long", .integer64, optional: true),
        .attribute("flag", .boolean, optional: true),
        .attribute("real", .double, optional: true),
        .attribute("single", .float, optional: true),
        .attribute("date", .date, optional: true),
        .attribute("decimal", .decimal, optional: true),
        .attribute("text", .string, optional: true),
        .attribute("uri", .uri, optional: true),
        .attribute("uuid", .uuid, optional: true),
        .attribute("data", .binary, optional: true),
        .attribute("transformed", .transformable, optional: true),
        .attribute(
          AttributeDescription(name: "large", type: .binary, isOptional: true, allowsExternalBinaryDataStorage: true)
        ),
        .toOne("list", "List", inverse: "notes"),
        .toMany("tags", "Tag", inverse: "notes"),
        .toOne("medium1", "Medium", inverse: nil)
      ),
      .entity(
        "List",
        .attribute("title", .string, optional: true),
        .toMany("notes", "Note", inverse: "list"),
        .toMany("papers", "Paper", inverse: nil)
      ),
      .entity("Tag", .attribute("name", .string, optional: true), .toMany("notes", "Note", inverse: "tags")),
      .entity("Paper", .attribute("name", .string, optional: true)),
      EntityDefinition(name: "Medium", isAbstract: true, properties: [.attribute("name", .string, optional: true)]),
      EntityDefinition(name: "Book", superentityName: "Medium", properties: []),
      EntityDefinition(name: "Film", superentityName: "Medium", properties: []),
    ])
  }

  /// Makes a store of `count` notes called `note 1` and so on, with these keys, and one record of each other entity, which all notes lead to.
  func makeNotes(_ count: Int) throws {
    let context = try bench.context()
    let list = try context.insert(entityName: "List")
    let tag = try context.insert(entityName: "Tag")
    let book = try context.insert(entityName: "Book")
    _ = try context.insert(entityName: "Film")
    let paper = try context.insert(entityName: "Paper")
    try list.setValue([paper], forKey: "papers")
    var notes: [ManagedObject] = []
    for number in 1...count {
      let note = try context.insert(entityName: "Note")
      try note.setValue("note \(number)", forKey: "name")
      try note.setValue(list, forKey: "list")
      try note.setValue(book, forKey: "medium1")
      notes.append(note)
    }
    try tag.setValue(notes, forKey: "notes")
    try context.save()
    context.persistentStoreCoordinator.close()
    // The keys are in the order of the numbers.
    try execute("UPDATE ZNOTE SET ZNAME = 'note ' || Z_PK")
  }

  func execute(_ sql: String) throws {
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.inDatabase { db in try db.execute(sql: sql) }
    try queue.close()
  }

  func query<Value>(_ body: (Database) throws -> Value) throws -> Value { try bench.query { try body($0) } }

  func number(of entity: String) throws -> Int {
    try query { try Int.fetchOne($0, sql: "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = ?", arguments: [entity]) } ?? 0
  }

  /// The objects of an entity that a predicate finds, in a context of their own.
  func fetch(_ entity: String, where format: String? = nil) throws -> [ManagedObject] {
    let predicate = try format.map { try FetchPredicate(format: $0) }
    return try bench.context().fetch(
      ObjectRequest(entityName: entity, where: predicate, sortedBy: [FetchSortDescriptor("name")])
    )
  }

  func names(where format: String? = nil) throws -> [String] {
    try fetch("Note", where: format).map { try $0.value(forKey: "name") as? String ?? "" }
  }

  func fetchError(_ entity: String, where format: String? = nil) -> PersistenceError? {
    bench.error {
      let predicate = try format.map { try FetchPredicate(format: $0) }
      _ = try bench.context().fetch(ObjectRequest(entityName: entity, where: predicate))
    }
  }

  private func withEngine<Value>(_ body: (any StoreEngine) throws -> Value) throws -> Value {
    let coordinator = try bench.coordinator()
    defer { coordinator.close() }
    return try body(try coordinator.addPersistentStore(type: .sqlite, at: bench.url()).engine)
  }

  /// Why all records cannot be read; nil if they can.
  var contentsError: PersistenceError? { bench.error { _ = try withEngine { try $0.contents() } } }

  func unreadable(limit: Int = 10) throws -> UnreadableValues {
    try withEngine { try $0.unreadableValues(limit: limit) }
  }
}
