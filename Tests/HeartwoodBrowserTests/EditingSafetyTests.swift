import Foundation
import Heartwood
import HeartwoodSQLite
import HeartwoodTesting
import Testing

@testable import HeartwoodBrowser

/// Requests that must not change anything.
struct EditingSafetyTests {
  private static let names = [
    "set", "insert", "deletion", "delete", "relate", "unrelate", "undo", "redo", "discard", "save",
  ]

  @Test(arguments: names)
  func aStoreThatIsOnlyShownIsNotChanged(_ name: String) async throws {
    for bench in [
      try EditingBench(.binary, allowsEditing: false), try EditingBench(.sqlite, isReadOnly: true),
    ] {
      let (status, answer) = try await bench.send(name, ["entity": "Item"], fields: [BrowsedStore.tokenField: "x"])
      #expect(status == 403)
      #expect((answer["error"] as? String)?.contains("--write") == true)
      #expect(try await bench.get("edits").isEmpty)
    }
  }

  @Test(
    arguments: [
      [BrowsedStore.tokenField: nil], [BrowsedStore.tokenField: ""],
      [BrowsedStore.tokenField: "AAAAAAAAAAAAAAAAAAAAAA"],
      ["Origin": nil], ["Origin": "null"], ["Origin": "http://evil.example"], ["Origin": "http://127.0.0.1:4712"],
      ["Origin": "http://127.0.0.1:4711.evil.example"], ["Host": nil], ["Host": "evil.example:4711"],
      ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Sec-Fetch-Site": "none"],
    ] as [[String: String?]]
  )
  func anotherPageChangesNothing(_ fields: [String: String?]) async throws {
    let bench = try EditingBench(.binary)
    for name in Self.names {
      let (status, answer) = try await bench.send(name, ["entity": "Item"], fields: fields)
      #expect(status == 403, "\(name) \(fields): \(answer)")
    }
    #expect(try await bench.unsavedCount() == 0)
  }

  /// An application makes its stores editable one by one.
  @Test func aStoreInMemoryIsChangedWithoutACopy() async throws {
    let model = try ManagedObjectModel(entities: [.entity("ToDo", .attribute("title", .string, optional: true))])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(type: .inMemory, at: nil)
    let store = BrowsedStore("To-dos", coordinator, allowsEditing: true)
    let browser = StoreBrowser([store])
    let stores = try BrowserBench.object(await browser.respond(to: BrowserRequest(method: "GET", path: "api/stores")))
    let token = try #require((stores[""] as? [[String: Any]])?.first?["editing"] as? String)
    func change(_ name: String, _ question: String) async throws -> [String: Any] {
      let headers = [
        "Content-Type": "application/json", "Origin": "https://shop.example", "Host": "shop.example",
        BrowsedStore.tokenField: token,
      ]
      let response = await browser.respond(
        to: BrowserRequest(
          method: "POST",
          path: "api/stores/0/edits/\(name)",
          headers: headers.map { .init($0, $1) },
          body: Data(question.utf8)
        )
      )
      #expect(response.status == 200)
      return try BrowserBench.object(response)
    }
    _ = try await change("insert", #"{"entity": "ToDo"}"#)
    let saved = try await change("save", "{}")
    #expect(saved["hasFile"] as? Bool == false && (saved["state"] as? [String: Any])?["backup"] is NSNull)
    let count = try ManagedObjectContext(coordinator).count(for: FetchRequest<ManagedObject>(entityName: "ToDo"))
    #expect(count == 1)
  }

  /// Behind a proxy, the server has another name than the page; the browser says that they are the same.
  @Test func aPageBehindAProxyIsServed() async throws {
    let bench = try EditingBench(.binary)
    let fields = ["Origin": "https://shop.example", "Sec-Fetch-Site": "same-origin"]
    #expect(try await bench.send("insert", ["entity": "Item"], fields: fields).status == 200)
  }

  @Test(arguments: names)
  func onlyAPostChangesSomething(_ name: String) async throws {
    let bench = try EditingBench(.binary)
    for method in ["GET", "HEAD", "PUT", "DELETE"] {
      #expect(try await bench.send(name, ["entity": "Item"], method: method).status == 405)
    }
    #expect(try await bench.unsavedCount() == 0)
  }

  @Test func aRequestOfAnotherTypeOrTooLongIsRefused() async throws {
    let bench = try EditingBench(.binary)
    let uri = try await bench.uri("Item", "name == 'home 1'")
    let form = try await bench.send("insert", ["entity": "Item"], fields: ["Content-Type": "text/plain"])
    #expect(form.status == 400)
    let long = String(repeating: "x", count: StoreBrowser.bodyLimit)
    let response = try await bench.send("set", ["uri": uri, "name": "memo", "text": long])
    #expect(response.status == 413 && (response.answer["error"] as? String)?.contains("1 MiB") == true)
    #expect(try await bench.unsavedCount() == 0)
  }

  @Test(arguments: [
    "", "{", "[]", "null", "{\"uri\": 7}", "{\"entity\": null}", "\u{0}", "{\"choices\": {\"a\": \"both\"}}",
  ])
  func malformedQuestionsAreRefused(_ body: String) async throws {
    let bench = try EditingBench(.binary)
    for name in ["set", "insert", "deletion", "delete", "relate", "unrelate", "save"] {
      let isEmptySave = name == "save" && ["{\"uri\": 7}", "{\"entity\": null}"].contains(body)
      let (status, answer) = try await bench.send(name, body: Data(body.utf8))
      #expect(status == (isEmptySave ? 200 : 400), "\(name) \(body): \(answer)")
    }
    #expect(try await bench.unsavedCount() == 0)
  }

  @Test(
    arguments: [
      ("insert", ["entity": "Nothing"], 404), ("insert", ["entity": "../Item"], 404),
      ("set", ["uri": "x-coredata://no", "name": "memo"], 400), ("delete", ["uri": ""], 400),
      ("delete", ["uri": "x-coredata:///Item/t99"], 400), ("nothing", [:], 404),
    ] as [(String, [String: String], Int)]
  )
  func unknownThingsAreSaid(_ name: String, _ question: [String: String], _ status: Int) async throws {
    let bench = try EditingBench(.binary)
    let response = try await bench.send(name, question)
    #expect(response.status == status, "\(response.answer)")
    #expect((response.answer["error"] as? String)?.isEmpty == false)
  }

  /// What a page shows of an unsaved value is what was set, whatever it says.
  @Test func hostileTextIsText() async throws {
    let bench = try EditingBench(.sqlite)
    let uri = try await bench.uri("Item", "name == 'home 1'")
    let text = BrowserBench.hostileText
    try await bench.change("set", ["uri": uri, "name": "memo", "text": text])
    #expect(try await bench.property("memo", of: uri)["value"] as? String == text)
    try await bench.change("save")
    #expect(try bench.stored("Item", "memo").contains(text))
  }
}
