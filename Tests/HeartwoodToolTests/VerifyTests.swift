import Foundation
import Testing

@Suite struct VerifyTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  @Test func soundStoresAreOk() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood").status == 0)
    for name in ["todo.csv", "todo.heartwood"] {
      let outcome = try heartwood("verify", name)
      #expect(outcome.status == 0)
      #expect(outcome.text == "ok: 6 records\n")
      #expect(outcome.errors == "")
    }
    let json = try #require(try heartwood("verify", "todo.heartwood", "--json").json() as? [String: Any])
    #expect(json["ok"] as? Bool == true)
    #expect(json["records"] as? Int == 6)
  }

  @Test func aStoreIsCompacted() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.sqlite").status == 0)
    let large = String(repeating: "x", count: 100_000)
    #expect(try heartwood("edit", "todo.sqlite", "--where", "done == NO", "--set", "memo=\(large)").status == 0)
    #expect(try heartwood("edit", "todo.sqlite", "--where", "done == NO", "--set", "memo=short").status == 0)
    let before = try folder.data("todo.sqlite").count
    let json = try #require(try heartwood("compact", "todo.sqlite", "--json").json() as? [String: Any])
    let after = try folder.data("todo.sqlite").count
    #expect(after < before)
    #expect(json["isDone"] as? Bool == true)
    #expect(json["sizeBefore"] as? Int == before)
    #expect(json["sizeAfter"] as? Int == after)
    #expect(try heartwood("verify", "todo.sqlite").text == "ok: 6 records\n")
    #expect(try heartwood("compact", "todo.sqlite").text == "todo.sqlite: \(after) bytes before, \(after) bytes now\n")
    let csv = try folder.data("todo.csv")
    #expect(try heartwood("compact", "todo.csv").text == "todo.csv: there is nothing to do for this type.\n")
    #expect(try folder.data("todo.csv") == csv)
    let missing = try heartwood("compact", "nothing.heartwood")
    #expect(missing.status == 1)
    #expect(missing.errors.hasPrefix("heartwood: error: nothing.heartwood: "))
  }

  @Test func everyAlteredByteIsFound() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood").status == 0)
    let whole = try folder.data("todo.heartwood")
    for offset in stride(from: 0, to: whole.count, by: max(1, whole.count / 12)) {
      var altered = whole
      altered[offset] ^= 0x10
      try altered.write(to: folder.path("altered.heartwood"))
      let outcome = try heartwood("verify", "altered.heartwood")
      #expect(outcome.status == 1, "byte \(offset)")
      #expect(outcome.text == "")
      #expect(outcome.errors.hasPrefix("heartwood: error: altered.heartwood: "), "byte \(offset): \(outcome.errors)")
    }
  }

  @Test func recordsThatBreakTheModelAreFindings() throws {
    let missing = "#D35CF030-1EC1-4667-9666-70C8247A1010\n, memo, 2, , E899556C-BE1A-42A3-A634-F8411915C05F\n"
    try folder.write(missing, to: "missing.csv")
    let outcome = try heartwood("verify", "missing.csv")
    #expect(outcome.status == 1)
    #expect(outcome.text == "")
    #expect(
      outcome.errors
        == "heartwood: error: missing.csv: ToDo E899556C-BE1A-42A3-A634-F8411915C05F: ToDo.done is required "
        + "and has no value.\n"
    )
    let json = try heartwood("verify", "missing.csv", "--json")
    #expect(json.status == 1)
    let object = try #require(try json.json() as? [String: Any])
    #expect(object["ok"] as? Bool == false)
    let findings = try #require(object["findings"] as? [[String: Any]])
    #expect(findings.map { $0["id"] as? String } == ["E899556C-BE1A-42A3-A634-F8411915C05F"])
  }

  @Test func whatMustBeUniqueAndIsNotIsAFinding() throws {
    try folder.writeUniqueModel(to: "unique.json")
    let outcome = try heartwood("verify", "todo.csv", "--model", "unique.json")
    #expect(outcome.status == 1)
    #expect(outcome.text == "")
    let lines = outcome.errors.split(separator: "\n").map(String.init)
    #expect(lines.count == 4, "\(outcome.errors)")
    #expect(
      lines[0] == "heartwood: error: todo.csv: ToDo 803054FC-C497-4DD7-A078-CF592B994EB4: memo must be unique, and "
        + "ToDo E899556C-BE1A-42A3-A634-F8411915C05F has the same."
    )
  }

  @Test func anIndexThatLacksRowsIsAFinding() throws {
    try folder.writeUniqueModel(to: "unique.json")
    try folder.writeToDos(count: 5, to: "many.csv")
    #expect(try heartwood("convert", "many.csv", "many.sqlite", "--model", "unique.json").status == 0)
    #expect(try heartwood("verify", "many.sqlite").text == "ok: 5 records\n")
    var bytes = try folder.data("many.sqlite")
    let leaves = stride(from: 0, to: bytes.count, by: 4096).filter { bytes[$0] == 0x0A }
    try #require(!leaves.isEmpty)
    // No free block, no cell, and cells that begin at the end of the page.
    for leaf in leaves { bytes.replaceSubrange(leaf + 1..<leaf + 8, with: [0, 0, 0, 0, 0x10, 0, 0]) }
    try bytes.write(to: folder.path("many.sqlite"))
    let outcome = try heartwood("verify", "many.sqlite")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("heartwood: error: many.sqlite: The file is damaged"), "\(outcome.errors)")
    #expect(outcome.errors.contains("missing from index Z_ToDo_UNIQUE_memo"), "\(outcome.errors)")
    let json = try #require(try heartwood("verify", "many.sqlite", "--json").json() as? [String: Any])
    #expect(json["ok"] as? Bool == false)
    #expect(json["records"] as? Int == 5)
    let findings = try #require(json["findings"] as? [[String: Any]])
    #expect(findings.first?["id"] is NSNull)
  }

  @Test(arguments: [
    ("not a store\n", 1), ("#D35CF030-1EC1-4667-9666-70C8247A1010\n1, memo\n", 2),
    (
      "#D35CF030-1EC1-4667-9666-70C8247A1010\n1, memo, many, 2016-09-17 18:15:00 +0000, E899556C-BE1A-42A3-A634-F8411915C05F\n",
      2
    ),
  ])
  func damagedTextIsFoundWithItsLine(_ text: String, _ line: Int) throws {
    try folder.write(text, to: "bad.csv")
    let outcome = try heartwood("verify", "bad.csv")
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("heartwood: error: bad.csv:\(line):"))
  }
}
