import Foundation
import GRDB
import Heartwood
import HeartwoodSQLite
import Testing

/// The example's records, in a file of every type that ships with one.
@Suite struct EditTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  static let types = ["csv", "heartwood", "xml", "plist", "sqlite"]
  static let graphTypes = ["heartwood", "xml", "plist", "sqlite"]

  /// The name of a file of the type with the records of the example.
  private func file(_ type: String) throws -> String {
    let name = "list.\(type)"
    let made = try heartwood("convert", "todo.csv", name)
    #expect(made.status == 0, "\(made.errors)")
    return name
  }

  /// The type of a file whose extension does not tell.
  private static func name(of type: String) -> String {
    ["csv": "CSV", "heartwood": "Binary", "xml": "XML", "plist": "PropertyList", "sqlite": "SQLite"][type] ?? ""
  }

  private func memos(_ file: String, where predicate: String) throws -> [String?] {
    let found = try heartwood("fetch", file, "ToDo", "--where", predicate, "--sort", "sortOrder")
    #expect(found.status == 0, "\(found.errors)")
    return try found.jsonLines().map { $0["memo"] as? String }
  }

  @Test(arguments: types) func aDryRunTellsWhatWouldChangeAndWritesNothing(_ type: String) throws {
    let file = try file(type)
    let (before, names) = (try folder.data(file), try folder.names)
    let line = "heartwood edit \(file) --where 'sortOrder > 3' --set done=true --set 'memo=\"null\"' --dry-run"
    let dry = try heartwood.shell(line)
    #expect(dry.status == 0, "\(dry.errors)")
    #expect(dry.lines.count { $0.hasPrefix("~ ToDo ") } == 2)
    #expect(dry.lines.contains { $0.hasPrefix("    memo: ") && $0.hasSuffix(" → \"null\"") }, "\(dry.text)")
    #expect(dry.text.hasSuffix("\(file): would be edited, 2 updated\n"))
    #expect(dry.errors == "")
    let report = try #require(try heartwood.shell(line + " --json").json() as? [String: Any])
    #expect(report["written"] as? Bool == false && report["updated"] as? Int == 2)
    #expect(report["backup"] is NSNull)
    #expect(try folder.data(file) == before)
    #expect(try folder.names == names)
  }

  @Test(arguments: types) func recordsAreChangedAndTheBackupIsTheOldFile(_ type: String) throws {
    let file = try file(type)
    #expect(try heartwood("convert", file, "before.\(type)").status == 0)
    let done = try heartwood(
      "edit",
      file,
      "--where",
      "sortOrder > 3",
      "--set",
      "memo=Üben, \"laut\"",
      "--set",
      "creationDate=2026-01-31T18:00:00Z"
    )
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.text.contains("ToDo   2 updated") || done.text.contains("ToDo  2 updated"), "\(done.text)")
    #expect(done.text.hasSuffix("backup: \(file).backup\n\(file): edited, 2 updated\n"), "\(done.text)")
    #expect(done.errors.contains("heartwood edit \(file) --restore \(file).backup"))
    #expect(try memos(file, where: "sortOrder > 3") == ["Üben, \"laut\"", "Üben, \"laut\""])
    #expect(try memos(file, where: "creationDate == CAST('2026-01-31T18:00:00Z', 'NSDate')").count >= 0)
    #expect(try heartwood("verify", file).text == "ok: 6 records\n")

    let old = try heartwood("diff", "before.\(type)", "\(file).backup", "--second-type", Self.name(of: type))
    #expect(old.status == 0, "\(old.text)\(old.errors)")
    let back = try heartwood("edit", file, "--restore", "\(file).backup")
    #expect(back.status == 0, "\(back.errors)")
    #expect(back.text == "backup: \(file).2.backup\n\(file): restored from \(file).backup\n")
    #expect(try heartwood("diff", "before.\(type)", file).status == 0)
    #expect(try heartwood("edit", file, "--restore", "\(file).2.backup", "--no-backup", "--quiet").text == "")
    #expect(try memos(file, where: "sortOrder > 3") == ["Üben, \"laut\"", "Üben, \"laut\""])
  }

  @Test(arguments: types) func aRecordIsInsertedAndDeleted(_ type: String) throws {
    let file = try file(type)
    let made = try heartwood("edit", file, "--insert", "--set", "memo=New", "--set", "sortOrder=-7", "--json")
    #expect(made.status == 0, "\(made.errors)")
    let report = try #require(try made.json() as? [String: Any])
    #expect(report["inserted"] as? Int == 1 && report["written"] as? Bool == true)
    let change = try #require((report["changes"] as? [[String: Any]])?.first)
    let id = try #require(change["id"] as? String)
    #expect(change["change"] as? String == "added")
    #expect((change["values"] as? [String: [String: Any]])?["sortOrder"]?["after"] as? Int == -7)
    #expect(try memos(file, where: "sortOrder < 0") == ["New"])

    let gone = try heartwood("edit", file, "--entity", "ToDo", "--id", id, "--delete")
    #expect(gone.status == 0, "\(gone.errors)")
    #expect(gone.text.hasPrefix("- ToDo \(id)\n"), "\(gone.text)")
    #expect(try memos(file, where: "TRUEPREDICATE").count == 6)
    let absent = try heartwood("edit", file, "--id", id, "--delete")
    #expect(absent.status == 1)
    #expect(absent.errors.contains("--id: There is no ToDo \(id)."), "\(absent.errors)")
    let all = try heartwood("edit", file, "--where", "TRUEPREDICATE", "--delete", "--show", "2")
    #expect(all.text.contains("… and 4 records more\n"), "\(all.text)")
    #expect(try memos(file, where: "TRUEPREDICATE").isEmpty)
    #expect(folder.exists("\(file).backup") && folder.exists("\(file).2.backup") && folder.exists("\(file).3.backup"))
  }

  @Test(arguments: types) func whatIsSoAlreadyIsNotWritten(_ type: String) throws {
    let file = try file(type)
    let before = try folder.data(file)
    let none = try heartwood("edit", file, "--where", "sortOrder > 99", "--delete")
    #expect(none.status == 0)
    #expect(none.text == "\(file): No record was found. Nothing was written.\n")
    let same = try heartwood("edit", file, "--where", "sortOrder == 3", "--set", "sortOrder=3")
    #expect(same.status == 0, "\(same.errors)")
    #expect(same.text == "\(file): The records have these values already. Nothing was written.\n")
    #expect(try folder.data(file) == before)
    #expect(!folder.exists("\(file).backup"))
  }

  @Test(arguments: types) func whatIsNoSuchValueIsRefused(_ type: String) throws {
    let file = try file(type)
    let before = try folder.data(file)
    for (value, text) in [
      ("done=maybe", "ToDo.done is of type boolean"), ("sortOrder=1.5", "ToDo.sortOrder is of type integer"),
      ("sortOrder=99999999999", "ToDo.sortOrder is of type integer"), ("creationDate=soon", "Write ISO 8601"),
      ("creationDate=2026-02-30", "ToDo.creationDate is of type date"), ("memo=\"a\" b", "must be a JSON string"),
      ("dune=true", "Did you mean done?"), ("sortOrder=", "Write a whole number"),
    ] {
      let refused = try heartwood("edit", file, "--where", "TRUEPREDICATE", "--set", value)
      #expect(refused.status == 1, "\(value)")
      #expect(refused.errors.contains(text), "\(refused.errors)")
    }
    #expect(try heartwood("edit", file, "--where", "TRUEPREDICATE", "--add", "memo=x").errors.contains("Use --set."))
    #expect(try folder.data(file) == before)
    #expect(!folder.exists("\(file).backup"))
  }

  // MARK: Relationships

  private func library(_ type: String) throws -> String {
    try Library.write(to: folder.path("library.heartwood"))
    guard type != "heartwood" else { return "library.heartwood" }
    let made = try heartwood("convert", "library.heartwood", "library.\(type)")
    #expect(made.status == 0, "\(made.errors)")
    return "library.\(type)"
  }

  private func ids(_ file: String, _ entity: String, where predicate: String = "TRUEPREDICATE") throws -> [String] {
    try heartwood("fetch", file, entity, "--where", predicate).jsonLines().compactMap { $0["$id"] as? String }
  }

  private func titles(_ file: String, where predicate: String) throws -> [String] {
    let found = try heartwood("fetch", file, "Book", "--where", predicate, "--select", "title", "--sort", "title")
    #expect(found.status == 0, "\(found.errors)")
    return try found.jsonLines().compactMap { $0["title"] as? String }
  }

  @Test(arguments: graphTypes) func relationshipsAreChangedWithTheirInverses(_ type: String) throws {
    let file = try library(type)
    let author = try #require(try ids(file, "Author").first)
    let zwei = try #require(try ids(file, "Book", where: "title == 'Zwei'").first)
    func edit(_ arguments: String...) throws -> Tool.Outcome {
      let outcome = try heartwood(["edit", file, "--no-backup"] + arguments)
      #expect(outcome.status == 0, "\(outcome.errors)")
      return outcome
    }
    _ = try edit("--entity", "Author", "--insert", "--set", "name=B", "--set", "books=[\(zwei)]")
    #expect(try titles(file, where: "author.name == 'B'") == ["Zwei"])
    #expect(try titles(file, where: "author != nil AND author.name != 'B'") == ["One, \"two\""])
    _ = try edit("--entity", "Book", "--where", "title == ''", "--set", "author=(name == 'B')")
    #expect(try titles(file, where: "author.name == 'B'") == ["", "Zwei"])
    let moved = try edit("--entity", "Author", "--id", author, "--add", "books=(title == 'Zwei')", "--json")
    let report = try #require(try moved.json() as? [String: Any])
    // Both authors, and the book.
    #expect(report["updated"] as? Int == 3, "\(moved.text)")
    _ = try edit("--entity", "Author", "--id", author, "--remove", "books=(title BEGINSWITH 'One')")
    #expect(try titles(file, where: "author.name == '楊\tX'") == ["Zwei"])
    _ = try edit("--entity", "Book", "--where", "title == 'Zwei'", "--set", "author=null")
    let last = "author={\"$entity\":\"Author\",\"$id\":\"\(author)\"}"
    _ = try edit("--entity", "Book", "--where", "title BEGINSWITH 'One'", "--set", last)
    #expect(try titles(file, where: "author != nil") == ["", "One, \"two\""])
    _ = try edit("--entity", "Author", "--where", "TRUEPREDICATE", "--delete")
    #expect(try titles(file, where: "author != nil") == [])
    #expect(try heartwood("verify", file).text == "ok: 3 records\n")
  }

  @Test(arguments: graphTypes) func aRecordHasToBeFoundJustOnce(_ type: String) throws {
    let file = try library(type)
    for (value, text) in [
      ("author=(name == 'nobody')", "No Author meets"), ("author=99", "There is no Author 99."),
      ("author=x-coredata://x/Author/1", "The URI names no Author"), ("author=(name ==", "There is no Author"),
      ("author={\"$entity\":\"Book\",\"$id\":\"1\"}", "Book is not an entity that the relationship allows"),
      ("author={\"$id\":7}", "an object with $entity and $id"),
    ] {
      let refused = try heartwood("edit", file, "--entity", "Book", "--where", "title == ''", "--set", value)
      #expect(refused.status == 1, "\(value)")
      #expect(refused.errors.contains(text), "\(refused.errors)")
    }
    let many = try heartwood(
      "edit",
      file,
      "--entity",
      "Author",
      "--where",
      "TRUEPREDICATE",
      "--set",
      "books=(title != nil)"
    )
    #expect(many.errors.contains("3 records of Book meet"), "\(many.errors)")
    let entity = try heartwood("edit", file, "--where", "TRUEPREDICATE", "--delete")
    #expect(entity.status == 1)
    #expect(entity.errors.contains("Choose one with --entity: Author, Book."), "\(entity.errors)")
  }
}

// MARK: What a model asks for

/// Delete rules, histories, derived attributes, and the spelling of values of every type.
@Suite struct EditedModelTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  private func write(
    _ model: ManagedObjectModel,
    to name: String,
    options: StoreOptions = StoreOptions(),
    _ fill: (ManagedObjectContext) throws -> Void
  ) throws {
    let registry = try StoreRegistry(StoreRegistry.shippedStoreClasses + [SQLiteStore.self])
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
    try coordinator.addPersistentStore(at: folder.path(name), options: options)
    let context = ManagedObjectContext(coordinator)
    try fill(context)
    try context.save()
    coordinator.close()
  }

  @Test(arguments: EditTests.graphTypes) func deleteRulesAreKept(_ type: String) throws {
    let model = try ManagedObjectModel(entities: [
      .entity(
        "Owner",
        .attribute("name", .string),
        .toMany("guarded", "Guard", inverse: "owner", deleteRule: .deny),
        .toMany("parts", "Part", inverse: "owner", deleteRule: .cascade)
      ),
      .entity("Guard", .toOne("owner", "Owner", inverse: "guarded")),
      .entity("Part", .toOne("owner", "Owner", inverse: "parts")),
    ])
    try write(model, to: "rules.\(type)") { context in
      for (name, entity) in [("held", "Guard"), ("free", "Part")] {
        let owner = try context.insert(entityName: "Owner")
        try owner.setPropertyValue(.string(name), forKey: "name")
        for _ in 0..<2 {
          try context.insert(entityName: entity).setPropertyValue(.toOne(owner.objectID), forKey: "owner")
        }
      }
    }
    let denied = try heartwood("edit", "rules.\(type)", "--entity", "Owner", "--where", "name == 'held'", "--delete")
    #expect(denied.status == 1)
    #expect(denied.errors.contains("Owner.guarded") && denied.errors.contains("(deletionDenied)"), "\(denied.errors)")
    #expect(denied.errors.contains("It refers to Guard "), "\(denied.errors)")
    #expect(!folder.exists("rules.\(type).backup"))
    let done = try heartwood("edit", "rules.\(type)", "--entity", "Owner", "--where", "name == 'free'", "--delete")
    #expect(done.status == 0, "\(done.errors)")
    #expect(done.text.hasSuffix("rules.\(type): edited, 3 deleted\n"), "\(done.text)")
    #expect(try heartwood("verify", "rules.\(type)").text == "ok: 3 records\n")
  }

  /// A value that the model does not allow is told with the record, the property and the rule, in a dry run just as well.
  @Test(arguments: EditTests.types) func theModelsRulesAreKept(_ type: String) throws {
    var rules = AttributeRules()
    (rules.minValue, rules.maxValue) = (.integer(1), .integer(5))
    let stars = AttributeDescription(name: "stars", type: .integer16, rules: rules)
    let name = AttributeDescription(name: "name", type: .string, isOptional: false)
    let entity = EntityDefinition(
      name: "Film",
      properties: [.attribute(name), .attribute(stars)],
      uniquenessConstraints: [["name"]]
    )
    let model = try ManagedObjectModel(entities: [entity])
    try model.encoded().write(to: folder.path("film.json"))
    let file = "films.\(type)"
    try write(model, to: file) { context in
      for name in ["a", "b"] { try context.insert(entityName: "Film").setPropertyValue(.string(name), forKey: "name") }
    }
    let (before, names) = (try heartwood("dump", file, "--model", "film.json").text, try folder.names)
    for ending in ["", " --dry-run"] {
      let line = "heartwood edit \(file) --model film.json --where"
      for (settings, texts) in [
        ("TRUEPREDICATE --set name=c", ["Film.name must be unique", "(uniqueness constraint)"]),
        ("\"name == 'a'\" --set name=null", ["Film.name ", "(missingValue)"]),
        ("TRUEPREDICATE --set stars=6", ["breaks 2 rules", "Film.stars ", "(tooGreat)"]),
      ] {
        let refused = try heartwood.shell("\(line) \(settings)\(ending)")
        #expect(refused.status == 1)
        #expect(texts.allSatisfy(refused.errors.contains), "\(refused.errors)")
        #expect(refused.errors.contains("Nothing was written."), "\(refused.errors)")
      }
      let new = try heartwood.shell("heartwood edit \(file) --model film.json --insert --set name=a\(ending)")
      #expect(new.errors.contains("the new Film: Film.name must be unique, and Film "), "\(new.errors)")
    }
    // An SQLite file has given a number to the new record, and not its record.
    #expect(try heartwood("dump", file, "--model", "film.json").text == before)
    #expect(try folder.names == names)
  }

  private static let spellings: [(type: AttributeType, text: String, json: String)] = [
    (.integer16, "-7", "-7"), (.integer32, "70000", "70000"), (.integer64, "9007199254740993", "9007199254740993"),
    (.decimal, "12.50", "\"12.5\""), (.double, "1.5e3", "1500.0"), (.float, "0.25", "0.25"),
    (.string, "nil", "\"nil\""),
    (.boolean, "true", "true"), (.date, "2026-01-31T18:00:00.25Z", "\"2026-01-31T18:00:00.25Z\""),
    (.binary, "/wA=", "\"/wA=\""),
    (.uuid, "d35cf030-1ebe-4667-9666-70c8247a1010", "\"D35CF030-1EBE-4667-9666-70C8247A1010\""),
    (.uri, "https://example.org/a?b=c", "\"https://example.org/a?b=c\""), (.transformable, "AQI=", "\"AQI=\""),
  ]

  @Test(arguments: EditTests.graphTypes) func valuesOfEveryTypeAreSpeltAsADumpSpellsThem(_ type: String) throws {
    let attributes = Self.spellings.map { AttributeDescription(name: "\($0.type.rawValue)", type: $0.type) }
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(name: "All", properties: attributes.map { .attribute($0) })
    ])
    try write(model, to: "all.\(type)") { _ = try $0.insert(entityName: "All") }
    let settings = Self.spellings.flatMap { ["--set", "\($0.type.rawValue)=\($0.text)"] }
    let done = try heartwood(["edit", "all.\(type)", "--where", "TRUEPREDICATE"] + settings)
    #expect(done.status == 0, "\(done.errors)")
    let dump = try heartwood("dump", "all.\(type)").text
    for (attribute, _, json) in Self.spellings {
      #expect(dump.contains("\"\(attribute.rawValue)\":\(json)"), "\(dump)")
      #expect(done.text.contains("    \(attribute.rawValue): null → \(json)\n"), "\(done.text)")
    }
    let none = Self.spellings.flatMap { ["--set", "\($0.type.rawValue)=null"] }
    #expect(try heartwood(["edit", "all.\(type)", "--where", "TRUEPREDICATE"] + none).status == 0)
    #expect(
      try heartwood("dump", "all.\(type)").text.components(separatedBy: ":null").count == Self.spellings.count + 1
    )
  }

  @Test func aHistoryHasTheChange() throws {
    try Library.writeHistory(to: folder.path("library.heartwood"))
    let done = try heartwood.shell(
      "heartwood edit library.heartwood --entity Book --where \"title == 'Two'\" --set title=Three --author me"
    )
    #expect(done.status == 0, "\(done.errors)")
    let last = try #require(try heartwood("history", "library.heartwood", "--format", "json").jsonLines().last)
    #expect(last["author"] as? String == "me" && last["context"] as? String == "heartwood edit")
  }

  @Test(arguments: EditTests.graphTypes) func whatIsDerivedIsComputedAndNotSet(_ type: String) throws {
    var upper = AttributeDescription(name: "key", type: .string)
    upper.derivationExpression = try FetchExpression(format: "uppercase:(name)")
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "Tag",
        properties: [.attribute(AttributeDescription(name: "name", type: .string)), .attribute(upper)]
      )
    ])
    try write(model, to: "tags.\(type)") { context in
      try context.insert(entityName: "Tag").setPropertyValue(.string("a"), forKey: "name")
    }
    let done = try heartwood("edit", "tags.\(type)", "--where", "TRUEPREDICATE", "--set", "name=b")
    #expect(done.text.contains("    key: \"A\" → \"B\"\n"), "\(done.text)\(done.errors)")
    let refused = try heartwood("edit", "tags.\(type)", "--where", "TRUEPREDICATE", "--set", "key=C")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("Tag.key is derived"), "\(refused.errors)")
  }

  /// The files with large data are in the backup, too.
  @Test func aBackupHasTheFilesBesideTheStore() throws {
    var data = AttributeDescription(name: "data", type: .binary)
    data.allowsExternalBinaryDataStorage = true
    let model = try ManagedObjectModel(entities: [EntityDefinition(name: "Image", properties: [.attribute(data)])])
    let bytes = Data(repeating: 7, count: 200_000)
    try write(model, to: "images.sqlite") { context in
      try context.insert(entityName: "Image").setPropertyValue(.binary(bytes), forKey: "data")
    }
    #expect(try heartwood("convert", "images.sqlite", "before.sqlite").status == 0)
    let done = try heartwood("edit", "images.sqlite", "--where", "TRUEPREDICATE", "--set", "data=AQ==")
    #expect(done.status == 0, "\(done.errors)")
    // What is long is cut for people.
    #expect(done.text.utf8.count < 1000)
    #expect(try heartwood("diff", "before.sqlite", "images.sqlite.backup", "--second-type", "SQLite").status == 0)
    #expect(try heartwood("edit", "images.sqlite", "--restore", "images.sqlite.backup").status == 0)
    #expect(try heartwood("diff", "before.sqlite", "images.sqlite").status == 0)
  }

  @Test func aBackupOfAnotherStoreIsNotPutBack() throws {
    for name in ["a", "b"] {
      try write(
        try ManagedObjectModel(entities: [.entity("Note", .attribute("text", .string, optional: true))]),
        to: "\(name).heartwood"
      ) {
        _ = try $0.insert(entityName: "Note")
      }
    }
    let before = try folder.data("a.heartwood")
    let refused = try heartwood("edit", "a.heartwood", "--restore", "b.heartwood")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("It is not a backup of this store"), "\(refused.errors)")
    #expect(try folder.data("a.heartwood") == before)
    #expect(!folder.exists("a.heartwood.backup"))
  }

  /// What only Core Data may write is refused, and no backup is left of it.
  @Test func aFileThatIsOnlyReadIsLeftAsItIs() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.sqlite").status == 0)
    try CoreDataHistory.add(transactionCount: 2, to: folder.path("todo.sqlite"))
    let names = try folder.names
    for ending in [[], ["--dry-run"]] {
      let refused = try heartwood(["edit", "todo.sqlite", "--where", "TRUEPREDICATE", "--set", "done=true"] + ending)
      #expect(refused.status == 1)
      #expect(refused.errors.contains("todo.sqlite: The file can be read, but not written"), "\(refused.errors)")
    }
    #expect(try folder.names == names)
  }

  @Test func aFileThatIsMirroredToCloudKitIsChangedIfTheUserSaysSo() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.sqlite").status == 0)
    let queue = try DatabaseQueue(path: folder.path("todo.sqlite").path)
    try queue.write { try $0.execute(sql: "CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY)") }
    try queue.close()
    let line = ["edit", "todo.sqlite", "--where", "TRUEPREDICATE", "--set", "done=true"]
    let refused = try heartwood(line)
    #expect(refused.status == 1)
    #expect(refused.errors.contains("CloudKit") && refused.errors.contains("--allow-mirrored"), "\(refused.errors)")
    #expect(!folder.exists("todo.sqlite.backup"))
    let dry = try heartwood(line + ["--allow-mirrored", "--dry-run"])
    #expect(dry.status == 0, "\(dry.errors)")
    let done = try heartwood(line + ["--allow-mirrored"])
    #expect(done.status == 0, "\(done.errors)")
    let open = try heartwood("fetch", "todo.sqlite", "ToDo", "--where", "done == NO")
    #expect(open.status == 0 && open.lines.isEmpty, "\(open.errors)")
  }

  /// A model that was made of the records is not the one that the file was written with.
  @Test func aFileWithoutAModelIsNotEdited() throws {
    try folder.write(CoreDataXML.oneOwner, to: "made.xml")
    try FileManager.default.removeItem(at: folder.path("ToDo.xcdatamodeld"))
    let refused = try heartwood("edit", "made.xml", "--entity", "A", "--where", "TRUEPREDICATE", "--delete")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("The file holds no model"), "\(refused.errors)")
  }
}
