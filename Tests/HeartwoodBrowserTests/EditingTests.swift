import Foundation
import Heartwood
import HeartwoodSQLite
import HeartwoodTesting
import Testing

@testable import HeartwoodBrowser

/// A page changes records in one session, and nothing is written before it saves.
struct EditingTests {
  @Test(arguments: EditingBench.types)
  func valuesAreSetUndoneAndSaved(_ type: StoreType) async throws {
    let bench = try EditingBench(type)
    let uri = try await bench.uri("Item", "name == 'home 1'")
    let answer = try await bench.change("set", ["uri": uri, "name": "memo", "text": "two\nlines"])
    #expect((answer["property"] as? [String: Any])?["isChanged"] as? Bool == true)
    try await bench.change("set", ["uri": uri, "name": "count", "text": "7"])
    try await bench.change("set", ["uri": uri, "name": "price", "text": "1.50"])
    try await bench.change("set", ["uri": uri, "name": "date", "text": "2026-01-31T18:00:00Z"])
    #expect(try await bench.unsavedCount() == 1)
    #expect(try bench.stored("Item", "memo").allSatisfy { $0 == "nil" }, "something was written before the save")
    #expect(try await bench.rows("Item", "count == 7").first?["change"] as? String == "changed")

    try await bench.change("undo")
    #expect(try await bench.property("date", of: uri)["value"] is NSNull)
    try await bench.change("redo")
    #expect(try await bench.property("date", of: uri)["value"] as? String == "2026-01-31T18:00:00Z")

    let saved = try await bench.change("save")
    #expect((saved["state"] as? [String: Any])?["count"] as? Int == 0)
    #expect(try bench.stored("Item", "memo").contains("two\nlines"))
    #expect(try bench.stored("Item", "count") == ["1", "1", "1", "1", "1", "7"])
    #expect(try await bench.rows("Item", "count == 7").first?["change"] == nil)

    try await bench.change("set", ["uri": uri, "name": "memo", "text": nil])
    try await bench.change("save")
    #expect(try bench.stored("Item", "memo").allSatisfy { $0 == "nil" })
  }

  @Test(arguments: EditingBench.types)
  func recordsAreInsertedWithTheirDefaults(_ type: StoreType) async throws {
    let bench = try EditingBench(type)
    let answer = try await bench.change("insert", ["entity": "Item"])
    let uri = try #require((answer["record"] as? [String: Any])?["uri"] as? String)
    #expect(try await bench.property("count", of: uri)["value"] as? Int == 1)
    #expect(
      try await bench.property("name", of: uri)["faults"] as? [String] == ["Item.name is required and has no value."]
    )
    let (status, refused) = try await bench.send("save", [:])
    #expect(status == 422)
    let fault = try #require((refused["faults"] as? [[String: Any]])?.first)
    #expect(fault["uri"] as? String == uri && fault["property"] as? String == "name")
    #expect(try bench.files().allSatisfy { !$0.contains("backup") }, "the backup of a save that was refused")

    try await bench.change("set", ["uri": uri, "name": "name", "text": "new one"])
    #expect(try await bench.rows("Item", "name == 'new one'").first?["change"] as? String == "inserted")
    if type != .csv {
      let list = try await bench.uri("List", "name == 'work'")
      try await bench.change("relate", ["uri": uri, "name": "list", "other": list])
      #expect(try await bench.property("items", of: list)["count"] as? Int == 4)
    }
    let saved = try await bench.change("save")
    let renamed = try #require((saved["renamed"] as? [String: String])?[uri])
    #expect(try await bench.property("name", of: renamed)["value"] as? String == "new one")
    #expect(try bench.stored("Item", "name").contains("new one"))
  }

  @Test func whatIsUnsavedIsListedWithItsValues() async throws {
    let bench = try EditingBench(.binary)
    let changed = try await bench.uri("Item", "name == 'home 1'")
    let deleted = try await bench.uri("Item", "name == 'home 2'")
    try await bench.change("set", ["uri": changed, "name": "name", "text": "other"])
    try await bench.change("delete", ["uri": deleted])
    try await bench.change("insert", ["entity": "Item"])
    let changes = try #require(try await bench.get("edits")["changes"] as? [[String: Any]])
    #expect(changes.map { $0["kind"] as? String } == ["inserted", "changed", "changed", "deleted"])
    let items = changes.filter { ($0["record"] as? [String: Any])?["uri"] as? String == changed }
    let value = try #require((items.first?["values"] as? [[String: Any]])?.first)
    #expect(value["name"] as? String == "name")
    #expect(value["before"] as? String == "home 1" && value["after"] as? String == "other")
    let gone = try await bench.get("record", ["uri": deleted])
    #expect(gone["change"] as? String == "deleted" && gone["label"] as? String != "")
    #expect(try await bench.rows("Item").count == 6)
    try await bench.change("discard")
    #expect(try await bench.unsavedCount() == 0)
    #expect(try await bench.rows("Item").count == 6)
    #expect(try bench.stored("Item", "name").contains("home 1"))
  }

  @Test func whatIsSetBackIsNoChange() async throws {
    let bench = try EditingBench(.sqlite)
    let uri = try await bench.uri("Item", "name == 'home 1'")
    try await bench.change("set", ["uri": uri, "name": "count", "text": "5"])
    try await bench.change("set", ["uri": uri, "name": "count", "text": "1"])
    #expect(try await bench.unsavedCount() == 0)
    let answer = try await bench.change("save")
    #expect((answer["state"] as? [String: Any])?["backup"] is NSNull)
  }
}

// MARK: Rules

extension EditingTests {
  @Test(
    arguments: [
      ("name", "x", 422, "Item.name has 1 characters; at least 2 are required."),
      ("name", "Capital", 422, "Item.name does not match its pattern."),
      ("name", nil, 422, "Item.name is required and has no value."),
      ("count", "100", 422, "Item.count is above the greatest value, 99."),
      ("count", "-1", 422, "Item.count is below the least value, 0."),
      ("count", "99999", 400, "Write a whole number in its range."), ("count", "", 400, "Write a whole number"),
      ("count", "<script>", 400, "Write a whole number"), ("date", "soon", 400, "Write ISO 8601"),
      ("isDone", "maybe", 400, "Write true or false"), ("isDone", nil, 422, "Item.isDone is required"),
      ("list", "x", 400, "relate records"), ("nothing", "x", 404, "no property called nothing"),
    ] as [(String, String?, Int, String)]
  )
  func rulesAreToldAtTheField(_ name: String, _ text: String?, _ status: Int, _ message: String) async throws {
    let bench = try EditingBench(.binary)
    let uri = try await bench.uri("Item", "name == 'home 1'")
    let response = try await bench.send("set", ["uri": uri, "name": name, "text": text])
    #expect(response.status == status, "\(response.answer)")
    let faults = (response.answer["faults"] as? [[String: Any]])?.compactMap { $0["message"] as? String } ?? []
    let told = ([response.answer["error"] as? String ?? ""] + faults).joined(separator: " ")
    #expect(told.contains(message), "\(told)")
    #expect(try await bench.unsavedCount() == 0, "a value that was refused has changed the record")
  }

  @Test func thePageKnowsTheRules() async throws {
    let bench = try EditingBench(.binary)
    let stores = try #require(
      try BrowserBench.object(await bench.browser.respond(to: BrowserRequest(method: "GET", path: "api/stores")))[""]
        as? [[String: Any]]
    )
    let entities = try #require(stores.first?["entities"] as? [[String: Any]])
    let properties = try #require(entities[1]["properties"] as? [[String: Any]])
    #expect(properties[0]["rules"] as? [String] == ["2 to 20 characters", "matches [a-z0-9 ]+"])
    #expect(properties[2]["rules"] as? [String] == ["a whole number in its range", "at least 0", "at most 99"])
  }
}

// MARK: Relationships and deletion

extension EditingTests {
  @Test func orderedRelationshipsKeepTheirOrder() async throws {
    let bench = try EditingBench(.xml)
    let list = try await bench.uri("List", "name == 'home'")
    let items = try await bench.rows("Item").prefix(3).compactMap { $0["uri"] as? String }
    for item in items { try await bench.change("relate", ["uri": list, "name": "favourites", "other": item]) }
    try await bench.change("relate", ["uri": list, "name": "favourites", "other": items[2], "place": 0])
    func order() async throws -> [String] {
      try #require(try await bench.property("favourites", of: list)["links"] as? [[String: Any]])
        .compactMap { $0["label"] as? String }
    }
    #expect(try await order() == ["home 3", "home 1", "home 2"])
    try await bench.change("unrelate", ["uri": list, "name": "favourites", "other": items[0]])
    try await bench.change("save")
    #expect(try await order() == ["home 3", "home 2"])
    try await bench.change("undo")
    #expect(try await order() == ["home 3", "home 1", "home 2"])
    let wrong = try await bench.send("relate", ["uri": list, "name": "favourites", "other": list])
    #expect(wrong.status == 400, "\(wrong.answer)")
  }

  @Test(arguments: [StoreType.binary, .xml, .sqlite])
  func aDeletionSaysWhatGoesWithIt(_ type: StoreType) async throws {
    let bench = try EditingBench(type)
    let list = try await bench.uri("List", "name == 'home'")
    let item = try await bench.uri("Item", "name == 'home 1'")
    try await bench.change("set", ["uri": item, "name": "memo", "text": "changed"])
    let deletion = try await bench.change("deletion", ["uri": list])
    #expect(deletion["count"] as? Int == 3)
    let names = (deletion["cascade"] as? [[String: Any]])?.compactMap { $0["label"] as? String } ?? []
    #expect(names.sorted() == ["home 1", "home 2", "home 3"])
    #expect(try await bench.unsavedCount() == 1, "telling the consequences has deleted something")
    try await bench.change("delete", ["uri": list])
    #expect(try await bench.unsavedCount() == 4)
    let again = try await bench.send("set", ["uri": item, "name": "memo", "text": "x"])
    #expect(again.status == 404)
    #expect((again.answer["error"] as? String)?.contains("Undo the deletion") == true)
    try await bench.change("undo")
    #expect(try await bench.property("memo", of: item)["value"] as? String == "changed")
    try await bench.change("redo")
    try await bench.change("save")
    #expect(try bench.stored("Item", "name") == ["work 1", "work 2", "work 3"])
  }
}

// MARK: Backup

extension EditingTests {
  @Test(arguments: EditingBench.types)
  func aFileIsCopiedBeforeTheFirstSave(_ type: StoreType) async throws {
    let bench = try EditingBench(type)
    let uri = try await bench.uri("Item", "name == 'home 1'")
    try await bench.change("set", ["uri": uri, "name": "memo", "text": "first"])
    #expect(try bench.files().allSatisfy { !$0.contains("backup") }, "a copy was made before it was needed")
    let saved = try await bench.change("save")
    let path = try #require((saved["state"] as? [String: Any])?["backup"] as? String)
    #expect(path == bench.url.path + ".backup" && saved["hasFile"] as? Bool == true)
    try await bench.change("set", ["uri": uri, "name": "memo", "text": "second"])
    try await bench.change("save")
    #expect(try bench.files().filter { $0.hasSuffix(".backup") }.count == 1, "each save has made a copy")
    let context = ManagedObjectContext(try bench.openCopy(path))
    let memos = try context.fetch(FetchRequest<ManagedObject>(entityName: "Item")).map { try $0.value(forKey: "memo") }
    #expect(memos.count == 6 && memos.allSatisfy { $0 == nil })
    context.persistentStoreCoordinator.close()
  }
}
