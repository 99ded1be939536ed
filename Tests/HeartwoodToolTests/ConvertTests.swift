import Foundation
import Heartwood
import HeartwoodTesting
import TestSupport
import Testing

@Suite struct ConvertTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  @Test func thereAndBackGivesTheSameBytes() throws {
    let there = try heartwood("convert", "todo.csv", "todo.heartwood", "--verify")
    #expect(there.status == 0)
    #expect(there.errors == "")
    let size = try folder.data("todo.heartwood").count
    let line = try #require(
      there.text.firstMatch(of: /^todo.heartwood: 6 records, (\d+) bytes, \d+\.\d\d\d s, verified\n$/)
    )
    #expect(Int(line.1) == size)

    let back = try heartwood("convert", "todo.heartwood", "copy.csv")
    #expect(back.status == 0)
    #expect(!back.text.contains("verified"))
    #expect(try folder.data("copy.csv") == folder.data("todo.csv"))
  }

  @Test func aFileOfAnOlderVersionIsReadWithThat() throws {
    try folder.addVersions()
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood", "--verify").status == 0)
    #expect(try heartwood("convert", "todo.heartwood", "copy.csv").status == 0)
    #expect(try folder.data("copy.csv") == folder.data("todo.csv"))
    #expect(try heartwood("fetch", "todo.csv", "ToDo", "--where", "due == nil").status == 1)
    #expect(try heartwood("fetch", "todo.csv", "ToDo", "--limit", "1").status == 0)
    #expect(try heartwood("migrate", "todo.heartwood", "--to-model", "ToDo.xcdatamodeld").status == 0)
    let migrated = try heartwood("fetch", "todo.heartwood", "ToDo", "--where", "due == nil AND priority == 0")
    #expect(migrated.text.split(separator: "\n").count == 6)
    // One that fits no version is refused as one that does not fit the current one.
    try folder.write("#D35CF030-1EC1-4667-9666-70C8247A1010\n1, 2\n", to: "other.csv")
    let refused = try heartwood("convert", "other.csv", "other.heartwood")
    #expect(refused.status == 1)
    #expect(refused.errors.hasPrefix("heartwood: error: other.csv:2"))
  }

  @Test func theVersionThatGetsFurthestTellsWhatIsWrong() throws {
    try folder.addVersions()
    let text = String(decoding: try folder.data("todo.csv"), as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let damaged = lines.enumerated().map { place, line in
      place == 3 ? String(line).replacing("2016-09", with: "20x6-09") : String(line)
    }
    try folder.write(damaged.joined(separator: "\n"), to: "bad.csv")
    let refused = try heartwood("verify", "bad.csv")
    #expect(refused.status == 1)
    #expect(refused.errors.hasPrefix("heartwood: error: bad.csv:4:"), "\(refused.errors)")
    #expect(
      refused.errors.contains("read with the version “ToDo” of the model ./ToDo.xcdatamodeld)"),
      "\(refused.errors)"
    )
  }

  @Test func existingFilesAreReplacedByForceOnly() throws {
    try folder.write("precious", to: "todo.heartwood")
    let refused = try heartwood("convert", "todo.csv", "todo.heartwood")
    #expect(refused.status == 1)
    #expect(refused.text == "")
    #expect(refused.errors.hasPrefix("heartwood: error: todo.heartwood: There is a file already."))
    #expect(refused.errors.contains("--force"))
    #expect(try folder.data("todo.heartwood") == Data("precious".utf8))

    #expect(try heartwood("convert", "todo.csv", "todo.heartwood", "--force").status == 0)
    #expect(try heartwood("verify", "todo.heartwood").text == "ok: 6 records\n")
  }

  @Test func whatIsNotUniqueIsRefusedWithItsName() throws {
    try folder.writeUniqueModel(to: "unique.json")
    let names = try folder.names
    let refused = try heartwood("convert", "todo.csv", "todo.sqlite", "--model", "unique.json")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("todo.sqlite"))
    #expect(
      refused.errors.contains(
        "ToDo E899556C-BE1A-42A3-A634-F8411915C05F and ToDo 803054FC-C497-4DD7-A078-CF592B994EB4 have the same memo"
      ),
      "\(refused.errors)"
    )
    #expect(!refused.errors.contains("heartwood-tmp"), "\(refused.errors)")
    #expect(try folder.names == names)
  }

  @Test func anEmptyFileIsNotInTheWay() throws {
    try folder.write("", to: "todo.heartwood")
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood").status == 0)
  }

  @Test(arguments: [["todo.csv"], ["./todo.csv", "--force"], ["link.csv", "--force"], ["hard.csv", "--force"]])
  func theSourceIsNoDestination(_ arguments: [String]) throws {
    try FileManager.default.createSymbolicLink(at: folder.path("link.csv"), withDestinationURL: folder.path("todo.csv"))
    try FileManager.default.linkItem(at: folder.path("todo.csv"), to: folder.path("hard.csv"))
    let before = try folder.data("todo.csv")
    let line = (["heartwood convert todo.csv"] + arguments).joined(separator: " ")
    let outcome = try heartwood.shell(line)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("are the same file"))
    #expect(try folder.data("todo.csv") == before)
  }

  @Test func typesCanBeGiven() throws {
    #expect(try heartwood("convert", "todo.csv", "plain", "--to", "binary").status == 0)
    #expect(try heartwood("info", "plain", "--json").text.hasPrefix("{\"type\":\"Binary\""))
    try FileManager.default.copyItem(at: folder.path("todo.csv"), to: folder.path("todo.txt"))
    #expect(try heartwood("convert", "todo.txt", "again", "--from", "CSV", "--to", "Binary").status == 0)
    #expect(try folder.data("again") == folder.data("plain"))
  }

  @Test func typesThatNobodyKnowsAreRefused() throws {
    let nameless = try heartwood("convert", "todo.csv", "todo.unheard")
    #expect(nameless.status == 1)
    #expect(nameless.errors.contains("--to"))
    let unknown = try heartwood("convert", "todo.csv", "todo.unheard", "--to", "Fax")
    #expect(unknown.status == 64)
    #expect(unknown.errors.contains("Registered are Binary, CSV, XML, PropertyList, CoreDataBinary, InMemory"))
    let nowhere = try heartwood("convert", "todo.csv", "todo.unheard", "--to", "InMemory")
    #expect(nowhere.status == 1)
    #expect(nowhere.errors.contains("has no file"))
    #expect(!folder.exists("todo.unheard"))
  }

  @Test func quietPrintsNothing() throws {
    let outcome = try heartwood("convert", "todo.csv", "todo.heartwood", "--quiet", "--verify")
    #expect(outcome.status == 0)
    #expect(outcome.text == "")
    #expect(outcome.errors == "")
  }

  @Test func whatTheDestinationCannotHoldIsRefusedBeforeAnythingIsWritten() throws {
    try Library.write(to: folder.path("library.heartwood"))
    let before = try folder.names
    let outcome = try heartwood("convert", "library.heartwood", "library.csv")
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("heartwood: error: "))
    #expect(try folder.names == before)
  }

  @Test func relationshipsComeAlong() throws {
    try Library.write(to: folder.path("library.heartwood"))
    #expect(try heartwood("convert", "library.heartwood", "copy.heartwood", "--verify").status == 0)
    let dumps = try ["library.heartwood", "copy.heartwood"].map { try heartwood("dump", $0).text }
    #expect(dumps[0] == dumps[1])
    #expect(dumps[0].split(separator: "\n").count == 4)
  }

  @Test func otherReferencesAreTold() throws {
    let outcome = try heartwood("convert", "todo.csv", "todo.sqlite", "--verify")
    #expect(outcome.status == 0)
    #expect(
      outcome.errors
        == "heartwood: note: todo.sqlite: The type assigns its own references: they differ from those in todo.csv.\n"
    )
    #expect(try folder.names.filter { $0.hasPrefix("todo.sqlite") } == ["todo.sqlite"])
    #expect(try heartwood("convert", "todo.csv", "todo.sqlite", "--force", "--quiet").errors == "")
    #expect(try heartwood("convert", "todo.sqlite", "copy.sqlite").errors == "")
    #expect(try heartwood("convert", "todo.sqlite", "todo.xml").errors == "")
  }

  @Test func aModelThatIsLeftBehindIsTold() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood").errors == "")
    #expect(try heartwood("convert", "todo.heartwood", "beside.csv").errors == "", "there is a model beside it")
    try FileManager.default.createDirectory(at: folder.path("alone"), withIntermediateDirectories: true)
    let outcome = try heartwood("convert", "todo.heartwood", "alone/w.csv")
    #expect(outcome.status == 0)
    #expect(
      outcome.errors == "heartwood: note: alone/w.csv: The type keeps no model. Open the file with --model "
        + "todo.heartwood, or with the copy that heartwood model convert todo.heartwood NAME.json makes.\n"
    )
    #expect(try heartwood("info", "alone/w.csv").status == 1)
    #expect(try heartwood("model", "convert", "todo.heartwood", "copy.json").status == 0)
    for model in ["todo.heartwood", "copy.json"] {
      #expect(try heartwood("info", "alone/w.csv", "--model", model).status == 0)
    }
    // The user knows where a model is that he gives.
    let given = try heartwood("convert", "todo.csv", "alone/v.csv", "--model", "ToDo.xcdatamodeld")
    #expect(given.errors == "")
    #expect(try heartwood("convert", "todo.heartwood", "alone/w.xml").errors == "", "the type keeps it")
  }

  /// What has been done is not undone because nobody can be told.
  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func whatIsDoneIsSaidThoughTheOutputIsFull() throws {
    let reason = "; only the report of it is missing. The output cannot be written: No space left on device.\n"
    let converted = try heartwood.shell("heartwood convert todo.csv todo.heartwood > /dev/full")
    #expect(converted.status == 1)
    #expect(converted.errors == "heartwood: error: todo.heartwood: The store was written" + reason)
    #expect(try heartwood("verify", "todo.heartwood").text == "ok: 6 records\n")
    let contents = "ToDo.xcdatamodeld/ToDo.xcdatamodel/contents"
    let model = String(decoding: try folder.data(contents), as: UTF8.self)
    try folder.write(model.replacing("name=\"memo\"", with: "name=\"text\" elementID=\"memo\""), to: contents)
    let line = "heartwood migrate todo.heartwood --to-model ToDo.xcdatamodeld"
    let foretold = try heartwood.shell("\(line) --dry-run > /dev/full")
    #expect(foretold.errors == "heartwood: error: The output cannot be written: No space left on device.\n")
    let migrated = try heartwood.shell("\(line) > /dev/full")
    #expect(migrated.status == 1)
    #expect(migrated.errors == "heartwood: error: todo.heartwood: The store was migrated" + reason)
    #expect(try heartwood("fetch", "todo.heartwood", "ToDo", "--where", "text != nil").lines.count == 6)
  }

  #if os(Linux)
    /// What the bar says while most of the time goes by.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/script")))
    func aTerminalIsToldThatAnSQLiteFileIsWritten() throws {
      try folder.writeToDos(count: 300_000, to: "many.csv")
      let tool = try BuiltExecutable.url(named: "heartwood").path
      let outcome = try heartwood.shell("script -qec \"'\(tool)' convert many.csv many.sqlite\" /dev/null")
      #expect(outcome.status == 0, "\(outcome.text)")
      #expect(outcome.text.contains("] writing, "), "\(outcome.text)")
    }
  #endif

  @Test func aFolderThatIsNotThereIsAnError() throws {
    let outcome = try heartwood("convert", "todo.csv", "nowhere/todo.heartwood")
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("heartwood: error: nowhere/todo.heartwood: "))
  }

  @Test func aDamagedSourceIsNotConverted() throws {
    try folder.write("#D35CF030-1EC1-4667-9666-70C8247A1010\n1, memo, many, 2016-09-17 18:15:00 +0000\n", to: "bad.csv")
    let before = try folder.names
    let outcome = try heartwood("convert", "bad.csv", "bad.heartwood")
    #expect(outcome.status == 1)
    #expect(outcome.errors.hasPrefix("heartwood: error: bad.csv:2:"))
    #expect(try folder.names == before)
  }

  @Test(arguments: ["todo.heartwood", "todo.sqlite"])
  func anOldFileIsReplacedByOneThatWasVerified(_ name: String) throws {
    #expect(try heartwood("convert", "todo.csv", name).status == 0)
    let before = try folder.names
    try folder.writeToDos(count: 3, to: "three.csv")
    let outcome = try heartwood("convert", "three.csv", name, "--force", "--verify")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.text.hasPrefix("\(name): 3 records, ") && outcome.text.contains(", verified"))
    #expect(try heartwood("verify", name).text == "ok: 3 records\n")
    #expect(try folder.names == (before + ["three.csv"]).sorted())
  }

  /// A killed process leaves its draft, and does not lock it any more.
  @Test(arguments: ["todo.heartwood", "todo.sqlite"])
  func aDraftThatWasLeftIsRemoved(_ name: String) throws {
    #expect(try heartwood("convert", "todo.csv", name).status == 0)
    let before = try folder.names
    func make(_ draft: String) throws {
      try FileManager.default.createDirectory(at: folder.path(draft), withIntermediateDirectories: true)
      try folder.write("whole", to: "\(draft)/\(name)")
    }
    let (used, other) = (".\(name).b2.heartwood-draft", ".\(name).copy.c3.heartwood-draft")
    for draft in [".\(name).a1.heartwood-draft", used, other] { try make(draft) }
    let lock = try POSIXFileSystem().lockFile(atPath: folder.path(used).path)
    defer { lock?.release() }
    #expect(try heartwood("convert", "todo.csv", name, "--force", "--verify").status == 0)
    #expect(try folder.names == (before + [used, other]).sorted())
    #expect(try folder.data("\(used)/\(name)") == Data("whole".utf8))
  }

  @Test func whoInterruptsAConversionLeavesNoDraft() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.sqlite").status == 0)
    try folder.writeToDos(count: 300_000, to: "many.csv")
    let (before, old) = (try folder.names, try folder.data("todo.sqlite"))
    let tool = try BuiltExecutable.url(named: "heartwood").path
    let outcome = try heartwood.shell(
      """
      '\(tool)' convert many.csv todo.sqlite --force --verify & process=$!
      for i in $(seq 1000); do ls -d .todo.sqlite.*.heartwood-draft > /dev/null 2>&1 && break; sleep 0.01; done
      ls -d .todo.sqlite.*.heartwood-draft; kill -TERM $process; wait $process
      """
    )
    #expect(outcome.status != 0)
    #expect(outcome.lines.count == 1, "there was a draft: \(outcome.text) \(outcome.errors)")
    #expect(try folder.names == before)
    #expect(try folder.data("todo.sqlite") == old)
  }

  /// The system kills who writes more than it lets files have, but for those who ask to be told.
  @Test(
    .disabled(
      if: ProcessInfo.processInfo.environment["HEARTWOOD_SANITIZER"] != nil,
      "a sanitizer has long files of its own"
    ),
    arguments: ["todo.heartwood", "todo.sqlite"],
    ["", "--verify"]
  )
  func aFileThatMayNotBecomeAsLongLeavesTheOldOne(_ name: String, _ option: String) throws {
    #expect(try heartwood("convert", "todo.csv", name).status == 0)
    try folder.writeToDos(count: 20_000, to: "many.csv")
    let (before, old) = (try folder.names, try folder.data(name))
    let outcome = try heartwood.shell("ulimit -f 200; heartwood convert many.csv \(name) --force \(option)")
    #expect(outcome.status == 1, "\(outcome.errors)")
    #expect(outcome.errors.hasPrefix("heartwood: error: "), "\(outcome.errors)")
    #expect(try folder.names == before)
    #expect(try folder.data(name) == old)
  }

  @Test(arguments: [[], ["--verify"]])
  func referencesGoThroughAStoreThatNumbersRecords(_ verify: [String]) throws {
    let model = try String(decoding: folder.data("ToDo.xcdatamodeld/ToDo.xcdatamodel/contents"), as: UTF8.self)
    let attribute = "<attribute name=\"uuid\" optional=\"YES\" attributeType=\"UUID\" usesScalarValueType=\"NO\"/>"
    try FileManager.default.createDirectory(at: folder.path("Named.xcdatamodel"), withIntermediateDirectories: true)
    try folder.write(
      model.replacing("</entity>", with: attribute + "</entity>"),
      to: "Named.xcdatamodel/contents"
    )
    let line = "heartwood migrate todo.csv --from-model ToDo.xcdatamodeld --to-model Named.xcdatamodel"
    let made = try heartwood.shell("\(line) --output named.heartwood")
    #expect(made.status == 0, "\(made.errors)")
    let keeping = ["--keep-references", "uuid", "--quiet"] + verify
    let numbered = try heartwood(["convert", "named.heartwood", "named.sqlite"] + keeping)
    #expect(numbered.status == 0 && numbered.errors == "", "\(numbered.errors)")
    let back = try heartwood(["convert", "named.sqlite", "back.heartwood"] + keeping)
    #expect(back.status == 0 && back.errors == "", "\(back.errors)")
    let names = try ["named.heartwood", "back.heartwood"].map { file in
      try heartwood("dump", file).lines.compactMap { $0.firstMatch(of: /"\$id":"([0-9A-F-]{36})"/)?.1 }.map(String.init)
    }
    #expect(names[0].count == 6 && Set(names[0]) == Set(names[1]), "\(names)")
    let kept = try heartwood("dump", "named.sqlite").text
    for name in names[0] { #expect(kept.contains("\"uuid\":\"\(name)\""), "\(kept)") }
    let unknown = try heartwood("convert", "named.heartwood", "other.sqlite", "--keep-references", "nothing")
    #expect(unknown.status == 1 && unknown.errors.contains("No entity has an attribute “nothing”"), "\(unknown.errors)")
    #expect(!folder.exists("other.sqlite"))
  }

  @Test func whatHasTwoOwnersIsNotTakenFromOneOfThem() throws {
    try folder.write(CoreDataXML.twoOwners, to: "owners.xml")
    try FileManager.default.removeItem(at: folder.path("ToDo.xcdatamodeld"))
    let before = try folder.names
    let refused = try heartwood("convert", "owners.xml", "owners.sqlite")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("The B 103 is in this relationship of several owners."), "\(refused.errors)")
    #expect(refused.errors.contains("(A.bs)"), "\(refused.errors)")
    #expect(try folder.names == before)
  }

  @Test func whatHasTwoOwnersKeepsBothWhereTheRelationshipGetsAnInverse() throws {
    try folder.write(CoreDataXML.twoOwners, to: "owners.xml")
    try FileManager.default.removeItem(at: folder.path("ToDo.xcdatamodeld"))
    #expect(try heartwood("convert", "owners.xml", "owners.sqlite").errors.contains("heartwood convert --add-inverses"))
    let outcome = try heartwood("convert", "owners.xml", "owners.sqlite", "--add-inverses")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.contains("owners.sqlite: A.bs got the inverse B.inverseOfABs."), "\(outcome.errors)")
    #expect(outcome.text.hasPrefix("owners.sqlite: 4 records, "), "\(outcome.text)")
    let found = try heartwood("fetch", "owners.sqlite", "B", "--where", "inverseOfABs.@count == 2").jsonLines()
    #expect(found.count == 1)
    #expect(try heartwood("fetch", "owners.sqlite", "A", "--where", "bs.@count == 2").jsonLines().count == 1)
    #expect(try heartwood("verify", "owners.sqlite").status == 0)
    #expect(try heartwood("info", "owners.sqlite").text.contains("B4FC79D0-E654-43EF-9020-A5273B3F104A"))
    let again = try heartwood("convert", "owners.sqlite", "again.sqlite", "--add-inverses")
    #expect(again.status == 0 && !again.errors.contains("inverse"), "\(again.errors)")
    #expect(
      try heartwood("convert", "owners.xml", "owners.sqlite", "--add-inverses").errors.contains(
        "There is a file already"
      )
    )
    #expect(try heartwood("convert", "owners.xml", "owners.csv", "--add-inverses").status == 1)
    #expect(try heartwood("convert", "owners.xml", "other.sqlite", "--add-inverses", "--verify").status == 64)
  }

  @Test func aFileOfCoreDatasXMLIsVerified() throws {
    try FileManager.default.removeItem(at: folder.path("ToDo.xcdatamodeld"))
    try folder.write(CoreDataXML.oneOwner, to: "owners.xml")
    let outcome = try heartwood("convert", "owners.xml", "owners.sqlite", "--verify")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.errors.hasPrefix("heartwood: note: owners.xml: The file holds no model"))
    #expect(outcome.errors.contains("heartwood: note: owners.sqlite: It has the model that was made of the records"))
    #expect(try heartwood("diff", "owners.xml", "owners.sqlite", "--match", "value").text == "no differences\n")
  }
}
