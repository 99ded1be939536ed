import Foundation
import GRDB
import Testing

/// What the commands say of SQLite files that hold values of another kind, or lack a file with large data.
@Suite struct UnreadableValueTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
    try folder.write(
      #"""
      {"format": 1, "entities": [
        {"name": "Photo", "properties": [
          {"kind": "attribute", "name": "data", "optional": true, "type": "binary", "externalStorage": true},
          {"kind": "attribute", "name": "title", "optional": true, "type": "string"}]},
        {"name": "Task", "properties": [
          {"kind": "attribute", "name": "due", "optional": true, "type": "date"},
          {"kind": "attribute", "name": "name", "optional": true, "type": "string"}]}
      ]}
      """#,
      to: "model.json"
    )
    try folder.write("1\n", to: "tasks.csv")
    let records = (1...230).map {
      "<object type=\"TASK\" id=\"z\($0)\"><attribute name=\"name\" type=\"string\">task \($0)</attribute></object>"
    }
    let photos = ["one", "two"].enumerated().map { index, title in
      "<object type=\"PHOTO\" id=\"z\(1000 + index)\"><attribute name=\"data\" type=\"binary\">"
        + Data(repeating: UInt8(index), count: 150_000).base64EncodedString()
        + "</attribute><attribute name=\"title\" type=\"string\">\(title)</attribute></object>"
    }
    try folder.write(
      """
      <?xml version="1.0"?>
      <database><databaseInfo><version>134481920</version><UUID>B4FC79D0-E654-43EF-9020-A5273B3F104A</UUID>
      <nextObjectID>2000</nextObjectID><metadata><plist version="1.0"><dict></dict></plist></metadata></databaseInfo>
      \((records + photos).joined(separator: "\n"))
      </database>
      """,
      to: "store.xml"
    )
    let outcome = try heartwood("convert", "store.xml", "store.sqlite", "--model", "model.json")
    try #require(outcome.status == 0, "\(outcome.errors)")
  }

  private func execute(_ sql: String) throws {
    let queue = try DatabaseQueue(path: folder.path("store.sqlite").path)
    try queue.write { try $0.execute(sql: sql) }
    try queue.close()
  }

  private func removeFile() throws -> String {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path(".store_SUPPORT/_EXTERNAL_DATA").path)
    let name = try #require(names.first)
    try #require(names.count == 2)
    try FileManager.default.removeItem(at: folder.path(".store_SUPPORT/_EXTERNAL_DATA/\(name)"))
    return name
  }

  @Test func garbageInAColumnOfDatesIsAnError() throws {
    #expect(try heartwood("verify", "store.sqlite").text == "ok: 232 records\n")
    try execute("UPDATE ZTASK SET ZDUE = 'garbage' WHERE Z_PK = 7")
    let what = "The row with the key 7 of the table ZTASK holds text instead of a date"
    for arguments in [
      ["dump", "store.sqlite"], ["dump", "store.sqlite", "--entity", "Task"], ["fetch", "store.sqlite", "Task"],
      ["fetch", "store.sqlite", "Task", "--where", "name == 'task 7'"], ["convert", "store.sqlite", "copy.sqlite"],
      ["convert", "store.sqlite", "copy.heartwood"],
    ] {
      let outcome = try heartwood(arguments)
      #expect(outcome.status == 1 && outcome.text == "", "\(arguments)")
      #expect(outcome.errors.contains(what) && outcome.errors.contains("Task.due"), "\(arguments): \(outcome.errors)")
    }
    #expect(!folder.exists("copy.sqlite") && !folder.exists("copy.heartwood"))
    // Other records, and those of other entities, are there.
    #expect(try heartwood("fetch", "store.sqlite", "Task", "--where", "name == 'task 8'").status == 0)
    #expect(try heartwood("dump", "store.sqlite", "--entity", "Photo").jsonLines().count == 2)
    let outcome = try heartwood("verify", "store.sqlite")
    #expect(outcome.status == 1)
    #expect(outcome.errors == "heartwood: error: store.sqlite: Task 7: \(what) (seconds since 2001). (property due)\n")
  }

  @Test func allFindingsAreCounted() throws {
    try execute("UPDATE ZTASK SET ZNAME = CAST(x'74ff' AS TEXT) WHERE Z_PK <= 220")
    let outcome = try heartwood("verify", "store.sqlite")
    #expect(outcome.status == 1)
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.count == 101)
    #expect(lines[0].contains("Task 1: The row with the key 1 of the table ZTASK holds text that is not UTF-8."))
    #expect(lines.last == "heartwood: error: store.sqlite: and 120 more findings")
    let json = try #require(try heartwood("verify", "store.sqlite", "--json").json() as? [String: Any])
    #expect(json["findingCount"] as? Int == 220 && json["hasMoreFindings"] as? Bool == true)
    #expect(json["records"] is NSNull)
    let findings = try #require(json["findings"] as? [[String: Any]])
    #expect(findings.count == 100)
    #expect(findings[1]["entity"] as? String == "Task" && findings[1]["id"] as? String == "2")
    #expect(findings[1]["property"] as? String == "name")
  }

  @Test func aMissingFileCostsOneValue() throws {
    let name = try removeFile()
    #expect(try heartwood("dump", "store.sqlite", "--entity", "Task").jsonLines().count == 230)
    #expect(try heartwood("fetch", "store.sqlite", "Photo", "--count").status == 0)
    for arguments in [
      ["dump", "store.sqlite"], ["dump", "store.sqlite", "--entity", "Photo"],
      ["convert", "store.sqlite", "copy.sqlite"],
      ["convert", "store.sqlite", "copy.heartwood"],
    ] {
      let outcome = try heartwood(arguments)
      #expect(outcome.status == 1 && outcome.text == "", "\(arguments)")
      #expect(outcome.errors.contains(name) && outcome.errors.contains("Photo.data"), "\(arguments): \(outcome.errors)")
      #expect(outcome.errors.contains("of the table ZPHOTO refers to the file"), "\(arguments): \(outcome.errors)")
    }
    #expect(!folder.exists("copy.sqlite") && !folder.exists("copy.heartwood"))
    let json = try #require(try heartwood("verify", "store.sqlite", "--json").json() as? [String: Any])
    #expect(json["ok"] as? Bool == false && json["findingCount"] as? Int == 1)
    #expect(json["records"] as? Int == 232, "the records can be read")
  }
}
