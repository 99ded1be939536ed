import Foundation
import Testing

@Suite struct HistoryTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
    try Library.writeHistory(to: folder.path("library.heartwood"))
  }

  @Test func eachTransactionIsAnObject() throws {
    let transactions = try heartwood("history", "library.heartwood", "--format", "json").jsonLines()
    #expect(transactions.map { $0["number"] as? Int } == [1, 2, 3])
    #expect(transactions.map { $0["author"] as? String } == [nil, "editor", "editor"])
    #expect(transactions.map { $0["context"] as? String } == [nil, "main", "main"])
    let changes = try transactions.map { try #require($0["changes"] as? [[String: Any]]) }
    #expect(changes[0].map { $0["kind"] as? String } == ["insert", "insert", "insert", "insert"])
    #expect(changes[1].map { $0["properties"] as? [String] } == [["title"]])
    #expect(changes[2].map { $0["kind"] as? String } == ["delete"])
    #expect(changes[2][0]["tombstone"] as? [String: String] == ["title": ""])
    #expect(changes[2][0]["id"] as? String != changes[1][0]["id"] as? String)
  }

  @Test func aTableHasALineForEachTransaction() throws {
    let outcome = try heartwood("history", "library.heartwood")
    #expect(outcome.status == 0)
    #expect(outcome.lines.count == 5)
    #expect(outcome.lines[0].wholeMatch(of: /NUMBER  DATE +AUTHOR  CONTEXT  INSERTED  UPDATED  DELETED/) != nil)
    #expect(outcome.lines[3].wholeMatch(of: #/ +2  20\S+Z +editor  main +0 +1 +0/#) != nil, "\(outcome.text)")
  }

  @Test(arguments: [
    ("--after 2", [3]), ("--after 3", []), ("--author editor", [2, 3]), ("--author nobody", []),
    ("--limit 1", [1]), ("--limit 9", [1, 2, 3]), ("--after 1 --limit 1", [2]), ("--author editor --limit 1", [2]),
    ("--entity Author", [1]), ("--after 1 --entity Book --author editor", [2, 3]),
  ])
  func transactionsAreChosen(_ options: String, _ numbers: [Int]) throws {
    let outcome = try heartwood.shell("heartwood history library.heartwood --format json \(options)")
    #expect(outcome.status == 0)
    #expect(try outcome.jsonLines().map { $0["number"] as? Int } == numbers)
  }

  @Test func aTableOfAFewIsATable() throws {
    let outcome = try heartwood("history", "library.heartwood", "--limit", "2")
    #expect(outcome.lines.count == 4)
    #expect(try heartwood("history", "library.heartwood", "--after", "3").lines.count == 2)
    for arguments in [
      ["--limit", "0"], ["--limit", "-1"], ["--limit", "x"], ["--limit", "1", "--purge-before", "2026-01-31"],
    ] {
      #expect(try heartwood(["history", "library.heartwood"] + arguments).status == 64, "\(arguments)")
    }
  }

  @Test func oldTransactionsAreRemoved() throws {
    let none = try heartwood("history", "library.heartwood", "--purge-before", "2001-01-01")
    #expect(none.text == "0 transactions removed, 3 left\n")
    let before = try heartwood("dump", "library.heartwood").text
    let all = try heartwood("history", "library.heartwood", "--purge-before", "3001-01-01T00:00:00Z")
    #expect(all.text == "3 transactions removed, 0 left\n")
    #expect(try heartwood("history", "library.heartwood", "--format", "json").text == "")
    #expect(try heartwood("dump", "library.heartwood").text == before)
    let late = try heartwood("history", "library.heartwood", "--after", "1")
    #expect(late.status == 1 && late.errors.contains("purged"))
    #expect(late.errors.contains("leave out --after") && !late.errors.contains("oken"), "\(late.errors)")
    let early = try heartwood("history", "library.heartwood", "--after", "9")
    #expect(early.status == 1 && !early.errors.contains("oken"), "\(early.errors)")
    #expect(try heartwood("verify", "library.heartwood").status == 0)
    let info = try heartwood("info", "library.heartwood").lines
    #expect(info.contains { $0.hasPrefix("history ") && $0.hasSuffix("0 transactions, those up to number 3 purged") })
  }

  @Test(arguments: [
    "2026-02-30", "2025-02-29", "2026-13-01", "2026-01-31T25:00:00Z", "2026-01-31T18:61:00Z",
    "2026-02-30T18:00:00+02:00",
    "2026-01-31x", "2026-01-31T20:26:41", "2026-01-31T20:26:41X", "2026-01-31T20:26:41.junk",
    "2026-01-31T20:26:41+99:00", "2026-01-31T20:26:41Zjunk", "2026-01-31Z", "2026-01-31T20:26Z",
  ])
  func aDateThatDoesNotExistRemovesNothing(_ date: String) throws {
    let outcome = try heartwood("history", "library.heartwood", "--purge-before", date)
    #expect(outcome.status == 64)
    #expect(try heartwood("history", "library.heartwood", "--format", "json").lines.count == 3)
  }

  @Test(arguments: ["2024-02-29", "2024-02-29T23:59:59Z", "2024-02-29T18:00:00+02:00"])
  func aDateThatExistsIsTaken(_ date: String) throws {
    let outcome = try heartwood("history", "library.heartwood", "--purge-before", date)
    #expect(outcome.text == "0 transactions removed, 3 left\n", "\(outcome.errors)")
    let json = try heartwood("history", "library.heartwood", "--purge-before", date, "--format", "json")
    #expect(try json.json() as? [String: Int] == ["removed": 0, "left": 3])
  }

  @Test func infoTellsOfTheHistory() throws {
    let info = try #require(try heartwood("info", "library.heartwood", "--json").json() as? [String: Any])
    #expect(info["history"] as? [String: Int] == ["transactions": 3, "purged": 0, "last": 3])
    #expect(info["formatVersion"] as? String == "3")
    #expect(
      try heartwood("info", "library.heartwood").lines.contains {
        $0.hasSuffix(" 3 transactions, the last is number 3")
      }
    )
    #expect(try heartwood("info", "todo.csv", "--json").text.contains("\"history\":null"))
    #expect(try heartwood("info", "todo.csv").lines.contains { $0.hasPrefix("history ") && $0.hasSuffix(" none") })
  }

  @Test func aConversionTakesItAlong() throws {
    let before = try heartwood("history", "library.heartwood", "--format", "json").text
    let copied = try heartwood("convert", "library.heartwood", "copy.heartwood", "--verify")
    #expect(copied.status == 0 && copied.errors == "")
    #expect(try heartwood("history", "copy.heartwood", "--format", "json").text == before)
  }

  @Test func aConversionSaysWhatItLeavesOut() throws {
    let url = folder.path("notes.heartwood")
    try Library.writeNotes(to: url)
    let outcome = try heartwood("convert", "notes.heartwood", "notes.csv")
    #expect(outcome.status == 0)
    #expect(outcome.errors == "heartwood: note: notes.csv: The type keeps no history; 1 transaction left out.\n")
    #expect(try heartwood("convert", "notes.heartwood", "notes.csv", "--force", "--quiet").errors == "")
  }

  @Test func aHistoryThatIsNotReadIsTold() throws {
    #expect(try heartwood("convert", "todo.csv", "todo.sqlite", "--quiet").status == 0)
    #expect(try heartwood("info", "todo.sqlite", "--json").text.contains("\"history\":null,\"foreignTransactions\":0,"))
    try CoreDataHistory.add(transactionCount: 3, to: folder.path("todo.sqlite"))
    #expect(
      try heartwood("info", "todo.sqlite").lines.contains { $0.hasSuffix(" 3 transactions, not read") }
    )
    #expect(try heartwood("info", "todo.sqlite", "--json").text.contains("\"history\":null,\"foreignTransactions\":3,"))
    for name in ["copy.heartwood", "copy.sqlite"] {
      let copied = try heartwood("convert", "todo.sqlite", name)
      #expect(copied.status == 0)
      #expect(
        copied.errors
          == "heartwood: note: \(name): The history has an unknown form; 3 transactions left out.\n"
      )
    }
    let history = try heartwood("history", "todo.sqlite")
    #expect(history.status == 1)
    #expect(
      history.errors
        == "heartwood: error: todo.sqlite: The file has a history of Core Data, 3 transactions, of an unknown form.\n"
    )
  }

  @Test func anSQLiteFileKeepsIt() throws {
    let before = try heartwood("history", "library.heartwood", "--format", "json").jsonLines()
    let converted = try heartwood("convert", "library.heartwood", "library.sqlite", "--verify", "--quiet")
    #expect(converted.status == 0, "\(converted.errors)")
    let after = try heartwood("history", "library.sqlite", "--format", "json").jsonLines()
    for name in ["number", "author", "context", "date"] {
      #expect(before.map { "\($0[name] ?? "")" } == after.map { "\($0[name] ?? "")" }, "\(name)")
    }
    let info = try #require(try heartwood("info", "library.sqlite", "--json").json() as? [String: Any])
    #expect(info["history"] as? [String: Int] == ["transactions": 3, "purged": 0, "last": 3])
    #expect(info["foreignTransactions"] as? Int == 0)
    let edited = try heartwood(
      "edit",
      "library.sqlite",
      "--entity",
      "Book",
      "--where",
      "TRUEPREDICATE",
      "--set",
      "title=New",
      "--author",
      "me"
    )
    #expect(edited.status == 0, "\(edited.errors)")
    let last = try #require(try heartwood("history", "library.sqlite", "--format", "json").jsonLines().last)
    #expect(last["number"] as? Int == 4 && last["author"] as? String == "me" && last["process"] != nil)
    let changes = try #require(last["changes"] as? [[String: Any]])
    #expect(changes.allSatisfy { $0["properties"] as? [String] == ["title"] })
    let purged = try heartwood("history", "library.sqlite", "--purge-before", "3001-01-01")
    #expect(purged.text == "4 transactions removed, 0 left\n", "\(purged.errors)")
  }

  @Test(arguments: [("todo.csv", "keeps no history"), ("todo.heartwood", "tracksPersistentHistory")])
  func aStoreWithoutOneIsRefused(_ name: String, _ reason: String) throws {
    #expect(try heartwood("convert", "todo.csv", "todo.heartwood").status == 0)
    let outcome = try heartwood("history", name)
    #expect(outcome.status == 1)
    #expect(outcome.text == "")
    #expect(outcome.errors.contains(reason), "\(outcome.errors)")
  }

  @Test func anUnknownEntityIsRefused() throws {
    let outcome = try heartwood("history", "library.heartwood", "--entity", "Nobody")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("Author, Book"))
  }
}
