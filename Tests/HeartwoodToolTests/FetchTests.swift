import Foundation
import Heartwood
import Testing

@Suite struct FetchTests {
  private let folder: WorkFolder
  private var heartwood: Tool { folder.heartwood }

  init() throws {
    folder = try WorkFolder()
  }

  @Test func recordsComeAsADumpHasThem() throws {
    let all = try heartwood("fetch", "todo.csv", "ToDo")
    #expect(all.status == 0)
    for format in ["json", "csv", "table"] {
      let fetched = try heartwood("fetch", "todo.csv", "ToDo", "--format", format)
      #expect(fetched.output == (try heartwood("dump", "todo.csv", "--format", format).output))
    }
    let some = try heartwood(
      "fetch",
      "todo.csv",
      "ToDo",
      "--where",
      "sortOrder > 1",
      "--sort",
      "sortOrder:desc",
      "--limit",
      "2"
    )
    #expect(try some.jsonLines().map { $0["sortOrder"] as? Int } == [5, 4])
    let page = try heartwood("fetch", "todo.csv", "ToDo", "--sort", "sortOrder", "--offset", "3", "--format", "csv")
    #expect(page.lines.count == 4)
    #expect(page.lines[0] == "$id,done,memo,sortOrder,creationDate")
    let none = try heartwood("fetch", "todo.csv", "ToDo", "--where", "FALSEPREDICATE")
    #expect(none.status == 0 && none.text == "")
  }

  @Test func relationshipsAreFollowed() throws {
    try Library.write(to: folder.path("library.heartwood"))
    let books = try heartwood(
      "fetch",
      "library.heartwood",
      "Book",
      "--where",
      "author.name BEGINSWITH '楊'",
      "--select",
      "title,author.name,author",
      "--sort",
      "title:desc:c"
    )
    let rows = try books.jsonLines()
    #expect(rows.map { $0["title"] as? String } == ["Zwei", "One, \"two\""])
    #expect(rows.first?["author.name"] as? String == "楊\tX")
    let author = try heartwood("dump", "library.heartwood", "--entity", "Author").jsonLines().first
    #expect(rows.first?["author"] as? String == author?["$id"] as? String)
  }

  @Test func recordsOfSeveralEntitiesAreInSeveralTables() throws {
    let sample = Repository.root.appending(path: "Formats/PropertyList/samples/version-1-xml.plist").path
    let tables = try heartwood("fetch", sample, "Item", "--sort", "title", "--format", "table")
    #expect(tables.status == 0, "\(tables.errors)")
    let titles = tables.lines.filter { $0.wholeMatch(of: /(Note|Task): \d+ records?/) != nil }
    #expect(titles == ["Note: 4 records", "Task: 9 records"])
    #expect(tables.lines.first == titles.first)
    #expect(tables.lines.count { $0.hasPrefix("$id ") } == titles.count)
    let one = try heartwood("fetch", sample, "Task", "--format", "table")
    #expect(one.output == (try heartwood("dump", sample, "--entity", "Task", "--format", "table").output))
    let fields = try heartwood("fetch", sample, "Item", "--format", "csv")
    #expect(fields.status == 1)
    #expect(fields.errors.contains("several entities"), "\(fields.errors)")
  }

  @Test func aColumnThatIsCalledLikeAPropertyIsToldFromIt() throws {
    let line = "heartwood fetch todo.csv ToDo --group-by done --select 'done,count(SELF) AS n'"
    let refused = try heartwood.shell("\(line) --having 'n > 2'")
    #expect(refused.status == 1)
    #expect(refused.errors.contains("This is a column, which is written $n here."), "\(refused.errors)")
    #expect(try heartwood.shell("\(line) --having '$n > 2'").lines.count == 2)
    let other = try heartwood.shell("\(line) --having 'memo == \"x\"'")
    #expect(other.status == 1)
    #expect(other.errors.contains("Group by it"), "\(other.errors)")
  }

  @Test func rowsHaveAllForms() throws {
    func output(_ format: String) throws -> [String] {
      let columns = "memo,sortOrder * 2 AS double,done"
      return try heartwood(
        "fetch",
        "todo.csv",
        "ToDo",
        "--select",
        columns,
        "--sort",
        "double",
        "--limit",
        "1",
        "--format",
        format
      ).lines
    }
    let json = try output("json")
    let memo = try #require(
      try heartwood("fetch", "todo.csv", "ToDo", "--where", "sortOrder == 0").jsonLines().first?["memo"]
    )
    #expect(json.count == 1 && json[0].contains(",\"double\":0,\"done\":"))
    #expect(json[0].hasPrefix("{\"memo\":\"\(memo)\""))
    let csv = try output("csv")
    #expect(csv.count == 2 && csv[0] == "memo,double,done")
    let table = try output("table")
    #expect(table.count == 3 && table[0].hasPrefix("memo ") && table[1].hasPrefix("----"))
  }

  @Test func groupsHaveAggregates() throws {
    let outcome = try heartwood(
      "fetch",
      "todo.csv",
      "ToDo",
      "--group-by",
      "done",
      "--select",
      "done,count(SELF) AS n,sum(sortOrder),max(creationDate)",
      "--sort",
      "sum(sortOrder):desc"
    )
    #expect(outcome.status == 0)
    let rows = try outcome.jsonLines()
    #expect(rows.count == 2)
    #expect(rows.compactMap { $0["n"] as? Int }.reduce(0, +) == 6)
    let sums = rows.compactMap { $0["sum(sortOrder)"] as? Int }
    #expect(sums.reduce(0, +) == 15 && sums == sums.sorted(by: >))
    #expect(rows.allSatisfy { ($0["max(creationDate)"] as? String)?.hasSuffix("Z") ?? false })
    let having = try heartwood("fetch", "todo.csv", "ToDo", "--group-by", "done", "--having", "@count > 100")
    #expect(having.status == 0 && having.text == "")
    #expect(try heartwood("fetch", "todo.csv", "ToDo", "--group-by", "done", "--count").text == "2\n")
    #expect(try heartwood("fetch", "todo.csv", "ToDo", "--select", "done", "--distinct", "--count").text == "2\n")
    #expect(
      try heartwood("fetch", "todo.csv", "ToDo", "--select", "max({sortOrder, 3}),'a,b'", "--limit", "1").lines.count
        == 1
    )
  }

  @Test func whatBeginsWithAMinusIsAValue() throws {
    #expect(try heartwood("fetch", "todo.csv", "ToDo", "--where", "-sortOrder < -2", "--count").text == "3\n")
    let groups = try heartwood("fetch", "todo.csv", "ToDo", "--group-by", "-sortOrder AS n", "--having", "-1 * $n > 3")
    #expect(groups.status == 0 && groups.lines.count == 2, "\(groups.errors)")
  }

  @Test(arguments: [
    (
      ["--group-by", "done", "--select", "done,count(SELF) AS n", "--sort", "memoo"],
      "ToDo has no property “memoo”. Did you mean memo?"
    ),
    (
      ["--group-by", "done", "--select", "done,count(SELF) AS n", "--having", "$m > 1"],
      "There is no column called m. Did you mean n?"
    ),
    (
      ["--select", "min(done) AS n,max(SELF) AS m"], "max: is made of values that have an order, and this is an object"
    ),
    (["--where", "creationDate > '2016'"], "write the date as CAST(\"2016-09-17T18:15:00Z\", \"Date\")"),
    (
      ["--where", "creationDate > CAST('soon', 'Date')"],
      "This string does not have the form of the type Date, such as 2016-09-17T18:15:00Z"
    ),
    (["--where", "memo == %@"], "Write the value in its place."),
    (["--where", "sortOrder == 99999999999999999999999"], "Write CAST(\"…\", \"Decimal\")"),
  ])
  func mistakesSayWhatHelps(_ arguments: [String], _ advice: String) throws {
    let outcome = try heartwood(["fetch", "todo.csv", "ToDo"] + arguments)
    #expect(outcome.status != 0 && outcome.errors.contains(advice), "\(outcome.errors)")
  }

  @Test func datesAreWrittenAsDumpsHaveThem() throws {
    let (before, after) = (
      "creationDate < CAST('2016-09-18', 'Date')", "creationDate >= CAST('2016-09-17T18:15:00Z', 'Date')"
    )
    #expect(try heartwood("fetch", "todo.csv", "ToDo", "--where", before, "--count").text == "6\n")
    #expect(try heartwood("fetch", "todo.csv", "ToDo", "--where", after, "--count").text == "6\n")
  }

  @Test func countsAndExplains() throws {
    #expect(try heartwood("fetch", "todo.csv", "ToDo", "--where", "sortOrder >= 3", "--count").text == "3\n")
    let plan = try heartwood(
      "fetch",
      "todo.csv",
      "ToDo",
      "--where",
      "sortOrder >= 3 AND memo CONTAINS 'x'",
      "--sort",
      "memo",
      "--explain"
    )
    #expect(plan.status == 0)
    #expect(plan.text.contains("ToDo: all 6 records") && plan.text.contains("the text of memo"))
    #expect(plan.text.contains("sort by memo") && plan.text.contains("thread"))
    let groups = try heartwood("fetch", "todo.csv", "ToDo", "--group-by", "done", "--sort", "done", "--explain")
    #expect(groups.text.contains("grouped by done") && groups.text.contains("6 records found"))
  }

  @Test func explanationsNameTheIndex() throws {
    var item = EntityDefinition.entity("Item", .attribute("done", .boolean), .attribute("due", .integer64))
    item.fetchIndexes = [FetchIndexDescription(name: "byDoneAndDue", properties: ["done", "due"])]
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: try ManagedObjectModel(entities: [item]))
    try coordinator.addPersistentStore(at: folder.path("indexed.heartwood"))
    let rows = (0..<200).map { ["done": PropertyValue.boolean($0 % 2 == 1), "due": .integer(Int64($0))] }
    try coordinator.execute(BatchInsertRequest(entityName: "Item", rows: rows))
    let plan = try heartwood(
      "fetch",
      "indexed.heartwood",
      "Item",
      "--where",
      "done == NO AND due < 10",
      "--sort",
      "due",
      "--limit",
      "3",
      "--explain"
    )
    #expect(plan.text.contains("Item: 5 of 200 records by the index byDoneAndDue"))
    #expect(plan.text.contains("sort by due, selecting the first 3 by the index byDoneAndDue"))
  }

  @Test func explanationsOfDatabasesShowTheirStatements() throws {
    try Library.write(to: folder.path("library.heartwood"))
    #expect(try heartwood("convert", "library.heartwood", "library.sqlite").status == 0)
    func explanation(_ arguments: String...) throws -> String {
      let outcome = try heartwood.shell(
        "heartwood fetch library.sqlite Book --explain \(arguments.joined(separator: " "))"
      )
      #expect(outcome.status == 0, "\(outcome.errors)")
      return outcome.text
    }
    let join = try explanation("--where \"author.name BEGINSWITH '楊' AND title != 'Zwei'\" --sort title --limit 7")
    #expect(join.contains("Book: found by the store\n  SELECT t0.Z_PK FROM ") && join.contains(" LEFT JOIN "))
    #expect(join.contains("= CAST(? AS BLOB)") && join.contains(" IS NOT ?") && join.contains(" LIMIT ? OFFSET ?"))
    #expect(!join.contains("楊") && !join.contains("Zwei"), "values are arguments")
    #expect(join.contains("SEARCH t1 ") || join.contains("SCAN t1"), "the plan is SQLite's")
    #expect(join.contains("1 record found"))
    let groups = try explanation("--group-by author.name --having '@count > 1' --select 'author.name,min(title)'")
    #expect(groups.contains(" GROUP BY 1 HAVING count(*) > ?") && groups.contains("grouped by author.name"))
    let memory = try explanation("--where 'price > 3'")
    #expect(memory.contains("Book: all 3 records, read from the store and tested in memory\n  test "))
    #expect(!memory.contains("SELECT"), "a file holds decimal numbers otherwise than they compare")
    let decimals = try explanation("--group-by author --select 'author,sum(price)'")
    #expect(decimals.contains("Book: all 3 records, read from the store") && !decimals.contains("GROUP BY"))
  }

  @Test func mistakesAreShownWithTheirPlaces() throws {
    let syntax = try heartwood("fetch", "todo.csv", "ToDo", "--where", "done == = NO")
    #expect(syntax.status == 64)
    #expect(syntax.errors.contains("  done == = NO\n          ^"))
    #expect(syntax.errors.contains("--where: Expected here"))
    let columns = try heartwood("fetch", "todo.csv", "ToDo", "--select", "memo,sum(")
    #expect(columns.status == 64 && columns.errors.contains("--select: Expected here"))
    for option in ["--select", "--group-by"] {
      for list in ["memo,", ",memo", "memo, ,done", ""] {
        let empty = try heartwood("fetch", "todo.csv", "ToDo", option, list)
        #expect(empty.status == 64)
        #expect(empty.errors.contains("\(option): A column is empty. Leave out the comma beside it, or the option."))
      }
    }
    for option in ["--select", "--group-by"] {
      let twice = try heartwood("fetch", "todo.csv", "ToDo", option, "memo,memo")
      #expect(twice.status == 64 && twice.errors.contains("\(option): Two columns have this name."), "\(twice.errors)")
    }
    let keys = try heartwood("fetch", "todo.csv", "ToDo", "--select", "memo", "--group-by", "memo,memo")
    #expect(keys.status == 0, "\(keys.errors)")
    let direction = try heartwood("fetch", "todo.csv", "ToDo", "--sort", "memo:up")
    #expect(direction.status == 64 && direction.errors.contains("“up”"))
    let key = try heartwood("fetch", "todo.csv", "ToDo", "--where", "meno == 'x'")
    #expect(key.status == 1)
    #expect(key.errors.contains("Did you mean memo?") && key.errors.contains("\n  ^~~~"))
    let group = try heartwood("fetch", "todo.csv", "ToDo", "--select", "memo,count(SELF)")
    #expect(group.status == 1 && group.errors.contains("Group by it"))
    let limit = try heartwood("fetch", "todo.csv", "ToDo", "--limit", "-1")
    #expect(limit.status == 64 && limit.errors.contains("--limit and --offset must not be negative."))
    let entity = try heartwood("fetch", "todo.csv", "Todo")
    #expect(entity.status == 1 && entity.errors.contains("Did you mean ToDo?"))
    #expect(try heartwood("fetch", "nothing.csv", "ToDo").status == 1)
  }

  @Test func aQuotationMarkInATextDoesNotEndIt() throws {
    let row = try heartwood("fetch", "todo.csv", "ToDo", "--select", #""a\",b" AS text,memo"#, "--limit", "1")
    #expect(row.status == 0, "\(row.errors)")
    #expect(try row.jsonLines().first?["text"] as? String == #"a",b"#)
    #expect(try row.jsonLines().first?.count == 2)
  }

  @Test func whoHasSeenEnoughMayClose() throws {
    try folder.writeToDos(count: 20_000, to: "many.csv")
    let outcome = try heartwood.shell("(heartwood fetch many.csv ToDo --select memo; echo status $? >&2) | head -n 1")
    #expect(outcome.lines.count == 1)
    #expect(outcome.errors == "status 0\n")
  }
}
