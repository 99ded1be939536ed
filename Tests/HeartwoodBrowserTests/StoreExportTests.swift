import Foundation
import Heartwood
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodBrowser

/// An export as a store opens as any other, and has what was found.
struct StoreExportTests {
  private static let written: [StoreType] = [.binary, .xml, .propertyList, .sqlite]

  private func question(_ type: StoreType, _ condition: String, entity: String = "Item") -> String {
    #"{"storeType": "\#(type.rawValue)", "records": {"entity": "\#(entity)", "condition": "\#(condition)"}}"#
  }

  /// Opens the content of a response as a store.
  private func open(_ response: BrowserResponse, _ type: StoreType, _ bench: BrowserBench, in folder: URL) async throws
    -> ManagedObjectContext
  {
    #expect(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
    let url = folder.appending(path: "export")
    try await response.content().write(to: url)
    let registry = try StoreRegistry(StoreRegistry.shippedStoreClasses + [SQLiteStore.self])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: bench.coordinator.managedObjectModel,
      registry: registry
    )
    try coordinator.addPersistentStore(type: type, at: url)
    return ManagedObjectContext(coordinator)
  }

  @Test(arguments: BrowserBench.types, written)
  func theFoundRecordsAndWhatTheyNeedAreWritten(_ source: StoreType?, _ type: StoreType) async throws {
    let bench = try BrowserBench(source)
    let scratch = try ScratchFolder()
    let response = await bench.ask("POST", "api/stores/0/export", [:], question(type, "order < 3"))
    let context = try await open(response, type, bench, in: scratch.url)
    let items = try context.fetch(
      FetchRequest<ManagedObject>(entityName: "Item", sortedBy: [FetchSortDescriptor("order")])
    )
    #expect(try items.map { try $0.propertyValue(forKey: "memo") } == [.string("item 0"), .string("item 2")])
    #expect(try items[0].propertyValue(forKey: "picture") == .binary(BrowserBench.picture))
    // The list that they refer to has only these items, and the note, which refers to one of them, is not there.
    let list = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "List")).first)
    #expect(try items.allSatisfy { try $0.propertyValue(forKey: "list") == .toOne(list.objectID) })
    guard case .toMany(let ids) = try list.propertyValue(forKey: "items") else {
      Issue.record("The list has no items.")
      return
    }
    #expect(Set(ids) == Set(items.map(\.objectID)))
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Note")) == 0)
  }

  @Test(arguments: BrowserBench.types)
  func destinationsAreFollowedFromOneToTheNext(_ source: StoreType?) async throws {
    let bench = try BrowserBench(source)
    let scratch = try ScratchFolder()
    let response = await bench.ask(
      "POST",
      "api/stores/0/export",
      [:],
      question(.binary, "TRUEPREDICATE", entity: "Note")
    )
    let context = try await open(response, .binary, bench, in: scratch.url)
    let counts = try ["Note", "Item", "List"].map { name in
      try context.count(for: FetchRequest<ManagedObject>(entityName: name))
    }
    #expect(counts == [1, 1, 1])
    let identifier = context.persistentStoreCoordinator.persistentStores.first?.metadata.identifier
    #expect(identifier != bench.coordinator.persistentStores.first?.metadata.identifier)
  }

  /// Two people are the boss of each other, and of a third.
  @Test func aPartHasNoLinksToWhatIsLeftOut() throws {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Person",
        .attribute("name", .string),
        .toOne("boss", "Person", inverse: "reports"),
        .toMany("reports", "Person", inverse: "boss"),
        .toMany("friends", "Person", inverse: "fans", ordered: true),
        .toMany("fans", "Person", inverse: "friends")
      )
    ])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let people = try ["a", "b", "c"].map { name in
      let person = try context.insert(entityName: "Person")
      try person.setPropertyValue(.string(name), forKey: "name")
      return person
    }
    for (person, boss) in zip(people, [1, 0, 0]) {
      try person.setPropertyValue(.toOne(people[boss].objectID), forKey: "boss")
    }
    try people[0].setPropertyValue(.toMany([people[2].objectID, people[1].objectID]), forKey: "friends")
    try people[2].setPropertyValue(.toMany([people[0].objectID]), forKey: "friends")
    try context.save()
    let ids = people.map(\.objectID)
    let entity = model.entities[0]
    let part = try store.engine.contents().excerpt(of: [entity.ordinal: [ids[0].reference, .integer(999)]])
    let nodes = Array(part.nodes(of: entity))
    #expect(nodes.map { $0["name"] } == [.string("a"), .string("b")])
    #expect(nodes.map { $0["boss"] } == [.toOne(ids[1]), .toOne(ids[0])])
    #expect(nodes.map { $0["reports"] } == [.toMany([ids[1]]), .toMany([ids[0]])])
    #expect(nodes.map { $0["friends"] } == [.toMany([ids[1]]), .toMany([])])
    #expect(nodes.map { $0["fans"] } == [.toMany([]), .toMany([ids[0]])])
    let cancelled = FetchProgress()
    cancelled.cancel()
    #expect(throws: CancellationError.self) {
      try store.engine.contents().excerpt(of: [entity.ordinal: [ids[0].reference]], progress: cancelled)
    }
  }

  @Test func nothingStaysInTheFolderOfTemporaryFiles() async throws {
    func folders() throws -> Set<String> {
      let names = try FileManager.default.contentsOfDirectory(atPath: FileManager.default.temporaryDirectory.path)
      return Set(names.filter { $0.hasPrefix("heartwood-export-") })
    }
    let bench = try BrowserBench(.binary)
    let before = try folders()
    let response = await bench.ask("POST", "api/stores/0/export", [:], question(.sqlite, "order < 3"))
    #expect(try await response.content().starts(with: Data("SQLite format 3".utf8)))
    // Other tests may export at the same moment, but for less than this.
    for _ in 0..<200 where try !folders().subtracting(before).isEmpty { try await Task.sleep(for: .milliseconds(20)) }
    #expect(try folders().subtracting(before).isEmpty)
  }

  @Test func whatCannotBeWrittenIsRefused() async throws {
    let bench = try BrowserBench(.binary)
    func status(_ type: String) async -> Int {
      await bench.ask("POST", "api/stores/0/export", [:], question(StoreType(rawValue: type), "order < 3")).status
    }
    // A type without files, one that is only read, and one that is not known.
    #expect(await status(StoreType.inMemory.rawValue) == 400)
    #expect(await status("nothing") == 400)
    // CSV has no place for three entities.
    let csv = await bench.ask("POST", "api/stores/0/export", [:], question(.csv, "order < 3"))
    let message = try BrowserBench.object(csv)["error"] as? String ?? ""
    #expect(csv.status == 400 && message.contains("entit") && !message.contains("heartwood-export"), "\(message)")
    let neither = await bench.ask("POST", "api/stores/0/export", [:], #"{"records": {"entity": "Item"}}"#)
    #expect(neither.status == 400)
    var limits = BrowserLimits()
    // The list is the third record.
    limits.exportedRecordCount = 2
    let browser = StoreBrowser([BrowsedStore("Shop", bench.coordinator)], limits: limits)
    let refused = await browser.respond(
      to: BrowserRequest(
        method: "POST",
        path: "api/stores/0/export",
        headers: [.init("Content-Type", "application/json")],
        body: Data(question(.binary, "order < 3").utf8)
      )
    )
    #expect(refused.status == 413)
  }

  /// SQLite keeps large data beside its file if the model allows that, and a download has no place for it.
  @Test func aStoreOfSeveralFilesIsRefused() async throws {
    let picture = AttributeDescription(name: "picture", type: .binary, allowsExternalBinaryDataStorage: true)
    let model = try ManagedObjectModel(entities: [.entity("Item", .attribute(picture))])
    let registry = try StoreRegistry(StoreRegistry.shippedStoreClasses + [SQLiteStore.self])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let context = ManagedObjectContext(coordinator)
    let item = try context.insert(entityName: "Item")
    let browser = StoreBrowser([BrowsedStore("Items", coordinator)])
    func export(_ type: StoreType, length: Int) async throws -> BrowserResponse {
      try item.setPropertyValue(.binary(Data(count: length)), forKey: "picture")
      try context.save()
      return await browser.respond(
        to: BrowserRequest(
          method: "POST",
          path: "api/stores/0/export",
          headers: [.init("Content-Type", "application/json")],
          body: Data(question(type, "TRUEPREDICATE").utf8)
        )
      )
    }
    #expect(try await export(.sqlite, length: 1000).status == 200)
    let refused = try await export(.sqlite, length: 1_000_000)
    #expect(refused.status == 400)
    #expect((try BrowserBench.object(refused)["error"] as? String)?.contains("further files") == true)
    #expect(try await export(.binary, length: 1_000_000).status == 200)
  }

  @Test func thePageLearnsWhichTypesThereAre() async throws {
    let stores = try #require(try await BrowserBench(nil).get("api/stores")[""] as? [[String: Any]])
    let types = try #require(stores[0]["exports"] as? [[String: Any]]).compactMap { $0["type"] as? String }
    for type in Self.written + [.csv] { #expect(types.contains(type.rawValue)) }
    #expect(!types.contains(StoreType.inMemory.rawValue))
  }
}
