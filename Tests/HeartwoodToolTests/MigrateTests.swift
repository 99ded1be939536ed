import Foundation
import Testing

@Suite struct MigrateTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood").status == 0)
  }

  /// Writes another version of the model of the example.
  private func writeModel(_ memo: String, unique: Bool = false) throws {
    let constraint =
      "<uniquenessConstraints><uniquenessConstraint><constraint value=\"done\"/></uniquenessConstraint></uniquenessConstraints>"
    let contents = """
      <model type="com.apple.IDECoreDataModeler.DataModel">
      <entity name="ToDo">
      <attribute name="creationDate" optional="YES" attributeType="Date"/>
      <attribute name="done" attributeType="Boolean" defaultValueString="NO"/>
      \(memo)
      <attribute name="sortOrder" optional="YES" attributeType="Integer 64"/>
      <attribute name="stars" attributeType="Integer 16" defaultValueString="3"/>
      \(unique ? constraint : "")
      </entity></model>
      """
    let version = folder.path("New.xcdatamodel")
    try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
    try Data(contents.utf8).write(to: version.appending(path: "contents"))
  }

  private static let renamed = #"<attribute name="text" optional="YES" attributeType="String" elementID="memo"/>"#

  @Test func aStoreIsMigrated() throws {
    try writeModel(Self.renamed)
    let memos = try heartwood("dump", "todo.heartwood").lines.count
    let before = try folder.data("todo.heartwood")
    let dry = try heartwood("migrate", "todo.heartwood", "--to-model", "New.xcdatamodel", "--dry-run")
    #expect(dry.status == 0, "\(dry.errors)")
    #expect(dry.text.hasSuffix("todo.heartwood: can be migrated, 6 records, 1 step, inferred\n"))
    #expect(try folder.data("todo.heartwood") == before)

    let done = try heartwood("migrate", "todo.heartwood", "--to-model", "New.xcdatamodel", "--backup")
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.errors == "")
    #expect(done.text.hasSuffix("todo.heartwood: migrated, 6 records, 1 step, inferred\n"))
    #expect(try folder.data("todo.heartwood.backup") == before)
    let fetched = try heartwood("fetch", "todo.heartwood", "ToDo", "--where", "stars == 3 AND text != nil")
    #expect(fetched.lines.count == memos)
    #expect(try heartwood("verify", "todo.heartwood").text == "ok: 6 records\n")

    let again = try heartwood("migrate", "todo.heartwood", "--to-model", "New.xcdatamodel")
    #expect(again.text == "todo.heartwood: The store has this version of the model already.\n")
    #expect(again.status == 0)
    for option in ["", " --dry-run"] {
      let backup = try heartwood.shell("heartwood migrate todo.heartwood --to-model New.xcdatamodel --backup\(option)")
      #expect(backup.status == 0, "\(backup.errors)")
      #expect(backup.text == again.text)
    }
    #expect(try folder.data("todo.heartwood.backup") == before)
    let line = "heartwood migrate todo.heartwood --to-model New.xcdatamodel --output copy.heartwood"
    let copied = try heartwood.shell(line)
    #expect(copied.status == 1)
    #expect(copied.errors.contains("copy.heartwood was not written"))
  }

  @Test func anotherFileIsWritten() throws {
    try writeModel(Self.renamed)
    let before = try folder.data("todo.heartwood")
    let line = "heartwood migrate todo.heartwood --to-model New.xcdatamodel --output new.sqlite"
    #expect(try heartwood.shell(line).status == 0)
    #expect(try folder.data("todo.heartwood") == before)
    #expect(try heartwood("verify", "new.sqlite").text == "ok: 6 records\n")
    let refused = try heartwood.shell(line)
    #expect(refused.status == 1)
    #expect(refused.errors.contains("--force"))
    #expect(try heartwood.shell(line + " --force").status == 0)
  }

  @Test func aSQLiteStoreSaysThatItHasDoneIt() throws {
    try writeModel(Self.renamed)
    #expect(try heartwood("convert", "todo.heartwood", "todo.sqlite").status == 0)
    let line = "heartwood migrate todo.sqlite --to-model New.xcdatamodel --output"
    let slow = try heartwood.shell("\(line) slow.sqlite --through-memory")
    #expect(
      slow.text.hasSuffix("slow.sqlite: migrated, 6 records, 1 step, inferred, through memory: that was requested\n")
    )
    let before = try folder.data("todo.sqlite")
    let dry = try heartwood.shell("\(line) quick.sqlite --dry-run")
    #expect(dry.text.hasSuffix("quick.sqlite: can be migrated, 6 records, 1 step, inferred, by the store itself\n"))
    #expect(try folder.data("todo.sqlite") == before)
    let taken = try heartwood.shell("\(line) slow.sqlite --dry-run")
    #expect(taken.status == 1)
    #expect(taken.errors.contains("--force"))
    let quick = try heartwood.shell("\(line) quick.sqlite")
    #expect(quick.text.hasSuffix("quick.sqlite: migrated, 6 records, 1 step, inferred, by the store itself\n"))
    #expect(try heartwood("diff", "slow.sqlite", "quick.sqlite").status == 0)
  }

  @Test func whatDoesNotFitIsCounted() throws {
    try writeModel(Self.renamed, unique: true)
    let dry = try heartwood("migrate", "todo.heartwood", "--to-model", "New.xcdatamodel", "--dry-run")
    #expect(dry.status == 1)
    #expect(dry.text.contains("! ToDo.done: 4 records with the same values as another one"))
    let quiet = try heartwood("migrate", "todo.heartwood", "--to-model", "New.xcdatamodel", "--dry-run", "--quiet")
    #expect(quiet.status == 1 && quiet.text == "")
    #expect(
      quiet.errors.hasPrefix(
        "heartwood: error: todo.heartwood: cannot be migrated: ToDo.done: 4 records with the same values"
      )
    )
    let report = try #require(
      try heartwood("migrate", "todo.heartwood", "--to-model", "New.xcdatamodel", "--dry-run", "--json").json()
        as? [String: Any]
    )
    let findings = try #require(report["findings"] as? [[String: Any]])
    #expect(findings.contains { $0["kind"] as? String == "duplicates" && $0["obstacle"] as? Bool == true })
    let before = try folder.data("todo.heartwood")
    let refused = try heartwood("migrate", "todo.heartwood", "--to-model", "New.xcdatamodel")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("The store is unchanged"))
    #expect(refused.errors.contains("what happens to them (--duplicates, --several, --unfit)"))
    #expect(try folder.data("todo.heartwood") == before)
    let line = "heartwood migrate todo.heartwood --to-model New.xcdatamodel --duplicates keepFirst"
    #expect(try heartwood.shell(line).status == 0)
    #expect(try heartwood("verify", "todo.heartwood").text == "ok: 2 records\n")
  }

  /// Scripts read the object, and people what is said beside it.
  @Test func aDryRunThatIsRefusedSaysWhy() throws {
    let line = "heartwood migrate todo.heartwood --to-model New.xcdatamodel --dry-run --json"
    try writeModel(Self.renamed, unique: true)
    let refused = try heartwood.shell(line)
    #expect(refused.status == 1)
    let reason = try #require((try refused.json() as? [String: Any])?["refused"] as? String)
    #expect(reason.hasPrefix("cannot be migrated: ToDo.done: 4 records with the same values as another one"))
    #expect(refused.errors == "heartwood: error: todo.heartwood: \(reason)\n")
    try writeModel(Self.renamed)
    let allowed = try heartwood.shell(line)
    #expect(allowed.status == 0 && allowed.errors == "")
    #expect((try allowed.json() as? [String: Any])?["refused"] is NSNull)
  }

  @Test func otherReferencesAreTold() throws {
    try writeModel(Self.renamed)
    let line = "heartwood migrate todo.heartwood --to-model New.xcdatamodel --output"
    let note = "The type assigns its own references: they differ from those in todo.heartwood."
    for options in ["--dry-run", ""] {
      let outcome = try heartwood.shell("\(line) new.sqlite \(options)")
      #expect(outcome.status == 0)
      #expect(outcome.errors == "heartwood: note: new.sqlite: \(note)\n")
    }
    let json = try #require(try heartwood.shell("\(line) n.sqlite --dry-run --json").json() as? [String: Any])
    let finding = try #require((json["findings"] as? [[String: Any]])?.last)
    #expect(finding["kind"] as? String == "renamedRecords" && finding["count"] as? Int == 6)
    #expect(finding["obstacle"] as? Bool == false)
    #expect(try heartwood.shell("\(line) new.sqlite --force --quiet").errors == "")
    #expect(try heartwood.shell("\(line) new.xml").errors == "")
    // Numbers stay.
    #expect(try heartwood("convert", "todo.heartwood", "todo.sqlite", "--quiet").status == 0)
    #expect(try heartwood("convert", "todo.sqlite", "numbered.heartwood").status == 0)
    let numbered = try heartwood.shell(
      "heartwood migrate numbered.heartwood --to-model New.xcdatamodel --output numbered.sqlite"
    )
    #expect(numbered.status == 0 && numbered.errors == "", "\(numbered.errors)")
  }

  @Test func aModelThatIsLeftBehindIsTold() throws {
    try writeModel(Self.renamed)
    try FileManager.default.createDirectory(at: folder.path("alone"), withIntermediateDirectories: true)
    let line = "heartwood migrate todo.heartwood --to-model New.xcdatamodel --output"
    let outcome = try heartwood.shell("\(line) alone/new.csv")
    #expect(outcome.status == 0)
    #expect(
      outcome.errors == "heartwood: note: alone/new.csv: The type keeps no model. Open the file with "
        + "--model New.xcdatamodel.\n"
    )
    #expect(try heartwood("info", "alone/new.csv", "--model", "New.xcdatamodel").status == 0)
    #expect(try heartwood.shell("\(line) beside.csv").errors == "")
  }

  /// What a dump prints has not been migrated.
  @Test func nobodyIsSentToADump() throws {
    try Library.write(to: folder.path("library.heartwood"))
    try FileManager.default.createDirectory(at: folder.path("Books.xcdatamodel"), withIntermediateDirectories: true)
    try folder.write(
      """
      <model><entity name="Author"><attribute name="name" optional="YES" attributeType="String"/></entity>
      <entity name="Book"><attribute name="title" optional="YES" attributeType="String"/></entity></model>
      """,
      to: "Books.xcdatamodel/contents"
    )
    let outcome = try heartwood.shell(
      "heartwood migrate library.heartwood --to-model Books.xcdatamodel --output books.csv --allow-loss"
    )
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("Choose another type of store."), "\(outcome.errors)")
    #expect(!outcome.errors.contains("heartwood dump"))
  }

  @Test func whatTheNewModelHasNoPlaceForIsSaid() throws {
    try writeModel("")
    let line = "heartwood migrate todo.heartwood --to-model New.xcdatamodel"
    let json = try #require(try heartwood.shell("\(line) --dry-run --json --allow-loss").json() as? [String: Any])
    let finding = try #require((json["findings"] as? [[String: Any]])?.first)
    #expect(finding["kind"] as? String == "removedValues")
    #expect(finding["entity"] as? String == "ToDo" && finding["property"] as? String == "memo")
    for options in [" --dry-run --allow-loss", " --allow-loss"] {
      let outcome = try heartwood.shell(line + options)
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.text.contains("ToDo.memo: "), "\(outcome.text)")
    }
  }

  @Test func aHistoryThatIsLeftOutIsSaid() throws {
    try Library.writeNotes(to: folder.path("notes.heartwood"))
    try FileManager.default.createDirectory(at: folder.path("Notes.xcdatamodel"), withIntermediateDirectories: true)
    try folder.write(
      """
      <model><entity name="Note"><attribute name="text" optional="YES" attributeType="String"/>
      <attribute name="rank" optional="YES" attributeType="Integer 16"/></entity></model>
      """,
      to: "Notes.xcdatamodel/contents"
    )
    let line = "heartwood migrate notes.heartwood --to-model Notes.xcdatamodel"
    let json = try #require(try heartwood.shell("\(line) --dry-run --json").json() as? [String: Any])
    let finding = try #require((json["findings"] as? [[String: Any]])?.last)
    #expect(finding["kind"] as? String == "removedHistory" && finding["count"] as? Int == 1)
    for options in [" --dry-run", ""] {
      let outcome = try heartwood.shell(line + options)
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.lines.contains("history: 1 transaction left out: a history is not migrated"), "\(outcome.text)")
    }
  }

  @Test func aFileWithAHistoryOfCoreDataIsMigratedToAnotherOne() throws {
    try writeModel(Self.renamed)
    #expect(try heartwood("convert", "todo.csv", "todo.sqlite").status == 0)
    try CoreDataHistory.add(transactionCount: 2, to: folder.path("todo.sqlite"))
    let before = try folder.data("todo.sqlite")
    let line = "heartwood migrate todo.sqlite --to-model New.xcdatamodel"
    for options in ["", " --dry-run", " --through-memory", " --backup"] {
      let refused = try heartwood.shell(line + options)
      #expect(refused.status == 1)
      #expect(refused.errors.contains("Write the migrated one with --output."), "\(refused.errors)")
    }
    #expect(try folder.data("todo.sqlite") == before)
    let outcome = try heartwood.shell(line + " --output new.sqlite")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines.contains("history: 2 transactions left out: a history is not migrated"), "\(outcome.text)")
    #expect(try folder.data("todo.sqlite") == before)
  }

  @Test func aStoreIsNotEmptiedWithoutABackup() throws {
    try FileManager.default.createDirectory(at: folder.path("Chores.xcdatamodel"), withIntermediateDirectories: true)
    try folder.write("<model><entity name=\"Chore\"/></model>", to: "Chores.xcdatamodel/contents")
    let before = try folder.data("todo.heartwood")
    let line = "heartwood migrate todo.heartwood --to-model Chores.xcdatamodel"
    let dry = try heartwood.shell("\(line) --dry-run")
    #expect(dry.status == 1)
    #expect(dry.lines.contains("! ToDo: 6 records left out: nothing is made of them"), "\(dry.text)")
    #expect(dry.lines.last == "todo.heartwood: cannot be migrated without --backup: no record would be left")
    let refused = try heartwood.shell(line)
    #expect(refused.status == 1)
    #expect(refused.errors.contains("None of the 6 records would be left"), "\(refused.errors)")
    #expect(try folder.data("todo.heartwood") == before)
    #expect(try heartwood.shell("\(line) --backup").errors.contains("--allow-loss"))
    #expect(try heartwood.shell("\(line) --allow-loss").errors.contains("None of the 6 records would be left"))
    #expect(try heartwood.shell("\(line) --output empty.heartwood --allow-loss").status == 0)
    #expect(try heartwood.shell("\(line) --backup --allow-loss").status == 0)
    #expect(try folder.data("todo.heartwood.backup") == before)
  }

  @Test func whatCannotBeInferredIsSaid() throws {
    try writeModel(#"<attribute name="memo" optional="YES" attributeType="Date"/>"#)
    let refused = try heartwood("migrate", "todo.heartwood", "--to-model", "New.xcdatamodel")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("changed ToDo.memo: type: string → date"))
  }

  /// A file that does not tell its model is of a version that fits it, or of none.
  @Test func whatFitsNoModelIsNotOfThisVersion() throws {
    try folder.write(
      "#D35CF030-1EC1-4667-9666-70C8247A1010\n1, memo, 2, 20x6-09-17 18:15:00 +0000, E899556C-BE1A-42A3-A634-F8411915C05F\n",
      to: "bad.csv"
    )
    let damaged = try heartwood("migrate", "bad.csv", "--to-model", "ToDo.xcdatamodeld")
    #expect(damaged.status == 1)
    #expect(damaged.text == "")
    #expect(damaged.errors.contains("bad.csv:2:"), "\(damaged.errors)")

    try FileManager.default.createDirectory(at: folder.path("Chores.xcdatamodel"), withIntermediateDirectories: true)
    try folder.write(
      "<model><entity name=\"Chore\"><attribute name=\"due\" optional=\"YES\" attributeType=\"Date\"/></entity></model>",
      to: "Chores.xcdatamodel/contents"
    )
    for options in ["", " --from-model Chores.xcdatamodel"] {
      let foreign = try heartwood.shell("heartwood migrate todo.csv --to-model Chores.xcdatamodel" + options)
      #expect(foreign.status == 1)
      #expect(foreign.errors.contains("todo.csv:2:"), "\(foreign.errors)")
    }
    let same = try heartwood("migrate", "todo.csv", "--to-model", "ToDo.xcdatamodeld")
    #expect(same.text == "todo.csv: The store has this version of the model already.\n")
  }

  /// The column fits both: by the models, the old attribute is gone and the new one has no values yet.
  @Test func theGivenModelCountsForAFileThatFitsBoth() throws {
    try FileManager.default.createDirectory(at: folder.path("Menu.xcdatamodel"), withIntermediateDirectories: true)
    let model = try String(decoding: folder.data("ToDo.xcdatamodeld/ToDo.xcdatamodel/contents"), as: UTF8.self)
    try folder.write(model.replacing("memo", with: "menu"), to: "Menu.xcdatamodel/contents")
    let same = try heartwood.shell("heartwood migrate todo.csv --to-model Menu.xcdatamodel")
    #expect(same.text == "todo.csv: The store has this version of the model already.\n")
    let given = try heartwood.shell(
      "heartwood migrate todo.csv --from-model ToDo.xcdatamodeld --to-model Menu.xcdatamodel --output new.heartwood "
        + "--allow-loss"
    )
    #expect(given.status == 0, "\(given.errors)")
    #expect(given.text.contains("new.heartwood: migrated, 6 records"), "\(given.text)")
    #expect(try heartwood.shell("heartwood fetch new.heartwood ToDo --where 'menu == nil'").lines.count == 6)
    let again = try heartwood.shell(
      "heartwood migrate todo.csv --from-model ToDo.xcdatamodeld --to-model ToDo.xcdatamodeld"
    )
    #expect(again.text == "todo.csv: The store has this version of the model already.\n")
  }

  private static let mapping = """
    <?xml version="1.0"?>
    <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
    <database><databaseInfo><version>134481920</version><UUID>2CB996DF-63DA-4182-BC5B-7CB919C1BB09</UUID>
    <metadata><plist version="1.0"><dict><key>NSStoreModelVersionHashes</key><dict>
    <key>XDDevMappingModel</key><data>AA==</data><key>XDDevEntityMapping</key><data>AA==</data></dict></dict></plist></metadata>
    </databaseInfo>
    <object type="XDDEVMAPPINGMODEL" id="z101">
    <attribute name="sourcemodelpath" type="string">ToDo.xcdatamodeld/ToDo.xcdatamodel</attribute>
    <attribute name="destinationmodelpath" type="string">ToDo.xcdatamodeld/ToDo 2.xcdatamodel</attribute>
    <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs="z102"></relationship>
    </object>
    <object type="XDDEVENTITYMAPPING" id="z102">
    <attribute name="mappingtypename" type="string">Transform</attribute>
    <attribute name="sourcename" type="string">ToDo</attribute>
    <attribute name="destinationname" type="string">ToDo</attribute>
    <attribute name="name" type="string">ToDoToToDo</attribute>
    <relationship name="mappingmodel" type="1/1" destination="XDDEVMAPPINGMODEL" idrefs="z101"></relationship>
    </object>
    </database>

    """

  @Test func aGivenModelIsOlderThanThoseOfTheBundle() throws {
    try folder.addVersions()
    for name in ["Map.xcmappingmodel", "Menu.xcdatamodel"] {
      try FileManager.default.createDirectory(at: folder.path(name), withIntermediateDirectories: true)
    }
    try folder.write(Self.mapping, to: "Map.xcmappingmodel/xcmapping.xml")
    let model = try String(decoding: folder.data("ToDo.xcdatamodeld/ToDo.xcdatamodel/contents"), as: UTF8.self)
    try folder.write(model.replacing("memo", with: "menu"), to: "Menu.xcdatamodel/contents")
    let line =
      "heartwood migrate todo.csv --to-model ToDo.xcdatamodeld --dry-run --output new.heartwood --allow-loss --from-model"
    let foreign = try heartwood.shell("\(line) Menu.xcdatamodel")
    #expect(
      foreign.lines.last == "new.heartwood: can be migrated, 6 records, 2 steps, 1 mapping model",
      "\(foreign.errors)"
    )
    let own = try heartwood.shell("\(line) ToDo.xcdatamodeld/ToDo.xcdatamodel")
    #expect(own.lines.last == "new.heartwood: can be migrated, 6 records, 1 step, 1 mapping model", "\(own.errors)")
  }

  @Test func mappingModelsBesideTheBundleCanBePassedOver() throws {
    try folder.addVersions()
    try FileManager.default.createDirectory(at: folder.path("Map.xcmappingmodel"), withIntermediateDirectories: true)
    try folder.write(Self.mapping, to: "Map.xcmappingmodel/xcmapping.xml")
    let line = "heartwood migrate todo.csv --to-model ToDo.xcdatamodeld --dry-run --output new.heartwood --allow-loss"
    let model = "--from-model ToDo.xcdatamodeld/ToDo.xcdatamodel"
    let mapped = try heartwood.shell("\(line) \(model)")
    #expect(mapped.lines.last?.hasSuffix("1 step, 1 mapping model") == true, "\(mapped.errors)")
    let inferred = try heartwood.shell("\(line) \(model) --infer")
    #expect(inferred.lines.last?.hasSuffix("1 step, inferred") == true, "\(inferred.errors)")
    let given = try heartwood.shell("\(line) \(model) --infer --mapping Map.xcmappingmodel")
    #expect(given.lines.last?.hasSuffix("1 step, 1 mapping model") == true, "\(given.errors)")
  }

  @Test(arguments: [
    "migrate todo.heartwood", "migrate --to-model New.xcdatamodel",
    "migrate todo.heartwood --to-model New.xcdatamodel --output a.xml --backup",
    "migrate todo.heartwood --to-model New.xcdatamodel --duplicates some",
    "migrate todo.heartwood --to-model New.xcdatamodel --to xml",
    "migrate todo.heartwood --to-model New.xcdatamodel --force",
  ])
  func wrongArgumentsAreUsageErrors(_ arguments: String) throws {
    #expect(try heartwood.shell("heartwood \(arguments)").status == 64)
  }
}
