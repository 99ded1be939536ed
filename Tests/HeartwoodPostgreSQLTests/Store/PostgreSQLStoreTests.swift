import Foundation
import Heartwood
import HeartwoodStore
import Testing

@testable import HeartwoodPostgreSQL

/// What a PostgreSQL store does beside what all stores do.
@Suite(.needsServer) struct PostgreSQLStoreTests {
  private let bench: StoreBench

  init() throws {
    bench = try StoreBench()
  }

  /// The code of the article.
  @Test func aStoreIsAddedByItsURL() throws {
    let (model, url) = (bench.model, try bench.url)
    let registry = StoreRegistry()
    try registry.register(PostgreSQLFormat())
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
    try coordinator.addPersistentStore(at: url)
    #expect(coordinator.persistentStores.count == 1)
    coordinator.close()
  }

  // MARK: Tables

  @Test func otherClientsFindTablesOfTheirOwnKind() throws {
    let context = try bench.context()
    let list = try bench.insert("List", ["name": "Home"], in: context)
    let due = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
    try bench.insert("Item", ["title": "Tea", "due": due, "count": 3, "list": list], in: context)
    try context.save()
    let row = try bench.otherClient().execute(
      """
      SELECT item.title, item.due AT TIME ZONE 'UTC', item.count, list.name, item.version, item.entity \
      FROM item JOIN list ON list.id = item.list_id
      """
    ).first { row in
      (0..<row.count).map { index in row[index].map { String(decoding: $0, as: UTF8.self) } }
    }
    #expect(row == ["Tea", "2023-03-08 20:26:40.25", "3", "Home", "1", "Item"])
  }

  @Test func rowsOfOtherClientsAreRecords() throws {
    let context = try bench.context()
    #expect(try bench.titles(context).isEmpty)
    let other = try bench.otherClient()
    try other.execute("INSERT INTO item (title, due) VALUES ('Milk', '2026-01-02 03:04:05.5Z')")
    #expect(try bench.titles(context) == ["Milk"])
    let item = try #require(try context.fetch(entityName: "Item").first)
    #expect(try item.value(forKey: "due") as? Date == Date(timeIntervalSince1970: 1_767_323_045.5))
  }

  // MARK: Saving

  @Test func aSaveIsAFewStatements() throws {
    let log = StatementLog()
    let context = try bench.context(log.options)
    let items = try (0..<50).map { try bench.insert("Item", ["title": "\($0)"], in: context) }
    log.clear()
    try context.save()
    // One for the rows, one for the log, and one for the mark.
    #expect(log.beginning(with: "INSERT").count == 3)
    #expect(log.beginning(with: "COPY").isEmpty)
    for item in items { try item.setValue(7, forKey: "count") }
    log.clear()
    try context.save()
    #expect(log.beginning(with: "WITH done AS (UPDATE").count == 1)
    #expect(log.beginning(with: "BEGIN").count == 1)
    for item in items { context.delete(item) }
    log.clear()
    try context.save()
    #expect(log.beginning(with: "WITH done AS (DELETE").count == 1)
  }

  /// One to see whether others have saved, one to begin and to read the marks, and one for everything else.
  @Test(arguments: [false, true]) func aSaveOfOneRowIsThreeRoundTrips(isNew: Bool) throws {
    let log = StatementLog()
    let context = try bench.context(log.options)
    let item = try bench.insert("Item", ["title": "Tea"], in: context)
    // What is sent for the first time is prepared.
    for title in ["Milk", "Coffee"] {
      try context.save()
      if isNew {
        try bench.insert("Item", ["title": title], in: context)
      } else {
        try item.setValue(title, forKey: "title")
      }
    }
    log.clear()
    try context.save()
    #expect(log.roundTrips == 3, "\(log.all)")
  }

  @Test func aSaveWithAHistoryIsFourRoundTrips() throws {
    let log = StatementLog()
    var options = log.options
    options[.tracksPersistentHistory] = true
    let context = try bench.context(options)
    let list = try bench.insert("List", ["name": "Home"], in: context)
    try context.save()
    let item = try bench.insert("Item", ["title": "Tea", "list": list], in: context)
    try context.save()
    try item.setValue("Milk", forKey: "title")
    try context.save()
    try item.setValue("Coffee", forKey: "title")
    log.clear()
    try context.save()
    // The number of the transaction decides the rows of its changes.
    #expect(log.roundTrips == 4, "\(log.all)")
  }

  @Test func manyRecordsAreCopied() throws {
    let log = StatementLog()
    let context = try bench.context(log.options)
    for number in 0..<500 {
      try bench.insert("Item", ["title": "\(number)", "code": "c\(number)"], in: context)
    }
    log.clear()
    try context.save()
    #expect(log.beginning(with: "COPY \"").count == 1)
    #expect(log.beginning(with: "INSERT").count == 2)
    #expect(try bench.titles(try bench.context()).count == 500)
  }

  @Test func recordsThatLeadToEachOtherAreInsertedTogether() throws {
    let context = try bench.context()
    let list = try bench.insert("List", ["name": "L"], in: context)
    let items = try ["b", "a", "c"].map {
      try bench.insert("Item", ["title": $0, "list": list], in: context)
    }
    try list.setValue(items[2], forKey: "favourite")
    try context.save()
    let other = try bench.context()
    let found = try #require(try other.fetch(entityName: "List").first)
    let titles = try (found.value(forKey: "items") as? [ManagedObject])?.map {
      try $0.value(forKey: "title") as? String
    }
    #expect(titles == ["b", "a", "c"])
    let favourite = try found.value(forKey: "favourite") as? ManagedObject
    #expect(try favourite?.value(forKey: "title") as? String == "c")
  }

  @Test func recordsExchangeValuesThatMustBeUnique() throws {
    let context = try bench.context()
    let items = try ["1", "2", "3"].map { try bench.insert("Item", ["code": $0], in: context) }
    try context.save()
    try items[0].setValue("2", forKey: "code")
    try items[1].setValue("1", forKey: "code")
    context.delete(items[2])
    try bench.insert("Item", ["code": "3"], in: context)
    try context.save()
    let codes = try bench.context().fetch(entityName: "Item").compactMap {
      try $0.value(forKey: "code") as? String
    }
    #expect(codes.sorted() == ["1", "2", "3"])
  }

  @Test func textWithTheCharacterZeroIsRefused() throws {
    let context = try bench.context()
    try bench.insert("Item", ["title": "a\u{0}"], in: context)
    let error = bench.error { try context.save() }
    #expect(error?.code == .valueUnsupported)
    #expect(error?.context.property == "title")
    #expect(try bench.titles(try bench.context()).isEmpty)
  }

  // MARK: Others

  @Test func aChangeByAnotherClientIsAConflict() throws {
    let context = try bench.context()
    let item = try bench.insert("Item", ["title": "Tea", "count": 1], in: context)
    try context.save()
    try bench.otherClient().execute("UPDATE item SET count = 5")
    try item.setValue(2, forKey: "count")
    let error = bench.error { try context.save() }
    #expect(error?.code == .saveConflict)
    #expect(error?.context.mergeConflicts.count == 1)
    context.mergePolicy = .mergeByPropertyStoreTrump
    try context.save()
    #expect(try item.value(forKey: "count") as? Int == 5)
  }

  @Test func aChangeByAnotherClientDuringASaveIsFoundAndMerged() throws {
    let context = try bench.context()
    let item = try bench.insert("Item", ["title": "Tea", "count": 1], in: context)
    try context.save()
    let other = try bench.otherClient()
    // The other client changes the row after the save has looked for changes, and before it writes.
    let log = Interruption("UPDATE \"", isArmed: true) {
      try other.execute("UPDATE item SET title = 'Coffee'")
    }
    let second = try bench.context(log.options)
    second.mergePolicy = .mergeByPropertyObjectTrump
    let found = try #require(try second.fetch(entityName: "Item").first)
    try found.setValue(2, forKey: "count")
    try second.save()
    #expect(log.isDone)
    context.refresh(item, mergeChanges: false)
    let row = try other.execute("SELECT title, count, version FROM item").first { row in
      (0..<row.count).map { index in row[index].map { String(decoding: $0, as: UTF8.self) } }
    }
    #expect(row == ["Coffee", "2", "3"])
  }

  /// Nothing tells the store that the row has changed but the row itself, which the server compares.
  @Test func aVersionThatNobodyWasToldOfIsAConflict() throws {
    var options = StoreOptions()
    options[.postgresNotesOtherClients] = false
    let context = try bench.context(options)
    let items = try ["Tea", "Milk"].map { try bench.insert("Item", ["title": $0], in: context) }
    try context.save()
    try bench.otherClient().execute("UPDATE item SET title = 'Cocoa', version = 2 WHERE title = 'Milk'")
    for item in items { try item.setValue("Coffee", forKey: "title") }
    let error = bench.error { try context.save() }
    #expect(error?.code == .saveConflict)
    #expect(try bench.titles(try bench.context()) == ["Cocoa", "Tea"])
    context.delete(items[0])
    context.delete(items[1])
    #expect(bench.error { try context.save() }?.code == .saveConflict)
    #expect(try bench.titles(try bench.context()) == ["Cocoa", "Tea"])
  }

  @Test func aDateOfAnotherClientCounts() throws {
    let context = try bench.context()
    let exact = Date(timeIntervalSinceReferenceDate: 0.123_456_789)
    let item = try bench.insert("Item", ["title": "Tea", "due": exact], in: context)
    try context.save()
    #expect(
      try bench.context().fetch(entityName: "Item").first?.value(forKey: "due") as? Date == exact
    )
    try bench.otherClient().execute("UPDATE item SET due = '2001-01-03 00:00Z'")
    let due = Date(timeIntervalSinceReferenceDate: 2 * 86_400)
    #expect(try bench.titles(context, where: "due == CAST(172800, \"Date\")") == ["Tea"])
    context.refresh(item, mergeChanges: false)
    #expect(try item.value(forKey: "due") as? Date == due)
  }

  @Test func saversOfDifferentRecordsDoNotWaitForEachOther() throws {
    let writer = try bench.context()
    for title in ["a", "b"] { try bench.insert("Item", ["title": title, "count": 0], in: writer) }
    try writer.save()
    let interruption = Interruption("COMMIT") {
      // While the first save is about to be committed.
      let second = try bench.context()
      let item = try #require(try second.fetch(entityName: "Item").last)
      try item.setValue(2, forKey: "count")
      try second.save()
    }
    let first = try bench.context(interruption.options)
    let item = try #require(try first.fetch(entityName: "Item").first)
    interruption.arm()
    try item.setValue(1, forKey: "count")
    try first.save()
    #expect(interruption.isDone)
    for context in [first, try bench.context()] {
      let counts = try context.fetch(entityName: "Item").compactMap { try $0.value(forKey: "count") as? Int }
      #expect(counts.sorted() == [1, 2])
    }
  }

  @Test func valuesThatTwoSaversMakeTheSameAreAConflict() throws {
    let interruption = Interruption("INSERT INTO") {
      // After the first save has looked for others with the same value, and before it writes.
      let second = try bench.context()
      try bench.insert("Item", ["code": "x"], in: second)
      try second.save()
    }
    let first = try bench.context(interruption.options)
    try bench.insert("Item", ["code": "x"], in: first)
    interruption.arm()
    let error = bench.error { try first.save() }
    #expect(interruption.isDone)
    #expect(error?.code == .constraintConflict)
    #expect(error?.context.constraintConflicts.count == 1)
    #expect(try bench.context().count(entityName: "Item") == 1)
  }

  @Test func whatASaveReliesOnStaysAsItWas() throws {
    let writer = try bench.context()
    for title in ["a", "b"] { try bench.insert("Item", ["title": title, "count": 0], in: writer) }
    try writer.save()
    let interruption = Interruption("FOR SHARE", isArmed: true) {
      // After the first save has looked at the versions, and before it holds the record.
      let second = try bench.context()
      let item = try #require(try second.fetch(entityName: "Item").last)
      try item.setValue(2, forKey: "count")
      try second.save()
    }
    let first = try bench.context(interruption.options)
    let items = try first.fetch(entityName: "Item")
    #expect(try items[1].value(forKey: "count") as? Int == 0)
    first.detectConflicts(for: items[1])
    try items[0].setValue(1, forKey: "count")
    #expect(bench.error { try first.save() }?.code == .saveConflict)
    #expect(interruption.isDone)
    let counts = try bench.context().fetch(entityName: "Item").compactMap { try $0.value(forKey: "count") as? Int }
    #expect(counts.sorted() == [0, 2])
  }

  @Test func noIncrementOfSeveralWritersIsLost() throws {
    let context = try bench.context()
    try bench.insert("Item", ["title": "counter", "count": 0], in: context)
    try context.save()
    let (writers, increments) = (8, 10)
    let failures = FailureLog()
    DispatchQueue.concurrentPerform(iterations: writers) { _ in
      failures.catching {
        let context = try bench.context()
        for _ in 0..<increments {
          while true {
            let item = try #require(try context.fetch(entityName: "Item").first)
            try item.setValue((try item.value(forKey: "count") as? Int ?? 0) + 1, forKey: "count")
            do {
              try context.save()
              break
            } catch PersistenceError.Code.saveConflict {
              context.rollback()
              context.refreshAllObjects()
            }
          }
        }
        context.persistentStoreCoordinator.close()
      }
    }
    #expect(failures.all.isEmpty, "\(failures.all)")
    let count = try bench.context().fetch(entityName: "Item").first?.value(forKey: "count") as? Int
    #expect(count == writers * increments)
  }

  @Test func aSaveWaitsForAnotherNoLongerThanItIsTold() throws {
    var options = StoreOptions()
    options[.postgresLockTimeout] = .milliseconds(100)
    let context = try bench.context(options)
    let item = try bench.insert("Item", ["title": "Tea"], in: context)
    try context.save()
    let other = try bench.otherClient()
    try other.execute("BEGIN; SELECT * FROM item FOR UPDATE")
    try item.setValue("Coffee", forKey: "title")
    let error = bench.error { try context.save() }
    #expect(error?.code == .storeBusy)
    #expect(error?.recovery?.names == ["postgresLockTimeout"])
    try other.execute("ROLLBACK")
    try context.save()
    #expect(try bench.titles(try bench.context()) == ["Coffee"])
  }

  @Test func marksOfStoresThatWereOpenOnceAreFolded() throws {
    let context = try bench.context()
    try bench.insert("Item", ["title": "Tea"], in: context)
    try context.save()
    let other = try bench.otherClient()
    try other.execute(
      "INSERT INTO heartwood_mark SELECT n, 1, n * 977, now() - interval '2 days' FROM generate_series(1, 100) AS n"
    )
    let mark = "SELECT bit_xor(stamp), sum(saves) FROM heartwood_mark"
    func marks() throws -> [String?]? {
      try other.execute(mark).first { row in [try row.text(0), try row.text(1)] }
    }
    let before = try marks()
    #expect(try bench.titles(try bench.context()) == ["Tea"])
    #expect(try marks() == before)
    #expect(try other.execute("SELECT 1 FROM heartwood_mark").rowCount == 2)
  }

  // MARK: Connections

  @Test func aLostConnectionIsMadeAgain() throws {
    let context = try bench.context()
    let item = try bench.insert("Item", ["title": "Tea"], in: context)
    try context.save()
    try endConnections()
    #expect(try bench.titles(context) == ["Tea"])
    try endConnections()
    try item.setValue("Coffee", forKey: "title")
    try context.save()
    #expect(try bench.titles(try bench.context()) == ["Coffee"])
  }

  @Test(arguments: [
    "UPDATE \"", "saved_at = now()", "COMMIT", "SELECT slot", "BEGIN ISOLATION LEVEL REPEATABLE READ, READ WRITE",
  ])
  func aSaveWhoseConnectionIsLostIsDoneOrNot(_ statement: String) throws {
    let writer = try bench.context()
    try bench.insert("Item", ["title": "Tea"], in: writer)
    try writer.save()
    let interruption = Interruption(statement) { try endConnections() }
    let context = try bench.context(interruption.options)
    let item = try #require(try context.fetch(entityName: "Item").first)
    interruption.arm()
    try item.setValue("Coffee", forKey: "title")
    let error = bench.error { try context.save() }
    #expect(interruption.isDone)
    let expected = error == nil ? "Coffee" : "Tea"
    #expect(try bench.titles(try bench.context()) == [expected])
    if error != nil { try context.save() }
    #expect(try bench.titles(try bench.context()) == ["Coffee"])
  }

  /// Ends all connections that use the store's tables, or have.
  private func endConnections() throws {
    let connection = try PostgreSQLConnection(
      try bench.server.location(schema: "public"),
      options: StoreOptions()
    )
    try connection.runOnce(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
      WHERE query LIKE '%' || $1::text || '%' AND pid <> pg_backend_pid()
      """,
      [.text(bench.schema)]
    )
  }

  // MARK: Fetching

  @Test func conditionsAreFoundBySQLAndValuesAreParameters() throws {
    let log = StatementLog()
    let writer = try bench.context()
    for (number, title) in ["Tea", "Coffee", "Milk"].enumerated() {
      try bench.insert("Item", ["title": title, "count": number], in: writer)
    }
    try writer.save()
    let context = try bench.context(log.options)
    log.clear()
    #expect(
      try bench.titles(context, where: "title BEGINSWITH 'Te' OR count >= 2") == ["Milk", "Tea"]
    )
    let statements = log.beginning(with: "SELECT r.id FROM")
    #expect(statements.count == 1)
    #expect(statements.first?.contains("Te") == false)
  }

  @Test func whatSQLComparesOtherwiseIsFoundInMemory() throws {
    let log = StatementLog()
    let writer = try bench.context()
    for title in ["straße", "STRASSE", "x"] {
      try bench.insert("Item", ["title": title], in: writer)
    }
    try writer.save()
    let context = try bench.context(log.options)
    log.clear()
    #expect(try bench.titles(context, where: "title ==[c] 'strasse'") == ["STRASSE", "straße"])
    #expect(log.beginning(with: "SELECT r.id FROM").isEmpty)
  }

  // MARK: Places

  @Test func aStoreForReadingOnlyIsNotWritten() throws {
    try bench.context().persistentStoreCoordinator.close()
    var options = StoreOptions()
    options[.isReadOnly] = true
    let context = try bench.context(options)
    try bench.insert("Item", ["title": "Tea"], in: context)
    #expect(bench.error { try context.save() }?.code == .storeReadOnly)
  }

  @Test func aStoreIsExaminedAndDestroyedWithoutBeingOpened() throws {
    let context = try bench.context()
    try bench.insert("Item", ["title": "Tea"], in: context)
    try context.save()
    let (location, options) = (try bench.server.location(schema: bench.schema), StoreOptions())
    let metadata = try PostgreSQLStore.metadata(at: location, options: options)
    #expect(metadata?.storeType == .postgreSQL)
    #expect(try PostgreSQLStore.model(at: location, options: options) == bench.model)
    context.persistentStoreCoordinator.close()
    let other = try bench.otherClient()
    try PostgreSQLStore.destroy(at: location, options: options)
    #expect(try PostgreSQLStore.metadata(at: location, options: options) == nil)
    let schemas = try other.run(
      "SELECT 1 FROM pg_namespace WHERE nspname = $1::text",
      [.text(location.schema)]
    )
    #expect(schemas.rowCount == 0)
    try PostgreSQLStore.destroy(at: location, options: options)
  }

  @Test func aSchemaWithOtherTablesStays() throws {
    let context = try bench.context()
    context.persistentStoreCoordinator.close()
    let other = try bench.otherClient()
    try other.execute("CREATE TABLE mine (number integer)")
    let location = try bench.server.location(schema: bench.schema)
    try PostgreSQLStore.destroy(at: location, options: StoreOptions())
    #expect(try other.execute("SELECT * FROM mine").rowCount == 0)
  }
}
