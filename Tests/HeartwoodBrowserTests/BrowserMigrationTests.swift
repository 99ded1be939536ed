import Foundation
import Heartwood
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodTesting
import Testing

@testable import HeartwoodBrowser

/// A page shows what a migration would do, and does nothing.
struct BrowserMigrationTests {
  private static func model(_ properties: PropertyDescription..., others: EntityDefinition...) throws
    -> ManagedObjectModel
  {
    try ManagedObjectModel(entities: [EntityDefinition(name: "Item", properties: properties)] + others)
  }

  private static let memo = PropertyDescription.attribute("memo", .string, optional: true)

  /// What the page is told of a store with three items, of which one has no memo, and two notes.
  private func report(_ type: StoreType, to newer: ManagedObjectModel, status: Int = 200) async throws
    -> [String: Any]
  {
    let scratch = try ScratchFolder()
    let url = scratch.url.appending(path: "store")
    let registry = try StoreRegistry(StoreRegistry.shippedStoreClasses + [SQLiteStore.self])
    let model = try Self.model(
      Self.memo,
      .attribute("count", .integer64),
      others: .entity("Note", .attribute("text", .string, optional: true))
    )
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
    try coordinator.addPersistentStore(type: type, at: url)
    let context = ManagedObjectContext(coordinator)
    for number in 0..<3 {
      let item = try context.insert(entityName: "Item")
      if number > 0 { try item.setPropertyValue(.string("memo \(number)"), forKey: "memo") }
      try item.setPropertyValue(.integer(Int64(number)), forKey: "count")
      if number > 0 { try context.insert(entityName: "Note").setPropertyValue(.string("note"), forKey: "text") }
    }
    try context.save()
    let store = BrowsedStore(
      "Items",
      coordinator,
      migration: {
        try PersistentStoreCoordinator(managedObjectModel: newer, registry: registry)
          .migration(ofStoreAt: url, type: type)
      }
    )
    let browser = StoreBrowser([store])
    let overview = try BrowserBench.object(await browser.respond(to: .init(method: "GET", path: "api/stores")))
    #expect((overview[""] as? [[String: Any]])?.first?["hasMigration"] as? Bool == true)
    let response = await browser.respond(to: .init(method: "GET", path: "api/stores/0/migration"))
    #expect(response.status == status)
    #expect(try ManagedObjectContext(coordinator).count(for: FetchRequest<ManagedObject>(entityName: "Note")) == 2)
    return try BrowserBench.object(response)
  }

  @Test(arguments: [StoreType.binary, .sqlite, .xml])
  func whatBecomesOfRecordsIsTold(_ type: StoreType) async throws {
    let newer = try Self.model(
      .attribute("text", .string, optional: true, renamedFrom: "memo"),
      .attribute("count", .integer64),
      .attribute("isDone", .boolean, default: .boolean(false))
    )
    let report = try await report(type, to: newer)
    #expect(report["isNeeded"] as? Bool == true && report["isPossible"] as? Bool == false)
    let entities = try #require(report["entities"] as? [[String: Any]])
    let note = try #require(entities.first { $0["source"] as? String == "Note" })
    #expect(note["destination"] is NSNull && note["sourceCount"] as? Int == 2 && note["destinationCount"] as? Int == 0)
    let item = try #require(entities.first { $0["source"] as? String == "Item" })
    #expect(item["type"] as? String == "transform" && item["destinationCount"] as? Int == 3)
    let lost = try #require(report["findings"] as? [[String: Any]]).filter { $0["isObstacle"] as? Bool == true }
    #expect(lost.map { $0["kind"] as? String } == ["removedRecords"] && lost[0]["entity"] as? String == "Note")
    #expect((lost[0]["text"] as? String)?.contains("2 records left out") == true)
    let changes = try #require(report["changes"] as? [[String: Any]])
    #expect(changes.contains { $0["kind"] as? String == "renamed" && $0["path"] as? String == "Item.text" })
  }

  @Test func whatCannotBeInferredIsAnErrorWithTheReason() async throws {
    let newer = try Self.model(
      .attribute("memo", .string),
      .attribute("count", .integer64),
      others: .entity("Note", .attribute("text", .string, optional: true))
    )
    let report = try await report(.binary, to: newer, status: 422)
    #expect((report["error"] as? String)?.contains("memo") == true, "\(report)")
  }

  @Test func aStoreWithoutANewerModelHasNoSuchPage() async throws {
    let bench = try BrowserBench(.binary)
    #expect(await bench.ask("GET", "api/stores/0/migration").status == 404)
  }

  @Test func aStoreOfThatVersionNeedsNone() async throws {
    let same = try Self.model(
      Self.memo,
      .attribute("count", .integer64),
      others: .entity("Note", .attribute("text", .string, optional: true))
    )
    #expect(try await report(.binary, to: same)["isNeeded"] as? Bool == false)
  }
}
