import Foundation
import Heartwood
import HeartwoodSQLite
import HeartwoodTesting
import Testing

@testable import HeartwoodBrowser

/// What a browser answers is what the stores hold, whatever their type.
struct StoreBrowserTests {
  @Test(arguments: BrowserBench.types)
  func storesAndTheirEntitiesAreListed(_ type: StoreType?) async throws {
    let bench = try BrowserBench(type)
    let stores = try #require(try await bench.get("api/stores")[""] as? [[String: Any]])
    #expect(stores.count == 1)
    #expect(stores[0]["title"] as? String == "Shop <&\"'>")
    let entities = try #require(stores[0]["entities"] as? [[String: Any]])
    #expect(entities.map { $0["name"] as? String } == ["List", "Item", "Note"])
    #expect(entities.map { $0["count"] as? Int } == [1, 25, 1])
    let properties = try #require(entities[1]["properties"] as? [[String: Any]])
    #expect(properties.last?["destination"] as? String == "List")
    #expect(properties.last?["inverse"] as? String == "items")
    let facts = try #require((stores[0]["stores"] as? [[String: Any]])?.first)
    #expect(facts["type"] as? String == (type ?? .inMemory).rawValue)
  }

  @Test(arguments: BrowserBench.types)
  func rowsAreThoseThatAFetchFinds(_ type: StoreType?) async throws {
    let bench = try BrowserBench(type)
    let found = try await bench.rows(
      #"{"entity": "Item", "condition": "isDone == YES AND order > 4", "sort": [{"key": "order", "descending": true}], "from": 2, "count": 3}"#
    )
    #expect(found.count == 10)
    #expect(found.values("order") as? [Int] == [20, 18, 16])
    #expect(found.values("memo") as? [String] == ["item 20", "item 18", "item 16"])
    let lists = try #require(found.values("list") as? [[String: Any]])
    #expect(lists.map { $0["label"] as? String } == Array(repeating: "Groceries", count: 3))
    let all = try await bench.rows(#"{"entity": "Item", "count": 1000}"#)
    #expect(all.count == 25 && all.rows.count == 25)
    let behind = try await bench.rows(#"{"entity": "Item", "from": 30}"#)
    #expect(behind.count == 25 && behind.rows.isEmpty)
    for place in ["\(Int.max)", "\(Int.min)"] {
      let question = #"{"entity": "Item", "condition": "order > 4", "from": \#(place), "count": \#(place)}"#
      #expect(try await bench.rows(question).count == 21)
    }
  }

  @Test(arguments: BrowserBench.types)
  func valuesAreShortAndLoseNothing(_ type: StoreType?) async throws {
    let bench = try BrowserBench(type)
    let found = try await bench.rows(
      #"{"entity": "Item", "condition": "order < 4 OR memo == 'item 1'", "sort": [{"key": "memo"}]}"#
    )
    #expect(found.values("memo").prefix(3).map { $0 as? String } == ["item 0", "item 1", "item 2"])
    #expect(found.values("order")[1] as? String == "9223372036854775807")
    #expect(found.values("price")[0] as? String == "1.5")
    #expect(found.values("date")[0] as? String == "2001-01-01T00:00:00Z")
    let long = try #require(found.values("memo")[3] as? [String: Any])
    #expect((long["text"] as? String)?.count == 200 && long["length"] as? Int == 505)
    let pictures = found.values("picture").map { $0 as? [String: Any] }
    #expect(pictures[0]?["picture"] as? String == "image/png" && pictures[0]?["bytes"] as? Int == 11)
    #expect(pictures[1]?["picture"] is NSNull && pictures[1]?["bytes"] as? Int == 24)
  }

  @Test(arguments: BrowserBench.types)
  func aRecordHasItsLinksBothWays(_ type: StoreType?) async throws {
    let bench = try BrowserBench(type)
    let list = try await bench.rows(#"{"entity": "List"}"#)
    let record = try await bench.get("api/stores/0/record", ["uri": list.uri(0)])
    let values = try #require(record["values"] as? [[String: Any]])
    #expect(record["label"] as? String == "Groceries")
    let items = try #require(values.first { $0["name"] as? String == "items" })
    #expect(items["count"] as? Int == 25 && (items["links"] as? [Any])?.count == 25)
    #expect((record["incoming"] as? [Any])?.isEmpty == true)

    let first = try await bench.rows(#"{"entity": "Item", "condition": "memo == 'item 0'"}"#)
    let item = try await bench.get("api/stores/0/record", ["uri": first.uri(0)])
    let incoming = try #require((item["incoming"] as? [[String: Any]])?.first)
    #expect(incoming["entity"] as? String == "Note" && incoming["relationship"] as? String == "about")
    let link = try #require((incoming["links"] as? [[String: Any]])?.first)
    let note = try await bench.rows(#"{"entity": "Note"}"#)
    #expect(link["uri"] as? String == note.uri(0))
  }

  @Test(arguments: BrowserBench.types)
  func hostileTextComesAsItIs(_ type: StoreType?) async throws {
    let bench = try BrowserBench(type)
    let note = try await bench.rows(#"{"entity": "Note"}"#)
    let text = type == .xml ? "</script>" : BrowserBench.hostileText
    #expect(note.values("text") as? [String] == [text])
    let whole = await bench.ask("GET", "api/stores/0/value", ["uri": note.uri(0), "name": "text"])
    #expect(whole.body == Data(text.utf8))
    #expect(whole.headers.contains(.init("Content-Type", "text/plain; charset=utf-8")))
    #expect(whole.headers.contains(.init("X-Content-Type-Options", "nosniff")))
  }

  @Test func aPictureHasItsTypeAndNothingElseHas() async throws {
    let bench = try BrowserBench(.binary)
    let found = try await bench.rows(#"{"entity": "Item", "condition": "picture != nil", "sort": [{"key": "memo"}]}"#)
    let png = await bench.ask("GET", "api/stores/0/value", ["uri": found.uri(0), "name": "picture"])
    #expect(png.body == BrowserBench.picture && png.headers.contains(.init("Content-Type", "image/png")))
    // An SVG may hold scripts.
    let svg = await bench.ask("GET", "api/stores/0/value", ["uri": found.uri(1), "name": "picture"])
    #expect(svg.headers.contains(.init("Content-Type", "application/octet-stream")))
  }

  @Test(arguments: BrowserBench.types)
  func theValuesOfAColumnAreCounted(_ type: StoreType?) async throws {
    let bench = try BrowserBench(type)
    let response = await bench.ask(
      "POST",
      "api/stores/0/values",
      [:],
      #"{"entity": "Item", "condition": "order < 10", "column": "isDone"}"#
    )
    let values = try #require(try BrowserBench.object(response)["values"] as? [[String: Any]])
    #expect(values.map { $0["value"] as? Bool } == [true, false])
    #expect(values.map { $0["count"] as? Int } == [5, 4])
  }

  @Test(arguments: BrowserBench.types)
  func aTextIsFoundInAnyAttribute(_ type: StoreType?) async throws {
    let bench = try BrowserBench(type)
    #expect(try await bench.rows(#"{"entity": "Item", "text": "ITÉM 2"}"#).values("memo").count == 6)
    #expect(try await bench.rows(#"{"entity": "Item", "text": "item 2", "condition": "isDone == NO"}"#).count == 2)
    #expect(try await bench.rows(#"{"entity": "Item", "text": "' OR 1 == 1"}"#).count == 0)
    #expect(try await bench.rows(#"{"entity": "Item", "text": ""}"#).count == 25)
  }

  @Test(arguments: BrowserBench.types)
  func aColumnIsSummedUp(_ type: StoreType?) async throws {
    let bench = try BrowserBench(type)
    let question = #"{"entity": "Item", "condition": "memo != 'item 1'", "column": "order", "limit": 3}"#
    let answer = try BrowserBench.object(await bench.ask("POST", "api/stores/0/values", [:], question))
    let summary = try #require(answer["summary"] as? [String: Any])
    #expect((answer["values"] as? [Any])?.count == 3)
    #expect(summary["filled"] as? Int == 24 && summary["least"] as? Int == 0 && summary["greatest"] as? Int == 24)
    #expect(summary["sum"] as? Int == 299)
  }

  @Test(arguments: BrowserBench.types)
  func whatIsShownIsWrittenAsAFile(_ type: StoreType?) async throws {
    let bench = try BrowserBench(type)
    func export(_ format: String) async -> BrowserResponse {
      let records = #"{"entity": "Item", "condition": "order < 3", "sort": [{"key": "order", "descending": true}]}"#
      return await bench.ask("POST", "api/stores/0/export", [:], #"{"format": "\#(format)", "records": \#(records)}"#)
    }
    let lines = String(decoding: try await export("jsonl").content(), as: UTF8.self).split(separator: "\n")
    let memos = try lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }.map {
      $0?["memo"] as? String
    }
    #expect(memos == ["item 2", "item 0"])
    let fields = String(decoding: try await export("csv").content(), as: UTF8.self).split(separator: "\n")
    #expect(fields.count == 3 && fields[0].hasPrefix("$id,memo,order,"))
    #expect(await export("xls").status == 400)
  }

  @Test func aHistoryIsToldFromItsEnd() async throws {
    let bench = try BrowserBench(.binary, tracksHistory: true)
    let context = ManagedObjectContext(bench.coordinator)
    context.transactionAuthor = "Ann"
    let note = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Note")).first)
    try note.setPropertyValue(.string("changed"), forKey: "text")
    try context.save()
    let history = try await bench.get("api/stores/0/history")
    let transactions = try #require(history["transactions"] as? [[String: Any]])
    #expect(history["count"] as? Int == 2 && transactions.map { $0["number"] as? Int } == [2, 1])
    #expect(transactions[0]["author"] as? String == "Ann" && transactions[1]["count"] as? Int == 27)
    let change = try #require((transactions[0]["changes"] as? [[String: Any]])?.first)
    #expect(change["kind"] as? String == "update" && change["properties"] as? [String] == ["text"])
    #expect(await bench.ask("GET", "api/stores/0/record", ["uri": change["uri"] as? String ?? ""]).status == 200)
    let earlier = try await bench.get("api/stores/0/history", ["before": "2"])
    #expect(earlier["count"] as? Int == 1)
    let none = try BrowserBench(nil)
    #expect(await none.ask("GET", "api/stores/0/history").status == 404)
  }

  @Test(arguments: [StoreType.binary, .sqlite, .xml])
  func whatOthersSaveIsNoticed(_ type: StoreType) async throws {
    let bench = try BrowserBench(type)
    func version() async throws -> Int { try await bench.get("api/stores/0/state")["version"] as? Int ?? -1 }
    let first = try await version()
    #expect(try await version() == first)
    try bench.saveElsewhere()
    var found = first
    for _ in 0..<100 where found == first {
      found = try await version()
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(found > first)
    #expect(try await bench.rows(#"{"entity": "List"}"#).count == 2)
  }

  @Test func whatOthersSaveIsSeenFromTheTop() async throws {
    let bench = try BrowserBench(.sqlite)
    let question = #"{"entity": "Item", "condition": "isDone == NO", "sort": [{"key": "order"}]}"#
    #expect(try await bench.rows(question).count == 12)
    let context = ManagedObjectContext(bench.coordinator)
    let item = try context.insert(entityName: "Item")
    try item.setPropertyValue(.integer(100), forKey: "order")
    try item.setPropertyValue(.boolean(false), forKey: "isDone")
    try item.setPropertyValue(
      .toOne(try #require(try context.fetchObjectIDs(.init(entityName: "List")).first)),
      forKey: "list"
    )
    try context.save()
    #expect(try await bench.rows(question).count == 13)
  }
}

// MARK: Health and differences

extension StoreBrowserTests {
  @Test(arguments: BrowserBench.types)
  func aSoundStoreIsFoundSound(_ type: StoreType?) async throws {
    let health = try await BrowserBench(type).get("api/stores/0/health")
    #expect(health["count"] as? Int == 0)
  }

  @Test func twoStoresAreCompared() async throws {
    let one = try BrowserBench(.binary)
    let other = try one.copy(as: .propertyList)
    let context = ManagedObjectContext(other)
    let request = FetchRequest<ManagedObject>(entityName: "Item", where: try FetchPredicate(format: "memo == 'item 5'"))
    let item = try #require(try context.fetch(request).first)
    try item.setPropertyValue(.integer(55), forKey: "order")
    try context.insert(entityName: "List").setPropertyValue(.string("More"), forKey: "name")
    try context.save()
    let browser = StoreBrowser([BrowsedStore("one", one.coordinator), BrowsedStore("other", other)])
    func differences(_ query: [BrowserRequest.Field]) async -> BrowserResponse {
      await browser.respond(to: BrowserRequest(method: "GET", path: "api/differences", query: query))
    }
    let answer = try BrowserBench.object(
      await differences([.init("first", "0"), .init("second", "1")])
    )
    let counts = try #require(answer["counts"] as? [String: Int])
    #expect(counts == ["added": 1, "changed": 1], "\(counts)")
    let changes = try #require(answer["differences"] as? [[String: Any]]).filter {
      $0["change"] as? String == "changed"
    }
    let orders = changes.compactMap { ($0["values"] as? [String: [String: Any]])?["order"] }
    #expect(orders.count == 1 && orders.first?["first"] as? Int == 5 && orders.first?["second"] as? Int == 55)
    let same = try BrowserBench.object(await differences([.init("first", "0"), .init("second", "0")]))
    #expect((same["counts"] as? [String: Int])?.isEmpty == true)
    #expect(await differences([.init("first", "0"), .init("second", "2")]).status == 404)
    #expect(await differences([.init("first", "0")]).status == 400)
  }
}

// MARK: Mistakes

extension StoreBrowserTests {
  @Test func aMistakeInAConditionHasItsPlace() async throws {
    let bench = try BrowserBench(nil)
    let unknown = await bench.ask(
      "POST",
      "api/stores/0/rows",
      [:],
      #"{"entity": "Item", "condition": "order > 1 AND memmo == 'x'"}"#
    )
    let answer = try BrowserBench.object(unknown)
    #expect(unknown.status == 400)
    #expect(answer["from"] as? Int == 14 && answer["to"] as? Int == 19, "\(answer)")
    #expect((answer["error"] as? String)?.contains("memmo") == true)
    let syntax = await bench.ask("POST", "api/stores/0/rows", [:], #"{"entity": "Item", "condition": "order >"}"#)
    #expect(syntax.status == 400)
  }

  @Test(arguments: [
    ("GET", "api/nothing", "", 404), ("GET", "api/stores/1/record", "", 404), ("GET", "api/stores/x/record", "", 404),
    ("GET", "api/stores/0/record", "", 400), ("GET", "api/stores/0/rows", "", 405), ("POST", "api/stores", "{}", 405),
    ("POST", "api/stores/0/rows", "", 400), ("POST", "api/stores/0/rows", "[]", 400), ("GET", "etc/passwd", "", 404),
    ("GET", "../Package.swift", "", 404), ("POST", "browse.js", "{}", 405),
    ("POST", "api/stores/0/rows", #"{"entity": "Nothing"}"#, 404),
    ("POST", "api/stores/0/rows", #"{"entity": "Item", "sort": [{"key": "nothing"}]}"#, 400),
    ("POST", "api/stores/0/values", #"{"entity": "Item", "column": "nothing"}"#, 400),
  ])
  func whatIsNotThereIsSaid(_ method: String, _ path: String, _ body: String, _ status: Int) async throws {
    let bench = try BrowserBench(nil)
    let response = await bench.ask(method, path, [:], body)
    #expect(response.status == status, "\(String(decoding: response.body, as: UTF8.self))")
    #expect((try BrowserBench.object(response)["error"] as? String)?.isEmpty == false)
  }

  @Test func aRecordThatIsGoneIsSaid() async throws {
    let bench = try BrowserBench(nil)
    let uri = try await bench.rows(#"{"entity": "Note"}"#).uri(0)
    let context = ManagedObjectContext(bench.coordinator)
    for note in try context.fetch(FetchRequest<ManagedObject>(entityName: "Note")) { context.delete(note) }
    try context.save()
    #expect(await bench.ask("GET", "api/stores/0/record", ["uri": uri]).status == 404)
    #expect(await bench.ask("GET", "api/stores/0/record", ["uri": "x-coredata://no"]).status == 400)
  }

  @Test func nothingSaysThatAPageMayLoadFromElsewhere() async throws {
    let bench = try BrowserBench(nil)
    for path in ["", "browse.css", "browse.js", "api/stores", "api/nothing"] {
      let headers = await bench.ask("GET", path).headers
      let policy = try #require(headers.first { $0.name == "Content-Security-Policy" }?.value)
      #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'"))
      #expect(!policy.contains("unsafe"))
      #expect(headers.contains(.init("Cache-Control", "no-store")))
    }
  }
}
