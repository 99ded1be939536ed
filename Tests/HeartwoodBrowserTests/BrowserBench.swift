import Foundation
import Heartwood
import HeartwoodSQLite
import HeartwoodTesting
import Testing

@testable import HeartwoodBrowser

/// A store with some records, and what a browser answers of it.
final class BrowserBench {
  static let types: [StoreType?] = [.binary, .xml, .propertyList, .sqlite, nil]

  let browser: StoreBrowser
  let coordinator: PersistentStoreCoordinator
  private let scratch: ScratchFolder
  private let open: @Sendable () throws -> PersistentStoreCoordinator

  /// A list of 25 items with texts, numbers and a picture, and a note that leads to one of them.
  ///
  /// - Parameter type: the type of the store; nil means in memory.
  init(_ type: StoreType?, tracksHistory: Bool = false) throws {
    let scratch = try ScratchFolder()
    self.scratch = scratch
    let model = try ManagedObjectModel(entities: [
      .entity("List", .attribute("name", .string), .toMany("items", "Item", inverse: "list")),
      .entity(
        "Item",
        .attribute("memo", .string, optional: true),
        .attribute("order", .integer64),
        .attribute("price", .decimal, optional: true),
        .attribute("isDone", .boolean),
        .attribute("date", .date, optional: true),
        .attribute("picture", .binary, optional: true),
        .toOne("list", "List", inverse: "items")
      ),
      .entity("Note", .attribute("text", .string, optional: true), .toOne("about", "Item", inverse: nil)),
    ])
    let registry = try StoreRegistry(StoreRegistry.shippedStoreClasses + [SQLiteStore.self])
    let open: @Sendable () throws -> PersistentStoreCoordinator = {
      let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
      var options = StoreOptions()
      options[.tracksPersistentHistory] = tracksHistory
      let url = type.map { _ in scratch.url.appending(path: "store") }
      try coordinator.addPersistentStore(type: type ?? .inMemory, at: url, options: options)
      return coordinator
    }
    self.open = open
    coordinator = try open()
    browser = StoreBrowser([BrowsedStore("Shop <&\"'>", coordinator, reopen: open)])
    try fill()
  }

  static let hostileText = "</script><img src=x onerror=alert(1)>\u{0}\u{1}\"'\\\u{2028}\u{202E}"
  static let picture = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3])

  private func fill() throws {
    let context = ManagedObjectContext(coordinator)
    let list = try context.insert(entityName: "List")
    try list.setPropertyValue(.string("Groceries"), forKey: "name")
    var items: [ManagedObject] = []
    for number in 0..<25 {
      let item = try context.insert(entityName: "Item")
      try item.setPropertyValue(
        .string(number == 3 ? "long " + String(repeating: "x", count: 500) : "item \(number)"),
        forKey: "memo"
      )
      try item.setPropertyValue(.integer(Int64(number)), forKey: "order")
      try item.setPropertyValue(.boolean(number.isMultiple(of: 2)), forKey: "isDone")
      try item.setPropertyValue(.toOne(list.objectID), forKey: "list")
      items.append(item)
    }
    try items[0].setPropertyValue(.binary(Self.picture), forKey: "picture")
    try items[0].setPropertyValue(.decimal(Decimal(string: "1.50") ?? 0), forKey: "price")
    try items[0].setPropertyValue(.date(Date(timeIntervalSinceReferenceDate: 0)), forKey: "date")
    try items[1].setPropertyValue(.binary(Data("<svg onload='alert(1)'/>".utf8)), forKey: "picture")
    try items[1].setPropertyValue(.integer(.max), forKey: "order")
    let note = try context.insert(entityName: "Note")
    // XML has no place for some characters.
    let text = coordinator.persistentStores.first?.type == .xml ? "</script>" : Self.hostileText
    try note.setPropertyValue(.string(text), forKey: "text")
    try note.setPropertyValue(.toOne(items[0].objectID), forKey: "about")
    try context.save()
  }

  /// Adds a list as another process does.
  func saveElsewhere() throws {
    let other = try open()
    let context = ManagedObjectContext(other)
    try context.insert(entityName: "List").setPropertyValue(.string("Hardware"), forKey: "name")
    try context.save()
    other.close()
  }

  /// A coordinator with a copy of the store, of another type.
  func copy(as type: StoreType) throws -> PersistentStoreCoordinator {
    let url = scratch.url.appending(path: "copy")
    let store = try #require(coordinator.persistentStores.first)
    try coordinator.copyPersistentStore(store, to: url, type: type)
    let copy = try PersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
    try copy.addPersistentStore(type: type, at: url)
    return copy
  }

  // MARK: Asking

  func ask(_ method: String, _ path: String, _ query: [String: String] = [:], _ body: String = "") async
    -> BrowserResponse
  {
    await browser.respond(
      to: BrowserRequest(
        method: method,
        path: path,
        query: query.map { .init($0.key, $0.value) },
        headers: body.isEmpty ? [] : [.init("content-type", "application/json")],
        body: Data(body.utf8)
      )
    )
  }

  func get(_ path: String, _ query: [String: String] = [:]) async throws -> [String: Any] {
    try Self.object(await ask("GET", path, query))
  }

  func rows(_ question: String) async throws -> Rows {
    let answer = try Self.object(await ask("POST", "api/stores/0/rows", [:], question))
    return Rows(
      count: answer["count"] as? Int ?? -1,
      columns: answer["columns"] as? [String] ?? [],
      rows: answer["rows"] as? [[String: Any]] ?? []
    )
  }

  struct Rows {
    let count: Int
    let columns: [String]
    let rows: [[String: Any]]

    /// The values of a column.
    func values(_ column: String) -> [Any] {
      guard let place = columns.firstIndex(of: column) else { return [] }
      return rows.compactMap { ($0["cells"] as? [Any])?[place] }
    }

    func uri(_ place: Int) -> String { rows[place]["uri"] as? String ?? "" }
  }

  static func object(_ response: BrowserResponse) throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: response.body, options: [.fragmentsAllowed])
    if let array = object as? [Any] { return ["": array] }
    return object as? [String: Any] ?? [:]
  }
}

extension BrowserResponse {
  /// The whole content.
  func content() async throws -> Data {
    var content = body
    if let rest { for try await piece in rest { content += piece } }
    return content
  }
}
