import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting
import Testing

/// References that go through a store that numbers its records, kept in an attribute.
@Suite struct KeptReferencesTests {
  private let scratch: ScratchFolder
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    scratch = try ScratchFolder()
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Person",
        .attribute("name", .string),
        .attribute("uuid", .uuid, optional: true),
        .attribute("key", .string, optional: true),
        .attribute("short", .integer16, optional: true),
        .toMany("friends", "Person", inverse: "admirer"),
        .toOne("admirer", "Person", inverse: "friends")
      ),
      .entity("Child", parent: "Person"),
      .entity("Place", .attribute("name", .string)),
    ])
    coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: StoreRegistry([BinaryStore.self, XMLStore.self, InMemoryStore.self, SQLiteStore.self])
    )
  }

  private func url(_ name: String) -> URL { scratch.url.appending(path: name) }

  /// A store with Ann, whose friends are Bob and the child Cat.
  private func store(_ type: StoreType) throws -> PersistentStore {
    let store = try coordinator.addPersistentStore(type: type, at: url("first"))
    let context = ManagedObjectContext(coordinator)
    let bob = try context.make("Person", ["name": "Bob"])
    let cat = try context.make("Child", ["name": "Cat"])
    let ann = try context.make("Person", ["name": "Ann"])
    for friend in [bob, cat] { try friend.setValue(ann, forKey: "admirer") }
    _ = try context.make("Place", ["name": "Here"])
    try context.save()
    return store
  }

  private func options(_ attribute: String) -> StoreOptions {
    var options = StoreOptions()
    options[.referenceAttribute] = attribute
    return options
  }

  /// The references of people by their names, and what the attribute has.
  private func people(_ attribute: String) throws -> (references: [String: ReferenceID], values: [String: String]) {
    let context = ManagedObjectContext(coordinator)
    var references: [String: ReferenceID] = [:]
    var values: [String: String] = [:]
    for person in try context.fetch(entityName: "Person") {
      let name = try #require(try person.value(forKey: "name") as? String)
      references[name] = person.objectID.reference
      values[name] = try person.value(forKey: attribute).map { "\($0)" }
      let admirer = try person.value(forKey: "admirer") as? ManagedObject
      #expect(try admirer?.value(forKey: "name") as? String == (name == "Ann" ? nil : "Ann"))
    }
    return (references, values)
  }

  @Test(arguments: [(StoreType.binary, "uuid"), (.binary, "key"), (.xml, "key"), (.xml, "short"), (.inMemory, "uuid")])
  func theyComeBackFromNumbers(_ type: StoreType, _ attribute: String) throws {
    let first = type == .inMemory ? try store(.binary) : try store(type)
    let original = try people(attribute)
    #expect(original.values.isEmpty && original.references.count == 3)
    let numbered = try coordinator.convert(first, to: url("numbers.sqlite"), type: .sqlite, options: options(attribute))
    let inBetween = try people(attribute)
    #expect(inBetween.values == original.references.mapValues(\.text))
    for reference in inBetween.references.values { #expect(reference.kind == .integer) }
    let place = type == .inMemory ? nil : url("last")
    try coordinator.convert(numbered, to: place, type: type, options: options(attribute))
    #expect(try people(attribute).references == original.references)
  }

  /// Objects of contexts, and changes that are not saved, follow to the records that are called otherwise.
  @Test func contextsFollow() throws {
    let first = try store(.binary)
    let original = try people("uuid").references
    let numbered = try coordinator.convert(first, to: url("numbers.sqlite"), type: .sqlite, options: options("uuid"))
    let context = ManagedObjectContext(coordinator)
    let bob = try #require(
      try context.fetch(entityName: "Person").first { try $0.value(forKey: "name") as? String == "Bob" }
    )
    try bob.setValue("Bobby", forKey: "name")
    try coordinator.convert(numbered, to: url("last"), type: .binary, options: options("uuid"))
    #expect(try context.fetch(entityName: "Person").count == 3)
    #expect(bob.objectID.reference == original["Bob"])
    try context.save()
    let names = try ManagedObjectContext(coordinator).fetch(entityName: "Person").map {
      try $0.value(forKey: "name") as? String
    }
    #expect(Set(names) == ["Ann", "Bobby", "Cat"])
  }

  @Test func whatHasAnotherValueIsRefusedAndNothingIsWritten() throws {
    let first = try store(.binary)
    let context = ManagedObjectContext(coordinator)
    for person in try context.fetch(entityName: "Person") { try person.setValue("mine", forKey: "key") }
    try context.save()
    let error = #expect(throws: PersistenceError.self) {
      try coordinator.convert(first, to: url("numbers.sqlite"), type: .sqlite, options: options("key"))
    }
    #expect(error?.code == .valueUnsupported && error?.context.property == "key")
    #expect(error?.context.objectIDs.count == 1)
    #expect(!FileManager.default.fileExists(atPath: url("numbers.sqlite").path))
  }

  @Test func aReferenceThatTheAttributeCannotHoldIsRefused() throws {
    let first = try store(.binary)
    let error = #expect(throws: PersistenceError.self) {
      try coordinator.convert(first, to: url("numbers.sqlite"), type: .sqlite, options: options("short"))
    }
    #expect(error?.code == .valueUnsupported && error?.message.contains("cannot hold") == true)
  }

  @Test func twoRecordsAreNotCalledAlike() throws {
    let first = try store(.binary)
    let numbered = try coordinator.convert(first, to: url("numbers.sqlite"), type: .sqlite)
    let context = ManagedObjectContext(coordinator)
    for person in try context.fetch(entityName: "Person") { try person.setValue("same", forKey: "key") }
    try context.save()
    let error = #expect(throws: PersistenceError.self) {
      try coordinator.convert(numbered, to: url("last"), type: .binary, options: options("key"))
    }
    #expect(error?.code == .duplicateReference && error?.context.objectIDs.count == 2)
    #expect(!FileManager.default.fileExists(atPath: url("last").path))
  }

  @Test(arguments: ["nothing", "friends", "name "])
  func anAttributeThatNoEntityHasIsRefused(_ name: String) throws {
    let first = try store(.binary)
    let error = #expect(throws: PersistenceError.self) {
      try coordinator.convert(first, to: url("numbers.sqlite"), type: .sqlite, options: options(name))
    }
    #expect(error?.code == .propertyUnknown)
  }

  /// A history calls records by the references that they had.
  @Test func aHistoryIsLeftOutOrTheReferencesStay() throws {
    var keeping = StoreOptions()
    keeping[.tracksPersistentHistory] = true
    let first = try coordinator.addPersistentStore(type: .binary, at: url("first"), options: keeping)
    let context = ManagedObjectContext(coordinator)
    _ = try context.make("Person", ["name": "Ann", "key": "a"])
    try context.save()
    let error = #expect(throws: PersistenceError.self) {
      try coordinator.convert(first, to: url("last"), type: .binary, options: options("key"))
    }
    #expect(error?.code == .capabilityMissing && error?.message.contains("history") == true)
    var without = options("key")
    without[.tracksPersistentHistory] = false
    try coordinator.convert(first, to: url("last"), type: .binary, options: without)
    #expect(try people("key").references == ["Ann": .string("a")])
  }
}
