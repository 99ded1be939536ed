import Foundation
import TestSupport
import Testing

@Suite struct DumpTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  @Test func jsonIsTheDefault() throws {
    let outcome = try heartwood("dump", "todo.csv")
    #expect(outcome.status == 0)
    #expect(
      outcome.lines.first
        == #"{"$entity":"ToDo","$id":"E899556C-BE1A-42A3-A634-F8411915C05F","done":true,"memo":"insertCurrent","#
        + #""sortOrder":2,"creationDate":"2016-09-17T18:15:00Z"}"#
    )
    let objects = try outcome.jsonLines()
    #expect(objects.map { $0["sortOrder"] as? Int } == [2, 5, 3, 1, 0, 4])
    #expect(try heartwood("dump", "todo.csv", "--format", "json").output == outcome.output)
  }

  @Test func bothStoresGiveTheSameBytes() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood").status == 0)
    for format in ["json", "csv", "table"] {
      let dumps = try ["todo.csv", "todo.heartwood"].map { try heartwood("dump", $0, "--format", format).output }
      #expect(dumps[0] == dumps[1])
      #expect(!dumps[0].isEmpty)
    }
  }

  @Test func csvHasAHeader() throws {
    let lines = try heartwood("dump", "todo.csv", "--format", "csv").lines
    #expect(lines.count == 7)
    #expect(lines[0] == "$id,done,memo,sortOrder,creationDate")
    #expect(lines[1] == "E899556C-BE1A-42A3-A634-F8411915C05F,true,insertCurrent,2,2016-09-17T18:15:00Z")
  }

  @Test func tableIsAligned() throws {
    let lines = try heartwood("dump", "todo.csv", "--format", "table").lines
    #expect(lines[0] == "$id                                   done   memo           sortOrder  creationDate")
    #expect(lines[2] == "E899556C-BE1A-42A3-A634-F8411915C05F  true   insertCurrent          2  2016-09-17T18:15:00Z")
    #expect(lines.count == 8)
  }

  #if os(Linux)
    /// What stands in records commands no terminal; a pipe gets it byte for byte.
    @Test(
      .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/script")),
      arguments: ["dump red.csv", "fetch red.csv ToDo", "fetch red.csv ToDo --select memo"]
    )
    func recordsCommandNoTerminal(_ arguments: String) throws {
      try folder.write(
        """
        #D35CF030-1EC1-4667-9666-70C8247A1010
        0, a\u{1B}[31mb, 1, 2016-09-17 18:15:00 +0000, E899556C-BE1A-42A3-A634-F8411915C05F

        """,
        to: "red.csv"
      )
      let piped = try heartwood.shell("heartwood \(arguments) --format csv")
      #expect(piped.text.contains("a\u{1B}[31mb"), "\(piped.errors)")
      let tool = try BuiltExecutable.url(named: "heartwood").path
      for format in ["csv", "json", "table"] {
        let shown = try heartwood.shell("script -qec \"'\(tool)' \(arguments) --format \(format)\" /dev/null").text
        #expect(!shown.contains("\u{1B}[31m") && shown.contains(#"a\u001b[31mb"#), "\(shown)")
      }
    }
  #endif

  @Test func relationshipsAreReferences() throws {
    try Library.write(to: folder.path("library.heartwood"))
    let objects = try heartwood("dump", "library.heartwood").jsonLines()
    let author = try #require(objects.first)
    let books = objects.dropFirst()
    #expect(author["$entity"] as? String == "Author")
    #expect(author["name"] as? String == "楊\tX")
    #expect(author["books"] as? [String] == books.prefix(2).map { $0["$id"] as? String })
    #expect(books.map { $0["author"] as? String } == [author["$id"] as? String, author["$id"] as? String, nil])
    #expect(books.map { $0["price"] as? String } == ["19.99", nil, nil])
    #expect(books.last?["author"] is NSNull)
    #expect(books.first?["cover"] as? String == "/wA=")
  }

  /// Entities may call their records alike.
  @Test func referencesToOtherEntitiesThanTheRelationshipsNameThem() throws {
    let sample = Repository.root.appending(path: "Formats/PropertyList/samples/version-1-xml.plist").path
    let project = try #require(try heartwood("dump", sample, "--entity", "Project").lines.first)
    let note = #"{"$entity":"Note","$id":"E899556C-BE1A-42A3-A634-F8411915C001"}"#
    let items = #"[{"$entity":"Task","$id":"1"},\#(note),{"$entity":"Task","$id":"0"}]"#
    #expect(project == #"{"$entity":"Project","$id":"home","name":"At home","items":\#(items)}"#)
    #expect(try heartwood("fetch", sample, "Project", "--limit", "1").lines == [project])
    let fields = try heartwood("dump", sample, "--entity", "Project", "--format", "csv").lines
    #expect(fields[1] == "home,At home,\"\(items.replacing("\"", with: "\"\""))\"")
    #expect(try heartwood("dump", sample, "--entity", "Project", "--format", "table").text.contains(items))
    // A reference to a record of the relationship's own entity stands alone.
    let notes = try heartwood("dump", sample, "--entity", "Note").jsonLines()
    #expect(notes.first?["answers"] as? String == "E899556C-BE1A-42A3-A634-F8411915C001")
  }

  @Test func oneEntityCanBeChosen() throws {
    try Library.write(to: folder.path("library.heartwood"))
    let books = try heartwood("dump", "library.heartwood", "--entity", "Book").jsonLines()
    #expect(books.map { $0["title"] as? String } == ["One, \"two\"", "Zwei", ""])
    let fields = try heartwood("dump", "library.heartwood", "--entity", "Book", "--format", "csv").text
    #expect(fields.contains(",\"One, \"\"two\"\"\",19.99,/wA=,"))
    #expect(fields.contains(",\"\",,,\n"))
  }

  @Test func csvOfSeveralEntitiesIsRefused() throws {
    try Library.write(to: folder.path("library.heartwood"))
    let outcome = try heartwood("dump", "library.heartwood", "--format", "csv")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("--entity: Author, Book"))
  }

  @Test func tablesOfSeveralEntitiesHaveTitles() throws {
    try Library.write(to: folder.path("library.heartwood"))
    let text = try heartwood("dump", "library.heartwood", "--format", "table").text
    #expect(text.hasPrefix("Author: 1 record\n$id"))
    #expect(text.contains("\n\nBook: 3 records\n$id"))
    #expect(text.contains("楊\\tX"))
  }

  @Test func entitiesThatAreNotThereAreRefused() throws {
    let outcome = try heartwood("dump", "todo.csv", "--entity", "Todo")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("ToDo"))
  }

  @Test(arguments: ["json", "csv", "table"])
  func whoHasSeenEnoughMayClose(_ format: String) throws {
    try folder.writeToDos(count: 5000, to: "many.csv")
    let outcome = try heartwood.shell("(heartwood dump many.csv --format \(format); echo status $? >&2) | head -n 1")
    #expect(outcome.lines.count == 1)
    #expect(outcome.errors == "status 0\n")
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func aFullDiskIsAnError() throws {
    let outcome = try heartwood.shell("heartwood dump todo.csv > /dev/full")
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("heartwood: error: The output cannot be written: "))
  }

  @Test func manyRecordsKeepTheirOrder() throws {
    try folder.writeToDos(count: 40_000, to: "many.csv")
    let objects = try heartwood("dump", "many.csv").jsonLines()
    #expect(objects.map { $0["sortOrder"] as? Int } == Array(0..<40_000))
  }
}
