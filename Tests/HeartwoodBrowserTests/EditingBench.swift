import Foundation
import Heartwood
import HeartwoodSQLite
import HeartwoodTesting
import Testing

@testable import HeartwoodBrowser

/// A store of a shop that a browser may change, and requests as its page sends them.
final class EditingBench {
  static let types: [StoreType] = [.binary, .xml, .propertyList, .csv, .sqlite]

  let browser: StoreBrowser
  let store: BrowsedStore
  let url: URL
  private let scratch: ScratchFolder
  private let openStore: @Sendable (URL) throws -> PersistentStoreCoordinator

  /// Two lists with three items each. CSV has one table, so its store has items alone.
  init(_ type: StoreType, allowsEditing: Bool = true, isReadOnly: Bool = false) throws {
    let scratch = try ScratchFolder()
    let url = scratch.url.appending(path: "shop.\(type.rawValue.lowercased())")
    (self.scratch, self.url) = (scratch, url)
    let model = try Self.model(type)
    let registry = try StoreRegistry(StoreRegistry.shippedStoreClasses + [SQLiteStore.self])
    @Sendable func coordinator(at url: URL, isReadOnly: Bool) throws -> PersistentStoreCoordinator {
      let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
      var options = StoreOptions()
      options[.isReadOnly] = isReadOnly
      try coordinator.addPersistentStore(type: type, at: url, options: options)
      return coordinator
    }
    let first = try coordinator(at: url, isReadOnly: false)
    try Self.fill(ManagedObjectContext(first), hasLists: type != .csv)
    first.close()
    openStore = { try coordinator(at: $0, isReadOnly: false) }
    let reopen: @Sendable () throws -> PersistentStoreCoordinator = {
      try coordinator(at: url, isReadOnly: isReadOnly)
    }
    store = BrowsedStore("Shop", try reopen(), allowsEditing: allowsEditing, reopen: reopen)
    browser = StoreBrowser([store])
  }

  private static func model(_ type: StoreType) throws -> ManagedObjectModel {
    let attributes: [PropertyDescription] = [
      .attribute("name", .string, rules: AttributeRules(minLength: 2, maxLength: 20, pattern: "[a-z0-9 ]+")),
      .attribute("memo", .string, optional: true),
      .attribute(
        "count",
        .integer16,
        default: .integer(1),
        rules: AttributeRules(minValue: .integer(0), maxValue: .integer(99))
      ),
      .attribute("price", .decimal, optional: true),
      .attribute("isDone", .boolean, default: .boolean(false)),
      .attribute("date", .date, optional: true),
    ]
    guard type != .csv else {
      return try ManagedObjectModel(entities: [EntityDefinition(name: "Item", properties: attributes)])
    }
    return try ManagedObjectModel(entities: [
      .entity(
        "List",
        .attribute("name", .string),
        .toMany("items", "Item", inverse: "list", deleteRule: .cascade),
        .toMany("favourites", "Item", inverse: "fans", ordered: true)
      ),
      EntityDefinition(
        name: "Item",
        properties: attributes + [
          .toOne("list", "List", inverse: "items"), .toMany("fans", "List", inverse: "favourites"),
        ]
      ),
    ])
  }

  private static func fill(_ context: ManagedObjectContext, hasLists: Bool) throws {
    for list in ["home", "work"] {
      let owner = hasLists ? try context.insert(entityName: "List") : nil
      try owner?.setPropertyValue(.string(list), forKey: "name")
      for number in 1...3 {
        let item = try context.insert(entityName: "Item")
        try item.setPropertyValue(.string("\(list) \(number)"), forKey: "name")
        if let owner { try item.setPropertyValue(.toOne(owner.objectID), forKey: "list") }
      }
    }
    try context.save()
  }

  /// Changes a store as another process does.
  func elsewhere(_ body: (ManagedObjectContext) throws -> Void) throws {
    let coordinator = try open()
    defer { coordinator.close() }
    let context = ManagedObjectContext(coordinator)
    try body(context)
    try context.save()
  }

  /// The only object that meets a condition, in the store as it is now.
  static func object(_ entity: String, _ condition: String, in context: ManagedObjectContext) throws -> ManagedObject {
    let request = FetchRequest<ManagedObject>(entityName: entity, where: try FetchPredicate(format: condition))
    return try #require(try context.fetch(request).first, "\(entity) \(condition)")
  }

  /// The values of an attribute in the store as it is now, sorted.
  func stored(_ entity: String, _ name: String) throws -> [String] {
    let coordinator = try open()
    defer { coordinator.close() }
    let objects = try ManagedObjectContext(coordinator).fetch(FetchRequest<ManagedObject>(entityName: entity))
    return try objects.map { "\(try $0.value(forKey: name) ?? "nil")" }.sorted()
  }

  /// The names of the files beside the store.
  func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: scratch.url.path).sorted() }

  /// Opens the store as another process does.
  private func open() throws -> PersistentStoreCoordinator { try openStore(url) }

  /// Opens the copy of the store at a path.
  func openCopy(_ path: String) throws -> PersistentStoreCoordinator { try openStore(URL(filePath: path)) }

  // MARK: Asking

  static let origin = "http://127.0.0.1:4711"

  func token() async throws -> String {
    let response = await browser.respond(to: BrowserRequest(method: "GET", path: "api/stores"))
    let stores = try #require(try BrowserBench.object(response)[""] as? [[String: Any]])
    return try #require(stores.first?["editing"] as? String)
  }

  /// Sends a change as the page does; header fields that are nil are left out.
  func send(
    _ name: String,
    _ question: [String: Any?],
    method: String = "POST",
    fields: [String: String?] = [:]
  ) async throws -> (status: Int, answer: [String: Any]) {
    let body = try JSONSerialization.data(withJSONObject: question.mapValues { $0 ?? NSNull() })
    return try await send(name, body: body, method: method, fields: fields)
  }

  func send(
    _ name: String,
    body: Data,
    method: String = "POST",
    fields: [String: String?] = [:]
  ) async throws -> (status: Int, answer: [String: Any]) {
    var all: [String: String?] = [
      "Host": "127.0.0.1:4711", "Origin": Self.origin, "Content-Type": "application/json",
      BrowsedStore.tokenField: fields.keys.contains(BrowsedStore.tokenField) ? nil : try await token(),
    ]
    all.merge(fields) { $1 }
    let response = await browser.respond(
      to: BrowserRequest(
        method: method,
        path: "api/stores/0/edits/\(name)",
        headers: all.compactMap { name, value in value.map { .init(name, $0) } },
        body: body
      )
    )
    return (response.status, try BrowserBench.object(response))
  }

  /// Sends a change that has to be made.
  @discardableResult
  func change(_ name: String, _ question: [String: Any?] = [:]) async throws -> [String: Any] {
    let (status, answer) = try await send(name, question)
    #expect(status == 200, "\(name): \(answer)")
    return answer
  }

  func get(_ path: String, _ query: [String: String] = [:]) async throws -> [String: Any] {
    let fields = query.map { BrowserRequest.Field($0.key, $0.value) }
    return try BrowserBench.object(
      await browser.respond(to: BrowserRequest(method: "GET", path: "api/stores/0/\(path)", query: fields))
    )
  }

  func rows(_ entity: String, _ condition: String? = nil) async throws -> [[String: Any]] {
    let question = try JSONSerialization.data(
      withJSONObject: ["entity": entity, "condition": condition ?? "TRUEPREDICATE", "sort": [["key": "name"]]]
    )
    let response = await browser.respond(
      to: BrowserRequest(
        method: "POST",
        path: "api/stores/0/rows",
        headers: [.init("Content-Type", "application/json")],
        body: question
      )
    )
    return try #require(try BrowserBench.object(response)["rows"] as? [[String: Any]])
  }

  func uri(_ entity: String, _ condition: String) async throws -> String {
    try #require(try await rows(entity, condition).first?["uri"] as? String)
  }

  /// A property of a record as its page has it.
  func property(_ name: String, of uri: String) async throws -> [String: Any] {
    let values = try #require(try await get("record", ["uri": uri])["values"] as? [[String: Any]])
    return try #require(values.first { $0["name"] as? String == name })
  }

  func unsavedCount() async throws -> Int {
    let state = try #require(try await get("edits")["state"] as? [String: Any])
    return try #require(state["count"] as? Int)
  }
}
