import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// Batches over an entity and those below it, whose conditions look at records that the batch changes itself.
@Suite struct BatchOverEntitiesTests {
  private let bench: SQLiteBench
  /// One that has read nothing.
  private let coordinator: PersistentStoreCoordinator
  private let store: PersistentStore

  /// Four items, each but the first with a parent: the second leads to the first, and the others to the second.
  init() throws {
    bench = try SQLiteBench(
      ManagedObjectModel(entities: [
        .entity(
          "Item",
          .attribute("number", .integer32),
          .attribute("value", .integer32),
          .toOne("parent", "Item", inverse: nil)
        ),
        EntityDefinition(name: "BigItem", superentityName: "Item"),
      ])
    )
    let filling = try bench.context()
    try Self.fill(filling)
    filling.persistentStoreCoordinator.close()
    coordinator = try bench.coordinator()
    store = try coordinator.addPersistentStore(type: .sqlite, at: bench.url())
  }

  private static func fill(_ context: ManagedObjectContext) throws {
    var items: [ManagedObject] = []
    for (number, value) in [10, 10, 10, 1].enumerated() {
      let item = try context.insert(entityName: number < 2 ? "Item" : "BigItem")
      try item.setValue(number, forKey: "number")
      try item.setValue(value, forKey: "value")
      if number > 0 { try item.setValue(items[number == 1 ? 0 : 1], forKey: "parent") }
      items.append(item)
    }
    try context.save()
  }

  private func values() throws -> [Int?] {
    let request = FetchRequest<ManagedObject>(entityName: "Item", sortedBy: [FetchSortDescriptor("number")])
    return try ManagedObjectContext(coordinator).fetch(request).map { try $0.value(forKey: "value") as? Int }
  }

  private func update(_ predicate: String) throws -> Int {
    let request = BatchUpdateRequest(
      entityName: "Item",
      where: try FetchPredicate(format: predicate),
      propertiesToUpdate: ["value": 0]
    )
    return try coordinator.execute(request).count
  }

  @Test func recordsAreChosenBeforeAnyOfThemChanges() throws {
    #expect(try update("parent.value > 5") == 3)
    #expect(try values() == [10, 0, 0, 0])
  }

  @Test func recordsAreChosenBeforeAnyOfThemGoes() throws {
    let request = BatchDeleteRequest(entityName: "Item", where: try FetchPredicate(format: "parent.value > 5"))
    #expect(try coordinator.execute(request).count == 3)
    #expect(try values() == [10])
  }

  @Test(arguments: ["parent.number >= 0", "parent != nil", "value > 0 AND number > 0"])
  func whatDoesNotChangeIsLookedAtInSQL(_ predicate: String) throws {
    #expect(try update(predicate) == 3)
    #expect(store.recordByteCount == 0, "no record was read")
  }
}
