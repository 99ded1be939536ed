import Foundation
import GRDB
import HeartwoodSQLite
import Testing

/// An SQLite file whose model is nowhere: neither in it nor beside it.
@Suite struct RecoverModelTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
    try Library.write(alone: "library.sqlite", in: folder)
    let queue = try DatabaseQueue(path: folder.path("bare/library.sqlite").path)
    try queue.write { db in
      let list = try #require(try Data.fetchOne(db, sql: "SELECT Z_PLIST FROM Z_METADATA"))
      var members = try #require(
        try PropertyListSerialization.propertyList(from: list, format: nil) as? [String: Any]
      )
      members["HeartwoodModel"] = nil
      let rest = try PropertyListSerialization.data(fromPropertyList: members, format: .binary, options: 0)
      try db.execute(sql: "UPDATE Z_METADATA SET Z_PLIST = ?", arguments: [rest])
      try db.execute(sql: "DELETE FROM Z_MODELCACHE")
    }
    try queue.close()
  }

  @Test func theWayToItIsSaid() throws {
    let outcome = try heartwood("dump", "bare/library.sqlite")
    #expect(outcome.status == 1)
    let command = "heartwood recover-model bare/library.sqlite bare/library.xcdatamodeld"
    #expect(outcome.errors.contains(command), "\(outcome.errors)")
    // The model that the command writes is found beside the file.
    #expect(try heartwood.shell(command).status == 0)
    #expect(try heartwood("dump", "bare/library.sqlite").status == 0)
  }

  @Test(arguments: ["Library.json", "Library.xcdatamodel", "Library.xcdatamodeld"])
  func theFileIsReadAndConvertedWithTheModel(_ name: String) throws {
    let before = try folder.data("bare/library.sqlite")
    let made = try heartwood("recover-model", "bare/library.sqlite", name)
    #expect(made.status == 0, "\(made.errors)")
    #expect(made.text == "")
    #expect(
      made.errors.contains("heartwood: note: bare/library.sqlite: ") && made.errors.contains("made up: Author.books.")
    )
    #expect(try heartwood("recover-model", "bare/library.sqlite", name).errors.contains("--force"))
    #expect(try heartwood("recover-model", "bare/library.sqlite", name, "--force", "--quiet").errors == "")

    let dump = try heartwood("dump", "bare/library.sqlite", "--model", name)
    #expect(dump.status == 0, "\(dump.errors)")
    let books = try dump.jsonLines().filter { $0["$entity"] as? String == "Book" }
    #expect(Set(books.compactMap { $0["title"] as? String }) == ["One, \"two\"", "Zwei", ""])
    #expect(books.compactMap { $0["author"] as? String } == ["1", "1"])
    #expect(books.compactMap { $0["price"] as? String } == ["19.99"])
    #expect(books.compactMap { $0["cover"] as? String } == ["/wA="])
    let info = try heartwood("info", "bare/library.sqlite", "--model", name)
    #expect(info.text.contains("entity Book"), "\(info.errors)")
    let fetched = try heartwood(
      "fetch",
      "bare/library.sqlite",
      "Author",
      "--model",
      name,
      "--where",
      "ANY books.title == 'Zwei'"
    )
    #expect(try fetched.jsonLines().count == 1, "\(fetched.errors)")
    #expect(try folder.data("bare/library.sqlite") == before)

    let converted = try heartwood("convert", "bare/library.sqlite", "out.heartwood", "--model", name, "--verify")
    #expect(converted.status == 0, "\(converted.errors)")
    #expect(try heartwood("verify", "out.heartwood").text == "ok: 4 records\n")
    // What was converted is of the recovered model, and so may be changed.
    let edited = try heartwood(
      "edit",
      "out.heartwood",
      "--entity",
      "Book",
      "--where",
      "title == ''",
      "--set",
      "title=x"
    )
    #expect(edited.status == 0, "\(edited.errors)")
  }

  /// The file's hashes are others: Core Data would not open it again.
  @Test func theFileIsNotChangedByTheModel() throws {
    #expect(try heartwood("recover-model", "bare/library.sqlite", "L.json", "--quiet").status == 0)
    let before = try folder.data("bare/library.sqlite")
    let line = "heartwood edit bare/library.sqlite --model L.json --entity Book --where TRUEPREDICATE --set title=x"
    for ending in ["", " --dry-run"] {
      let refused = try heartwood.shell(line + ending)
      #expect(refused.status == 1)
      #expect(refused.errors.contains("was recovered from the tables"), "\(refused.errors)")
    }
    #expect(try folder.data("bare/library.sqlite") == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("bare").path) == ["library.sqlite"])
  }

  @Test func withoutAnOutputTheModelIsPrinted() throws {
    let printed = try heartwood("recover-model", "bare/library.sqlite", "--quiet")
    #expect(printed.status == 0, "\(printed.errors)")
    let model = try #require(try printed.json() as? [String: Any])
    #expect((model["versionIdentifiers"] as? [String])?.first?.hasPrefix("recovered") == true)
  }

  @Test(arguments: [
    ("recover-model todo.csv", 1, "of the type CSV"), ("recover-model none.sqlite", 1, "There is no such file."),
    ("recover-model bare/library.sqlite out.txt", 1, "The name does not show the form."),
    ("recover-model bare/library.sqlite bare/library.sqlite --force", 1, "are the same file"),
    ("recover-model bare/library.sqlite --force", 64, "--force requires an output"),
  ])
  func whatCannotBeDoneIsSaid(_ arguments: String, _ status: Int, _ text: String) throws {
    let outcome = try heartwood.shell("heartwood \(arguments)")
    #expect(outcome.status == Int32(status))
    #expect(outcome.errors.contains(text), "\(outcome.errors)")
  }
}
