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
