import Foundation
import GRDB
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting
import Testing

/// To-many relationships without an inverse: the row of an object says whom it belongs to.
@Suite("Relationships without an inverse")
struct OneWayRelationshipTests {
  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench(
      ManagedObjectModel(entities: [
        .entity(
          "Box",
          .attribute("name", .string, optional: true),
          .toMany("things", "Thing", inverse: nil),
          .toMany("row", "Thing", inverse: nil, ordered: true)
        ),
        .entity("Thing", .attribute("name", .string, optional: true)),
      ])
    )
  }

  private func coordinator() throws -> PersistentStoreCoordinator {
    let coordinator = try bench.coordinator()
    try coordinator.addPersistentStore(type: .sqlite, at: bench.url())
    return coordinator
  }

  /// How many things are in each box, in the order of the boxes' names, as the file has it.
  private func counts(_ relationship: String) throws -> [Int] {
    let coordinator = try coordinator()
    defer { coordinator.close() }
    let context = ManagedObjectContext(coordinator)
    let boxes = try context.fetch(
      FetchRequest<ManagedObject>(entityName: "Box", sortedBy: [FetchSortDescriptor("name")])
    )
    return try withExtendedLifetime(context) {
      try boxes.map { box in try (box.value(forKey: relationship) as? [ManagedObject])?.count ?? -1 }
    }
  }

  /// Two boxes, the first of which has a thing if `isInFirst`, and the second otherwise.
  private func fill(
    _ context: ManagedObjectContext,
    _ relationship: String,
    inFirst isInFirst: Bool
  ) throws -> (from: ManagedObject, to: ManagedObject, thing: ManagedObject) {
    let boxes = try ["a", "b"].map { name in
      let box = try context.insert(entityName: "Box")
      try box.setValue(name, forKey: "name")
      try context.save()
      return box
    }
    let thing = try context.insert(entityName: "Thing")
    let (from, to) = isInFirst ? (boxes[0], boxes[1]) : (boxes[1], boxes[0])
    try from.setValue([thing], forKey: relationship)
    try context.save()
    return (from, to, thing)
  }

  /// Gives the thing to the second box, as another program might that does not ask the first.
  private func takeElsewhere(_ relationship: String) throws {
    let queue = try DatabaseQueue(path: bench.url().path)
    let column = "Z1\(relationship.uppercased())"
    try queue.write { db in
      try db.execute(sql: "UPDATE ZTHING SET \(column) = (SELECT Z_PK FROM ZBOX WHERE ZNAME = 'b')")
    }
    try queue.close()
  }

  @Test("What goes from one owner to another in one save is the other's", arguments: ["things", "row"], [true, false])
  func moves(_ relationship: String, _ isInFirst: Bool) throws {
    let coordinator = try coordinator()
    let context = ManagedObjectContext(coordinator)
    let (from, to, thing) = try fill(context, relationship, inFirst: isInFirst)
    try from.setValue([ManagedObject](), forKey: relationship)
    try to.setValue([thing], forKey: relationship)
    try context.save()
    coordinator.close()
    #expect(try counts(relationship) == (isInFirst ? [0, 1] : [1, 0]))
  }

  @Test("Who lets go of what another owner has taken since takes nothing from that", arguments: ["things", "row"])
  func losesLate(_ relationship: String) throws {
    let coordinator = try coordinator()
    let (context, late) = (ManagedObjectContext(coordinator), ManagedObjectContext(coordinator))
    let (from, _, _) = try fill(context, relationship, inFirst: true)
    let theirs = try late.existingObject(with: from.objectID)
    _ = try theirs.value(forKey: relationship)
    try takeElsewhere(relationship)
    try theirs.setValue([ManagedObject](), forKey: relationship)
    try late.save()
    coordinator.close()
    #expect(try counts(relationship) == [0, 1])
  }

  @Test("What has an owner is refused to another one, and stays there", arguments: ["things", "row"])
  func hasOneOwner(_ relationship: String) throws {
    let coordinator = try coordinator()
    let context = ManagedObjectContext(coordinator)
    let (_, to, thing) = try fill(context, relationship, inFirst: true)
    try to.setValue([thing], forKey: relationship)
    let error = try #require(throws: PersistenceError.self) { try context.save() }
    #expect(error.code == .valueUnsupported)
    #expect((error.context.entity, error.context.property) == ("Box", relationship))
    #expect(error.message.hasPrefix("The Thing \(thing.objectID.reference.text) is in this relationship of several"))
    coordinator.close()
    #expect(try counts(relationship) == [1, 0])
  }

  @Test("What two owners get in one save is refused", arguments: ["things", "row"])
  func getsOneOwner(_ relationship: String) throws {
    let coordinator = try coordinator()
    let context = ManagedObjectContext(coordinator)
    let thing = try context.insert(entityName: "Thing")
    for _ in 0..<2 { try context.insert(entityName: "Box").setValue([thing], forKey: relationship) }
    let error = #expect(throws: PersistenceError.self) { try context.save() }
    #expect(error?.code == .valueUnsupported)
    coordinator.close()
    #expect(try counts(relationship) == [])
  }

  @Test("What had an owner that is gone is free", arguments: ["things", "row"])
  func outlivesItsOwner(_ relationship: String) throws {
    let coordinator = try coordinator()
    let context = ManagedObjectContext(coordinator)
    let (from, to, thing) = try fill(context, relationship, inFirst: true)
    context.delete(from)
    try context.save()
    try to.setValue([thing], forKey: relationship)
    try context.save()
    coordinator.close()
    #expect(try counts(relationship) == [1])
  }

  @Test("A store whose records have several owners is not made one of SQLite", arguments: ["things", "row"])
  func refusesOthersRecords(_ relationship: String) throws {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: bench.model,
      registry: StoreRegistry([InMemoryStore.self, SQLiteStore.self])
    )
    let store = try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let thing = try context.insert(entityName: "Thing")
    for _ in 0..<2 { try context.insert(entityName: "Box").setValue([thing], forKey: relationship) }
    try context.save()
    let url = bench.url()
    let error = try #require(throws: PersistenceError.self) {
      try coordinator.convert(store, to: url, type: .sqlite)
    }
    #expect(error.code == .valueUnsupported)
    #expect((error.context.entity, error.context.property) == ("Box", relationship))
    #expect(error.message.contains(thing.objectID.reference.text))
    #expect(try bench.scratch.names().isEmpty)
  }
}
