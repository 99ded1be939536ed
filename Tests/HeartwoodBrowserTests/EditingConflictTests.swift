import Foundation
import Heartwood
import HeartwoodSQLite
import HeartwoodTesting
import Testing

@testable import HeartwoodBrowser

/// Saves of others to the same records are shown, and a choice decides.
struct EditingConflictTests {
  /// Both change the same record: here its memo, there its count and its memo.
  private func conflict(_ bench: EditingBench) async throws -> String {
    let uri = try await bench.uri("Item", "name == 'home 1'")
    try await bench.change("set", ["uri": uri, "name": "memo", "text": "mine"])
    try bench.elsewhere { context in
      let item = try EditingBench.object("Item", "name == 'home 1'", in: context)
      try item.setPropertyValue(.string("theirs"), forKey: "memo")
      try item.setPropertyValue(.integer(9), forKey: "count")
    }
    let (status, answer) = try await bench.send("save", [:])
    #expect(status == 409, "\(answer)")
    let conflicts = try #require(answer["conflicts"] as? [[String: Any]])
    #expect(conflicts.count == 1)
    #expect((conflicts.first?["record"] as? [String: Any])?["uri"] as? String == uri)
    let values = try #require(conflicts.first?["values"] as? [[String: Any]])
    let memo = try #require(values.first { $0["name"] as? String == "memo" })
    #expect(memo["start"] is NSNull && memo["here"] as? String == "mine" && memo["stored"] as? String == "theirs")
    let count = try #require(values.first { $0["name"] as? String == "count" })
    #expect(count["start"] as? Int == 1 && count["here"] as? Int == 1 && count["stored"] as? Int == 9)
    #expect(try bench.stored("Item", "memo").contains("theirs"), "a save in conflict has written something")
    #expect(try await bench.unsavedCount() == 1)
    return uri
  }

  @Test(arguments: EditingBench.types)
  func mineIsSavedOnTopOfTheirs(_ type: StoreType) async throws {
    let bench = try EditingBench(type)
    let uri = try await conflict(bench)
    try await bench.change("save", ["choices": [uri: "mine"]])
    #expect(try bench.stored("Item", "memo").contains("mine"))
    #expect(try bench.stored("Item", "count").contains("9"))
    #expect(try await bench.unsavedCount() == 0)
  }

  @Test(arguments: EditingBench.types)
  func theirsStaysAndTheRestIsSaved(_ type: StoreType) async throws {
    let bench = try EditingBench(type)
    let other = try await bench.uri("Item", "name == 'work 2'")
    try await bench.change("set", ["uri": other, "name": "memo", "text": "kept"])
    try await bench.change("undo")
    let uri = try await conflict(bench)
    try await bench.change("set", ["uri": other, "name": "memo", "text": "kept"])
    try await bench.change("save", ["choices": [uri: "theirs"]])
    let memos = try bench.stored("Item", "memo")
    #expect(memos.contains("theirs") && memos.contains("kept") && !memos.contains("mine"))
    #expect(try await bench.property("memo", of: uri)["value"] as? String == "theirs")
  }

  @Test(arguments: EditingBench.types)
  func eachValueHasAChoiceOfItsOwn(_ type: StoreType) async throws {
    let bench = try EditingBench(type)
    let uri = try await bench.uri("Item", "name == 'home 1'")
    for (name, text) in [("memo", "mine"), ("count", "5"), ("price", "1.5")] {
      try await bench.change("set", ["uri": uri, "name": name, "text": text])
    }
    try bench.elsewhere { context in
      let item = try EditingBench.object("Item", "name == 'home 1'", in: context)
      try item.setPropertyValue(.string("theirs"), forKey: "memo")
      try item.setPropertyValue(.integer(9), forKey: "count")
      try item.setPropertyValue(.boolean(true), forKey: "isDone")
    }
    let (status, answer) = try await bench.send("save", [:])
    #expect(status == 409, "\(answer)")
    let conflict = try #require((answer["conflicts"] as? [[String: Any]])?.first)
    let changed = try #require(conflict["values"] as? [[String: Any]]).filter { $0["isChangedHere"] as? Bool == true }
    #expect(Set(changed.map { $0["name"] as? String }) == ["memo", "count", "price"])
    let (refused, _) = try await bench.send("save", ["choices": [uri: ["nothing": "theirs"]]])
    #expect(refused == 404)
    #expect(try bench.stored("Item", "memo").contains("theirs"), "a refused choice has written something")
    try await bench.change("save", ["choices": [uri: ["memo": "mine", "count": "theirs", "price": "mine"]]])
    #expect(try await bench.unsavedCount() == 0)
    for (name, value) in [("memo", "mine"), ("count", "9"), ("price", "1.5"), ("isDone", "true")] {
      #expect(try bench.stored("Item", name).contains(value), "\(name) is not \(value)")
    }
  }

  @Test(arguments: EditingBench.types)
  func whatOthersHaveDeletedIsNoLongerChanged(_ type: StoreType) async throws {
    let bench = try EditingBench(type)
    let uri = try await bench.uri("Item", "name == 'home 1'")
    try await bench.change("set", ["uri": uri, "name": "memo", "text": "mine"])
    try bench.elsewhere { context in
      context.delete(try EditingBench.object("Item", "name == 'home 1'", in: context))
    }
    let (status, answer) = try await bench.send("save", [:])
    #expect(status == 409, "\(answer)")
    let conflict = try #require((answer["conflicts"] as? [[String: Any]])?.first)
    #expect(conflict["isDeletedInStore"] as? Bool == true)
    try await bench.change("save", ["choices": [uri: "theirs"]])
    #expect(try bench.stored("Item", "name").count == 5)
    #expect(try await bench.unsavedCount() == 0)
  }

  @Test(arguments: EditingBench.types)
  func aDeletionHereOfWhatOthersHaveChangedIsAConflict(_ type: StoreType) async throws {
    for choice in ["mine", "theirs"] {
      let bench = try EditingBench(type)
      let uri = try await bench.uri("Item", "name == 'home 1'")
      try await bench.change("delete", ["uri": uri])
      try bench.elsewhere { context in
        let item = try EditingBench.object("Item", "name == 'home 1'", in: context)
        try item.setPropertyValue(.integer(9), forKey: "count")
      }
      let (status, answer) = try await bench.send("save", [:])
      #expect(status == 409, "\(answer)")
      #expect((answer["conflicts"] as? [[String: Any]])?.first?["isDeletedHere"] as? Bool == true)
      try await bench.change("save", ["choices": [uri: choice]])
      #expect(try bench.stored("Item", "name").contains("home 1") == (choice == "theirs"))
    }
  }

  /// Other records, and other items of the same list, are no conflict.
  @Test(arguments: [StoreType.binary, .xml, .propertyList, .sqlite])
  func changesThatDoNotMeetAreBothSaved(_ type: StoreType) async throws {
    let bench = try EditingBench(type)
    let list = try await bench.uri("List", "name == 'home'")
    let item = try await bench.uri("Item", "name == 'work 1'")
    try await bench.change("relate", ["uri": list, "name": "items", "other": item])
    let answer = try await bench.change("insert", ["entity": "Item"])
    let new = try #require((answer["record"] as? [String: Any])?["uri"] as? String)
    try await bench.change("set", ["uri": new, "name": "name", "text": "added here"])
    try await bench.change("relate", ["uri": new, "name": "list", "other": list])
    try bench.elsewhere { context in
      let home = try EditingBench.object("List", "name == 'home'", in: context)
      let item = try context.insert(entityName: "Item")
      try item.setPropertyValue(.string("added there"), forKey: "name")
      try item.setPropertyValue(.toOne(home.objectID), forKey: "list")
    }
    try await bench.change("save")
    let items = try #require(try await bench.property("items", of: list)["links"] as? [[String: Any]])
    let names = items.compactMap { $0["label"] as? String }.sorted()
    #expect(names == ["added here", "added there", "home 1", "home 2", "home 3", "work 1"])
  }

  @Test func aPageSeesWhatOthersHaveSavedWhenNothingIsUnsaved() async throws {
    let bench = try EditingBench(.binary)
    let uri = try await bench.uri("Item", "name == 'home 1'")
    try await bench.change("set", ["uri": uri, "name": "memo", "text": "x"])
    try await bench.change("save")
    let version = try await bench.get("state")["version"] as? Int
    #expect(version == 0, "a save of the page itself is taken for one of others")
    try bench.elsewhere { context in
      try EditingBench.object("Item", "name == 'home 1'", in: context).setPropertyValue(.string("y"), forKey: "memo")
    }
    #expect(try await bench.get("state")["version"] as? Int == 1)
    #expect(try await bench.property("memo", of: uri)["value"] as? String == "y")
  }
}
