import Foundation
import GRDB
import Testing

/// `convert --salvage`.
@Suite struct SalvageTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  /// Lets a line of the example be no record.
  private func damage(to name: String) throws {
    let text = String(decoding: try folder.data("todo.csv"), as: UTF8.self)
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    lines[3] = "what is this"
    try folder.write(lines.joined(separator: "\n"), to: name)
  }

  @Test func aDamagedFileIsRefusedWithTheWayOut() throws {
    try damage(to: "bad.csv")
    let refused = try heartwood("convert", "bad.csv", "good.heartwood")
    #expect(refused.status == 1)
    #expect(refused.errors.hasPrefix("heartwood: error: bad.csv:4:"), "\(refused.errors)")
    #expect(refused.errors.contains("--salvage writes what is sound in it."), "\(refused.errors)")
    #expect(!folder.exists("good.heartwood"))
  }

  @Test(arguments: ["good.heartwood", "good.sqlite", "good.xml", "good.plist"])
  func whatIsSoundIsWritten(_ name: String) throws {
    try damage(to: "bad.csv")
    let before = try folder.data("bad.csv")
    let salvaged = try heartwood("convert", "bad.csv", name, "--salvage", "--verify", "--report", "losses.json")
    #expect(salvaged.status == 1)
    #expect(salvaged.text.hasPrefix("\(name): 5 records, "), "\(salvaged.text)")
    #expect(salvaged.text.hasSuffix("verified\n"))
    #expect(
      salvaged.errors.contains("heartwood: salvage: bad.csv: ToDo, 1 record, line 4, bytes "),
      "\(salvaged.errors)"
    )
    #expect(salvaged.errors.hasSuffix("heartwood: salvage: bad.csv: 5 records written; 1 record lost.\n"))
    #expect(try folder.data("bad.csv") == before)
    #expect(try heartwood("verify", name).text == "ok: 5 records\n")

    let report = try #require(
      try JSONSerialization.jsonObject(with: try folder.data("losses.json")) as? [String: Any]
    )
    #expect(report["lostRecordCount"] as? Int == 1)
    #expect(report["isComplete"] as? Bool == false)
    let loss = try #require((report["losses"] as? [[String: Any]])?.first)
    #expect(loss["line"] as? Int == 4)
    #expect(loss["kind"] as? String == "records")
  }

  @Test func aWholeFileHasStatus0() throws {
    let salvaged = try heartwood("convert", "todo.csv", "todo.heartwood", "--salvage", "--verify")
    #expect(salvaged.status == 0)
    #expect(salvaged.errors == "")
    #expect(try heartwood("diff", "todo.csv", "todo.heartwood").status == 0)
  }

  @Test func anOldFileIsReplacedByForceAndTheSourceNever() throws {
    try damage(to: "bad.csv")
    try folder.write("precious", to: "good.heartwood")
    #expect(try heartwood("convert", "bad.csv", "good.heartwood", "--salvage").errors.contains("--force"))
    #expect(try heartwood("convert", "bad.csv", "good.heartwood", "--salvage", "--force", "--verify").status == 1)
    #expect(try heartwood("verify", "good.heartwood").text == "ok: 5 records\n")
    let itself = try heartwood("convert", "bad.csv", "bad.csv", "--salvage", "--force")
    #expect(itself.status == 1)
    #expect(itself.errors.contains("the same file"))
    #expect(try heartwood("convert", "bad.csv", "x.heartwood", "--report", "r.json").status == 64)
  }

  @Test func aBinaryFileWithoutItsModelIsReadWithOneThatIsGiven() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood").status == 0)
    var bytes = try folder.data("todo.heartwood")
    // The last bytes are those of the trailer.
    bytes.replaceSubrange((bytes.count - 20)..<bytes.count, with: Data(repeating: 0, count: 20))
    try bytes.write(to: folder.path("bad.heartwood"))
    let salvaged = try heartwood(
      "convert",
      "bad.heartwood",
      "good.csv",
      "--salvage",
      "--model",
      "ToDo.xcdatamodeld"
    )
    #expect(salvaged.status == 1)
    #expect(salvaged.text.hasPrefix("good.csv: 6 records"), "\(salvaged.errors)")
    #expect(
      try heartwood("convert", "bad.heartwood", "good.plist", "--salvage").text.hasPrefix("good.plist: 6 records")
    )

    // Without the directory nothing tells where values are.
    try bytes.prefix(bytes.count / 2).write(to: folder.path("half.heartwood"))
    let refused = try heartwood("convert", "half.heartwood", "half.csv", "--salvage")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("nothing can be salvaged"), "\(refused.errors)")
    #expect(!folder.exists("half.csv"))
  }

  @Test func rowsThatCannotBeReadAreLeftOut() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.sqlite").status == 0)
    let queue = try DatabaseQueue(path: folder.path("todo.sqlite").path)
    try queue.write { db in
      try db.execute(sql: "UPDATE ZTODO SET ZSORTORDER = 99999999999 WHERE Z_PK = 2")
    }
    try queue.close()
    let refused = try heartwood("convert", "todo.sqlite", "good.csv")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("--salvage"), "\(refused.errors)")
    let salvaged = try heartwood("convert", "todo.sqlite", "good.csv", "--salvage")
    #expect(salvaged.status == 1)
    #expect(salvaged.text.hasPrefix("good.csv: 6 records"), "\(salvaged.errors)")
    #expect(salvaged.errors.contains("ToDo.sortOrder of 2: The row with the key 2"), "\(salvaged.errors)")
    #expect(salvaged.errors.contains("6 records written; 1 value lost"), "\(salvaged.errors)")
  }
}
