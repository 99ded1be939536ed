import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// Requests that name objects of one store and are put to another one too, in which other objects have the same keys.
@Suite struct OtherStoreTests {
  private let bench: SQLiteBench
  /// One that has read nothing.
  private let coordinator: PersistentStoreCoordinator
  /// The ids of an item and of one whose parent it is, in each of two stores.
  private let left: [ManagedObjectID]
  private let right: [ManagedObjectID]

  init() throws {
    bench = try SQLiteBench(
      ManagedObjectModel(entities: [
        .entity("Item", .attribute("name", .string), .toOne("parent", "Item", inverse: nil))
      ])
    )
    let urls = [bench.url("Left.sqlite"), bench.url("Right.sqlite")]
    let filling = try bench.coordinator()
    let ids = try urls.map { url in
      try Self.fill(try filling.addPersistentStore(type: .sqlite, at: url), filling)
    }
    filling.close()
    coordinator = try bench.coordinator()
    for url in urls { try coordinator.addPersistentStore(type: .sqlite, at: url) }
    left = ids[0]
    right = ids[1]
    try #require(left.map(\.reference) == right.map(\.reference), "the keys are the same")
  }

  private static func fill(
    _ store: PersistentStore,
    _ coordinator: PersistentStoreCoordinator
  ) throws -> [ManagedObjectID] {
    let name = coordinator.persistentStores.count == 1 ? "Left" : "Right"
    let context = ManagedObjectContext(coordinator)
    var items: [ManagedObject] = []
    for number in 0..<2 {
      let item = try context.insert(entityName: "Item")
      try context.assign(item, to: store)
      try item.setValue("\(name) \(number)", forKey: "name")
      try item.setValue(items.first, forKey: "parent")
      items.append(item)
      try context.save()
    }
    return items.map(\.objectID)
  }

  private func names(_ predicate: FetchPredicate? = nil) throws -> Set<String> {
    let found = try ManagedObjectContext(coordinator).fetch(
      FetchRequest<ManagedObject>(entityName: "Item", where: predicate)
    )
    return Set(try found.compactMap { try $0.value(forKey: "name") as? String })
  }

  @Test func aFetchFindsTheObjectThatIsNamed() throws {
    #expect(try names(FetchPredicate(format: "SELF == %@", right[0])) == ["Right 0"])
    #expect(try names(FetchPredicate(format: "SELF != %@", right[0])) == ["Left 0", "Left 1", "Right 1"])
    #expect(try names(FetchPredicate(format: "SELF IN {%@, %@}", right[0], left[1])) == ["Right 0", "Left 1"])
    #expect(try names(FetchPredicate(format: "parent == %@", right[0])) == ["Right 1"])
    #expect(try names(FetchPredicate(format: "parent != %@", right[0])) == ["Left 0", "Left 1", "Right 0"])
    #expect(try names(FetchPredicate(format: "NOT parent IN {%@}", right[0])) == ["Left 0", "Left 1", "Right 0"])
  }

  @Test func aBatchDeletesTheObjectsThatAreNamed() throws {
    #expect(try coordinator.execute(BatchDeleteRequest(objectIDs: [right[1]])).count == 1)
    #expect(try names() == ["Left 0", "Left 1", "Right 0"])
  }

  @Test func aBatchUpdatesTheObjectsThatAreNamed() throws {
    let request = BatchUpdateRequest(
      entityName: "Item",
      where: try FetchPredicate(format: "parent == %@", right[0]),
      propertiesToUpdate: ["name": "new"]
    )
    #expect(try coordinator.execute(request).count == 1)
    #expect(try names() == ["Left 0", "Left 1", "Right 0", "new"])
  }
}
