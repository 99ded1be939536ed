import Foundation
import Testing

@Suite struct UsageTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  @Test(arguments: [
    "fly", "convert todo.csv", "convert", "info", "dump todo.csv --format pdf", "info todo.csv --jsno", "types more",
    "verify a b", "history todo.csv --after -1", "history todo.csv --purge-before soon",
    "history todo.csv --purge-before 2026-01-31 --after 1", "fetch todo.csv", "fetch todo.csv ToDo --limit -1",
    "convert todo.csv out --to Fax", "convert todo.csv out.csv --from Fax", "info todo.csv --type Fax",
    "dump todo.csv --type Fax", "diff todo.csv todo.csv --second-type Fax",
    "migrate todo.csv --to-model ToDo.xcdatamodeld --from Fax", "convert todo.csv - --to CSV",
    "fetch todo.csv ToDo --sort ''", "fetch todo.csv ToDo --sort sortOrder,,memo", "fetch todo.csv ToDo --sort :desc",
    "fetch todo.csv ToDo --sort sortOrder:desc:asc", "fetch todo.csv ToDo --sort memo:c:l",
    "help nonsense", "help model nonsense", "cnvert todo.csv out.heartwood",
    "generate ToDo.xcdatamodeld --output out --machine-only --human-template x",
    "generate ToDo.xcdatamodeld --output-file out.swift --human-template x",
    "fetch todo.csv ToDo --explain --count",
    "fetch todo.csv ToDo --select 'sum('", "fetch todo.csv ToDo --having 'done == YES'",
    "edit todo.csv", "edit todo.csv --set done=true", "edit todo.csv --insert --delete",
    "edit todo.csv --where TRUEPREDICATE", "edit todo.csv --where TRUEPREDICATE --id 1 --delete",
    "edit todo.csv --insert --where TRUEPREDICATE", "edit todo.csv --delete --where TRUEPREDICATE --set done=true",
    "edit todo.csv --where TRUEPREDICATE --set done", "edit todo.csv --where TRUEPREDICATE --set =true",
    "edit todo.csv --where 'done ==' --delete", "edit todo.csv --restore a --dry-run",
    "edit todo.csv --insert --show -1",
  ])
  func wrongArgumentsAreUsageErrors(_ arguments: String) throws {
    let outcome = try heartwood.shell("heartwood \(arguments)")
    #expect(outcome.status == 64)
    #expect(outcome.text == "")
    #expect(outcome.errors.contains("Usage:"))
  }

  @Test func aCommandThatIsNotThereIsNamed() throws {
    #expect(try heartwood("cnvert", "a", "b").errors.contains("There is no command “cnvert”. Did you mean convert?"))
    #expect(try heartwood("fly").errors.contains("There is no command “fly”. heartwood help lists them."))
    for line in ["model sho x", "help model sho"] {
      let errors = try heartwood.shell("heartwood \(line)").errors
      #expect(
        errors.contains("There is no command “model sho”. Did you mean model show? heartwood help model lists them."),
        "\(errors)"
      )
    }
    #expect(try heartwood("help", "modle").errors.contains("“modle”. Did you mean model? heartwood help lists them."))
    #expect(try heartwood("help", "info", "x").errors.contains("“info x”. heartwood help lists them."))
  }

  /// The parser would take the name for options of a letter each, and the h for the one that shows the help.
  @Test(arguments: [
    "verify -todo.heartwood", "verify --json -todo.heartwood", "diff todo.csv -todo.heartwood", "-todo.heartwood",
    "fetch todo.csv ToDo --where=done==NO -todo.heartwood", "model show -todo.heartwood --format json",
    "convert todo.csv -todo.heartwood --quiet", "migrate todo.csv --to-model M --dry-run -todo.heartwood",
  ])
  func aNameThatBeginsWithADashIsToldFromOptions(_ arguments: String) throws {
    let outcome = try heartwood.shell("heartwood \(arguments)")
    #expect(outcome.status == 64)
    #expect(outcome.text == "")
    let advice = "-todo.heartwood begins with a dash. Write ./-todo.heartwood, or put -- before it."
    #expect(outcome.errors.contains(advice), "\(outcome.errors)")
  }

  @Test func whatStandsBehindADashIsReadAllTheSame() throws {
    #expect(try heartwood("convert", "todo.csv", "./-todo.heartwood").status == 0)
    for line in ["verify ./-todo.heartwood", "verify -- -todo.heartwood", "verify --json -- -todo.heartwood"] {
      #expect(try heartwood.shell("heartwood \(line)").status == 0, "\(line)")
    }
    for value in ["--where '-sortOrder < 0'", "--where='-sortOrder < 0'", "--select '-sortOrder AS hours'"] {
      let outcome = try heartwood.shell("heartwood fetch todo.csv ToDo \(value)")
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    let limit = try heartwood("fetch", "todo.csv", "ToDo", "--limit", "-10")
    #expect(limit.errors.contains("must not be negative"), "\(limit.errors)")
    #expect(try heartwood("info", "todo.csv", "-json").errors.contains("Options have two dashes: --json."))
    #expect(try heartwood("verify", "-h").status == 0)
  }

  @Test(
    .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")),
    arguments: ["help", "help convert", "--help", "convert --help", "--version", "help model show"]
  )
  func helpThatCannotBeWrittenIsAnError(_ arguments: String) throws {
    let outcome = try heartwood.shell("heartwood \(arguments) > /dev/full")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("The output cannot be written"), "\(outcome.errors)")
    #expect(try heartwood.shell("heartwood \(arguments) | true").status == 0)
  }

  /// They would name another file, with other characters in place of those bytes.
  @Test func argumentsThatAreNotUTF8AreUsageErrors() throws {
    try folder.write("precious", to: "\u{FFFD}.heartwood")
    let name = "\"$(printf '\\377').heartwood\""
    for line in ["convert todo.csv \(name) --force", "info \(name)", "info todo.csv --model \(name)"] {
      let outcome = try heartwood.shell("heartwood \(line)")
      #expect(outcome.status == 64, "\(line)")
      #expect(outcome.errors.contains("is not UTF-8"), "\(outcome.errors)")
    }
    #expect(try folder.data("\u{FFFD}.heartwood") == Data("precious".utf8))
  }

  private static let commands = [
    "convert", "import", "migrate", "info", "dump", "fetch", "edit", "diff", "types", "history", "verify", "model",
    "generate",
    "recover-model",
  ]
  private static let modelCommands = ["show", "check", "diff", "hash", "convert"].map { "model \($0)" }

  @Test(arguments: commands)
  func everyCommandHasHelpWithAnExample(_ command: String) throws {
    let outcome = try heartwood("help", command)
    #expect(outcome.status == 0)
    #expect(outcome.text.contains("EXAMPLE\n  heartwood \(command)"))
    #expect(try heartwood(command, "--help").text == outcome.text)
    #expect(try heartwood("--help").text.contains("\n  \(command) "))
  }

  /// A line that the help breaks is two commands for who pastes it.
  @Test(arguments: [""] + commands + modelCommands)
  func examplesFitIntoALine(_ command: String) throws {
    let lines = try heartwood.shell("heartwood help \(command)").text.split(
      separator: "\n",
      omittingEmptySubsequences: false
    )
    let start = try #require(lines.firstIndex(of: "EXAMPLE"))
    let examples = lines[(start + 1)...].prefix { !$0.isEmpty }
    #expect(!examples.isEmpty && examples.allSatisfy { $0.hasPrefix("  heartwood ") }, "\(examples)")
  }

  @Test(arguments: commands + modelCommands)
  func theVersionIsThatOfTheToolEverywhere(_ command: String) throws {
    let lines = try heartwood.shell("heartwood help \(command)").lines.filter { $0.hasPrefix("  --version") }
    #expect(lines.count == 1)
    #expect(lines.allSatisfy { $0.hasSuffix(" Show the version.") })
    let outcome = try heartwood.shell("heartwood \(command) --version")
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.text.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
  }

  /// A name of a file may neither break a line nor command a terminal.
  @Test(arguments: [
    ("convert todo.csv $name.csv", 0, #"out\u001b[31m.csv: "#),
    ("convert todo.csv $name.sqlite", 0, #"note: out\u001b[31m.sqlite: The type assigns its own references"#),
    ("migrate $name.heartwood --to-model ToDo.xcdatamodeld", 0, #"out\u001b[31m.heartwood: migrated, "#),
    (
      "migrate $name.heartwood --to-model ToDo.xcdatamodeld/ToDo.xcdatamodel", 0,
      #"out\u001b[31m.heartwood: The store has"#
    ),
    ("generate ToDo.xcdatamodeld --output-file $name.swift", 0, #"made out\u001b[31m.swift"#),
    ("info todo.csv $name", 64, #"out\u001b[31m"#), ("info todo.csv --type $name", 64, #"out\u001b[31m"#),
    ("fetch todo.csv ToDo --where \"$name\"", 64, "out [31m"),
  ])
  func namesAreShownSafely(_ arguments: String, _ status: Int, _ text: String) throws {
    #expect(try heartwood("convert", "todo.csv", "out\u{1B}[31m.heartwood").status == 0)
    try folder.addVersions()
    let outcome = try heartwood.shell("name=$(printf 'out\\033[31m'); heartwood \(arguments)")
    #expect(outcome.status == Int32(status), "\(outcome.errors)")
    let said = outcome.text + outcome.errors
    #expect(said.contains(text), "\(said)")
    #expect(!said.contains("\u{1B}"))
  }

  /// Writes the example with metadata, which a CSV store does not keep.
  private func writeNoted() throws {
    #expect(try heartwood("convert", "todo.csv", "noted.plist").status == 0)
    var list = try #require(
      try PropertyListSerialization.propertyList(from: try folder.data("noted.plist"), format: nil) as? [String: Any]
    )
    var metadata = try #require(list["metadata"] as? [String: Any])
    metadata["userInfo"] = ["note": 1]
    list["metadata"] = metadata
    let data = try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0)
    try data.write(to: folder.path("noted.plist"))
  }

  /// What the library advises with its own names is of no use to who has the tool only.
  @Test(arguments: [
    ("fetch todo.csv ToDo --where 'memo == $x'", "Write the value in its place."),
    ("history todo.heartwood", "Only saves with the option tracksPersistentHistory are recorded."),
    ("dump todo.heartwood --model N.xcdatamodel", "heartwood migrate"), ("info N", "--type"),
    ("model show N", "It is not a model."),
    ("convert todo.csv out --to InMemory", "has no file. Choose another type of store"),
    ("convert library.heartwood out.csv", "with heartwood dump --entity NAME --format csv."),
    ("convert noted.plist out.csv", "or print the records alone with heartwood dump --format csv."),
    ("convert todo.csv N.xcdatamodel --to Binary --force", "N.xcdatamodel: It is not a file. Choose another name."),
    ("migrate todo.heartwood --to-model N.xcdatamodel --backup", "Move it away, or leave out --backup."),
  ])
  func errorsSpeakOfTheTool(_ arguments: String, _ advice: String) throws {
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood").status == 0)
    try FileManager.default.createDirectory(at: folder.path("N.xcdatamodel"), withIntermediateDirectories: true)
    try folder.write("<model><entity name=\"Note\"/></model>", to: "N.xcdatamodel/contents")
    try folder.write("precious", to: "N")
    try Library.write(to: folder.path("library.heartwood"))
    try writeNoted()
    try folder.write("precious", to: "todo.heartwood.backup")
    let outcome = try heartwood.shell("heartwood \(arguments)")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains(advice), "\(outcome.errors)")
    #expect(!outcome.errors.contains("substituting") && !outcome.errors.contains("shouldMigrate"))
    #expect(!outcome.errors.contains("configuration") && !outcome.errors.contains("keys"))
    #expect(try folder.data("todo.heartwood.backup") == Data("precious".utf8))
  }

  /// The pipe is closed before the tool writes to it.
  @Test(arguments: [
    ("diff todo.csv other.csv", 1), ("diff todo.csv other.csv --json", 1), ("diff todo.csv todo.heartwood", 0),
    ("verify bad.csv --json", 1), ("verify todo.csv --json", 0), ("model check note.xcdatamodel", 1),
    ("model diff ToDo.xcdatamodeld note.xcdatamodel", 1), ("model diff ToDo.xcdatamodeld ToDo.xcdatamodeld", 0),
    ("migrate todo.heartwood --to-model note.xcdatamodel --dry-run", 1),
    ("migrate todo.heartwood --to-model ToDo.xcdatamodeld --dry-run", 0),
  ])
  func theStatusTellsWhatIsFoundThoughNobodyReads(_ arguments: String, _ status: Int) throws {
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood").status == 0)
    try folder.writeToDos(count: 1, to: "other.csv")
    let missing = ", memo, 2, , E899556C-BE1A-42A3-A634-F8411915C05F"
    try folder.write("#D35CF030-1EC1-4667-9666-70C8247A1010\n\(missing)\n", to: "bad.csv")
    try FileManager.default.createDirectory(at: folder.path("note.xcdatamodel"), withIntermediateDirectories: true)
    try folder.write("<model><entity name=\"note\"/></model>", to: "note.xcdatamodel/contents")
    let outcome = try heartwood.shell(
      "mkfifo gone; { read -r line < gone; heartwood \(arguments); echo status $? >&2; } | { exec <&-; echo > gone; }"
    )
    #expect(outcome.text == "")
    #expect(outcome.errors.hasSuffix("status \(status)\n"), "\(outcome.errors)")
  }

  @Test func versionIsANumber() throws {
    let outcome = try heartwood("--version")
    #expect(outcome.status == 0)
    #expect(outcome.text.wholeMatch(of: /\d+\.\d+\.\d+\n/) != nil)
  }

  @Test func typesAreListed() throws {
    let types = try #require(try heartwood("types", "--json").json() as? [[String: Any]])
    #expect(
      types.map { $0["type"] as? String } == [
        "Binary", "CSV", "XML", "PropertyList", "CoreDataBinary", "InMemory", "SQLite", "PostgreSQL",
      ]
    )
    let extensions = types.map { ($0["fileExtensions"] as? [String])?.first }
    #expect(extensions == ["heartwood", "csv", "xml", "plist", "coredata", nil, "sqlite", nil])
    #expect(types.last?["urlSchemes"] as? [String] == ["postgresql", "postgres"])
    for type in types {
      let capabilities = try #require(type["capabilities"] as? [String: Any])
      let isIncremental = ["SQLite", "PostgreSQL"].contains(type["type"] as? String)
      #expect(capabilities["kind"] as? String == (isIncremental ? "incremental" : "atomic"))
    }
    let lines = try heartwood("types").lines
    #expect(lines.count == 10)
    #expect(lines[0].hasPrefix("TYPE "))
  }

  @Test func aURLOfNoKnownSchemeIsRefused() throws {
    let outcome = try heartwood("info", "gopher://ann:secret@host/todos")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("No store is registered for URLs with the scheme gopher."), "\(outcome.errors)")
    #expect(outcome.errors.contains("postgresql://"), "\(outcome.errors)")
    #expect(!outcome.errors.contains("secret"), "\(outcome.errors)")
  }

  @Test func nothingIsDrawnWhereThereIsNoTerminal() throws {
    try folder.writeToDos(count: 20_000, to: "many.csv")
    let outcome = try heartwood("convert", "many.csv", "many.heartwood", "--verify")
    #expect(outcome.status == 0)
    #expect(outcome.errors == "")
    #expect(!outcome.text.contains("\u{1B}"))
  }
}
