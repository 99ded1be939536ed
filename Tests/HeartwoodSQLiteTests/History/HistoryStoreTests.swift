import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// What applications see of the history of a file: tokens, other processes, batches, and what becomes of it in copies and migrations.
@Suite struct HistoryStoreTests {
  private let bench: HistoryBench

  init() throws {
    bench = try HistoryBench()
  }

  private func insert(_ names: String..., in context: ManagedObjectContext) throws {
    for name in names { try context.insert(entityName: "Shelf").setValue(name, forKey: "name") }
    try context.save()
  }

  // MARK: Pages

  @Test func aLongHistoryIsReadInPages() throws {
    let context = try bench.context(options: HistoryBench.tracking)
    for number in 1...300 {
      context.transactionAuthor = number.isMultiple(of: 100) ? "rare" : nil
      try insert("\(number)", in: context)
    }
    let coordinator = context.persistentStoreCoordinator
    let reader = try #require(coordinator.persistentStores.first).requiredHistoryReader()
    func numbers(_ request: PersistentHistoryChangeRequest, limit: Int = .max) throws -> [Int64] {
      var numbers: [Int64] = []
      try reader.forEachTransaction(request, limit: limit) { transaction in
        numbers.append(transaction.transactionNumber)
        #expect(transaction.changes.map(\.changedObjectID.reference) == [.integer(transaction.transactionNumber)])
      }
      return numbers
    }
    let all = PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?)
    #expect(try numbers(all) == Array(1...300))
    #expect(try numbers(all, limit: 258) == Array(1...258))
    var rare = all
    rare.authors = ["rare"]
    #expect(try numbers(rare) == [100, 200, 300])
    #expect(try numbers(rare, limit: 2) == [100, 200])
    // A page of which a part is purged meanwhile is no page.
    let error = #expect(throws: PersistenceError.self) {
      try reader.forEachTransaction(all) { transaction in
        if transaction.transactionNumber == 256 { try coordinator.deleteHistory(before: .distantFuture) }
      }
    }
    #expect(error?.code == .historyTokenExpired)
  }

  // MARK: Others

  @Test func tokensOutliveTheStoreAndTellOfOthers() throws {
    let mine = try bench.context(author: "mine", options: HistoryBench.tracking)
    try insert("a", in: mine)
    let token = try #require(try mine.persistentStoreCoordinator.currentPersistentHistoryToken())
    let data = try JSONEncoder().encode(token)
    let other = try bench.context(author: "other")
    try insert("b", in: other)
    try insert("c", "d", in: other)
    #expect(try mine.execute(.fetchHistory(after: token)).map(\.author) == ["other", "other"])
    try insert("e", in: mine)
    #expect(try bench.history(other).map { $0.prefix(7) } == ["1 mine:", "2 other", "3 other", "4 mine:"])
    mine.persistentStoreCoordinator.close()
    other.persistentStoreCoordinator.close()
    let later = try bench.context()
    let kept = try JSONDecoder().decode(PersistentHistoryToken.self, from: data)
    #expect(try later.execute(.fetchHistory(after: kept)).map(\.transactionNumber) == [2, 3, 4])
    #expect(try later.count(for: .fetchHistory(after: kept)) == 3)
  }

  @Test func anOpenStoreGoesOnWithAHistoryThatAnotherBegins() throws {
    let first = try bench.context(author: "first")
    try insert("a", in: first)
    #expect(try first.persistentStoreCoordinator.currentPersistentHistoryToken() == nil)
    let second = try bench.context(author: "second", options: HistoryBench.tracking)
    #expect(try second.execute(.fetchHistory(after: nil)).isEmpty)
    try insert("b", in: second)
    try insert("c", in: first)
    #expect(try bench.history(first) == ["1 second: insert Shelf 65", "2 first: insert Shelf 2"])
    #expect(try bench.history(second) == bench.history(first))
  }

  @Test func aSaveThatFailsLeavesNoTransaction() throws {
    let context = try bench.context()
    try insert("a", in: context)
    let tracked = try bench.context(options: HistoryBench.tracking)
    let shelf = try #require(try tracked.fetch(FetchRequest<ManagedObject>(entityName: "Shelf")).first)
    try shelf.setValue("b", forKey: "name")
    let same = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Shelf")).first)
    try same.setValue("c", forKey: "name")
    try context.save()
    // The tables are made by the save, and are gone with it.
    #expect(bench.bench.code { try tracked.save() } == .saveConflict)
    #expect(try bench.rows("SELECT name FROM sqlite_master WHERE name LIKE 'A%'").isEmpty)
    tracked.mergePolicy = .mergeByPropertyObjectTrump
    try tracked.save()
    #expect(try bench.history(tracked) == ["1 -: update Shelf 1 (name)"])
    try insert("d", in: tracked)
    #expect(try tracked.count(for: .fetchHistory(after: nil)) == 2)
  }

  @Test func purgedTransactionsAreGoneForAll() throws {
    let context = try bench.context(options: HistoryBench.tracking)
    for name in ["a", "b", "c"] { try insert(name, in: context) }
    let all = try context.execute(.fetchHistory(after: nil))
    let other = try bench.context()
    try other.persistentStoreCoordinator.deleteHistory(before: all[2])
    #expect(try context.execute(.fetchHistory(after: nil)).map(\.transactionNumber) == [3])
    #expect(try bench.rows("SELECT ZTRANSACTIONID FROM ACHANGE") == ["3"])
    #expect(bench.bench.code { _ = try context.execute(.fetchHistory(after: all[0])) } == .historyTokenExpired)
    try context.persistentStoreCoordinator.deleteHistory(before: .distantFuture)
    #expect(try bench.rows("SELECT count(*) FROM ATRANSACTION") == ["0"])
    try insert("d", in: other)
    #expect(try other.execute(.fetchHistory(after: all[2])).map(\.transactionNumber) == [4])
    let readOnly = try bench.context(options: .readingOnly)
    #expect(
      bench.bench.code { try readOnly.persistentStoreCoordinator.deleteHistory(before: .distantFuture) }
        == .storeReadOnly
    )
    #expect(try bench.history(readOnly) == ["4 -: insert Shelf 65"])
  }

  // MARK: Batches

  @Test func batchesInTheStoreAreRecorded() throws {
    let context = try bench.context(options: HistoryBench.tracking)
    let shelf = try context.insert(entityName: "Shelf")
    for index in 0..<3 {
      let book = try context.insert(entityName: "Book")
      try book.setValue(Int64(index), forKey: "pages")
      if index == 0 { try book.setValue(shelf, forKey: "shelf") }
    }
    try context.save()
    let fresh = try bench.context(author: "batch").persistentStoreCoordinator
    try fresh.execute(
      BatchUpdateRequest(
        entityName: "Book",
        where: try FetchPredicate(format: "pages > 0"),
        propertiesToUpdate: ["pages": Int64(7)]
      ),
      author: "batch"
    )
    // Books have values that are preserved of those that go, so the store leaves the deletion to the framework.
    try fresh.execute(
      BatchDeleteRequest(entityName: "Book", where: try FetchPredicate(format: "pages = 0")),
      author: "batch"
    )
    let history = try bench.history(context)
    #expect(
      Array(history.dropFirst()) == [
        "2 batch: update Book 2 (pages); update Book 3 (pages)",
        "3 batch: update Shelf 1 (books); delete Book 1 (isbn=nil, title=nil)",
      ]
    )
    #expect(try bench.rows("SELECT ZCOLUMNS FROM ACHANGE WHERE ZTRANSACTIONID = 2") == ["x'40'", "x'40'"])
  }

  @Test func recordsThatABatchUnlinksAreRecorded() throws {
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(name: "Note", properties: [.toOne("owner", "Person", inverse: "notes")]),
      EntityDefinition(name: "Person", properties: [.toMany("notes", "Note", inverse: "owner")]),
    ])
    let bench = try SQLiteBench(model)
    let context = try bench.context(options: HistoryBench.tracking)
    let person = try context.insert(entityName: "Person")
    for _ in 0..<2 { try context.insert(entityName: "Note").setValue(person, forKey: "owner") }
    _ = try context.insert(entityName: "Note")
    try context.save()
    try bench.coordinatorOpened().execute(BatchDeleteRequest(entityName: "Note"))
    let last = try #require(try context.execute(.fetchHistory(after: nil)).last)
    #expect(HistoryBench.text(last) == "2 -: update Person 1 (notes); delete Note 1; delete Note 2; delete Note 3")
    #expect(
      try bench.query { try Int.fetchOne($0, sql: "SELECT Z_OPT FROM ZPERSON") } == 2,
      "the store did it itself, or the record would be as it was"
    )
  }

  // MARK: Copies

  @Test(arguments: [true, false])
  func aCopyHasTheHistory(inStore: Bool) throws {
    try bench.makeStore()
    try bench.change("Store.sqlite", inStore ? HistorySQL.older : HistorySQL.newer)
    try bench.change("Store.sqlite", inStore ? HistorySQL.olderNumbers : HistorySQL.newerNumbers)
    if !inStore { try bench.change("Store.sqlite", HistorySQL.newerRows.joined(separator: ";")) }
    let context = try bench.context(author: "app")
    try insert("a", in: context)
    let coordinator = context.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    let history = try bench.history(context)
    let url = bench.bench.url("Copy.sqlite")
    if inStore {
      try coordinator.copyPersistentStore(store, to: url)
      #expect(try bench.changes("Copy.sqlite") == bench.changes())
      #expect(
        try bench.rows("SELECT * FROM ATRANSACTION", "Copy.sqlite") == bench.rows("SELECT * FROM ATRANSACTION"),
        "a copy keeps the form"
      )
    } else {
      try coordinator.convert(store, to: url)
    }
    let copy = try bench.context("Copy.sqlite", author: "app")
    #expect(try bench.history(copy) == history)
    try insert("b", in: copy)
    #expect(try copy.execute(.fetchHistory(after: nil)).map(\.transactionNumber).last == 6)
  }

  @Test func aCopyMayLeaveTheHistoryOut() throws {
    let context = try bench.context(options: HistoryBench.tracking)
    try insert("a", in: context)
    let coordinator = context.persistentStoreCoordinator
    let store = try #require(coordinator.persistentStores.first)
    var options = StoreOptions()
    options[.tracksPersistentHistory] = false
    try coordinator.copyPersistentStore(store, to: bench.bench.url("Copy.sqlite"), options: options)
    #expect(try bench.rows("SELECT name FROM sqlite_master WHERE name LIKE 'A%'", "Copy.sqlite").isEmpty)
  }

  @Test func theHistoryGoesToBinaryAndBack() throws {
    let context = try bench.context(author: "app", options: HistoryBench.tracking)
    try insert("a", "b", in: context)
    let book = try context.insert(entityName: "Book")
    try book.setValue("Emma", forKey: "title")
    try context.save()
    context.delete(book)
    try context.save()
    let coordinator = context.persistentStoreCoordinator
    try coordinator.deleteHistory(before: try context.execute(.fetchHistory(after: nil))[1])
    let history = try bench.history(context)
    #expect(history.count == 2)
    let binary = try coordinator.convert(
      try #require(coordinator.persistentStores.first),
      to: bench.bench.url("Store.heartwood"),
      type: .binary
    )
    #expect(try bench.history(ManagedObjectContext(coordinator)) == history)
    try coordinator.convert(binary, to: bench.bench.url("Back.sqlite"), type: .sqlite)
    let back = ManagedObjectContext(coordinator)
    #expect(try bench.history(back) == history)
    try insert("c", in: back)
    #expect(try back.execute(.fetchHistory(after: nil)).map(\.transactionNumber) == [2, 3, 4])
    #expect(try bench.rows("SELECT Z_PK, ZENTITYPK FROM ACHANGE WHERE ZCHANGETYPE = 2", "Back.sqlite") == ["2|1"])
  }

  @Test func whatStandsBeforeAGapExpires() throws {
    try bench.makeStore()
    try bench.change("Store.sqlite", HistorySQL.newer, HistorySQL.newerNumbers)
    try bench.change(
      "Store.sqlite",
      HistorySQL.newerRows.joined(separator: ";"),
      "DELETE FROM ATRANSACTION WHERE Z_PK = 3"
    )
    let context = try bench.context()
    #expect(try context.execute(.fetchHistory(after: nil)).map(\.transactionNumber) == [2, 4])
    #expect(try context.count(for: .fetchHistory(after: nil)) == 2)
    let coordinator = context.persistentStoreCoordinator
    let token = try context.execute(.fetchHistory(after: nil))[0].token
    #expect(try context.execute(.fetchHistory(after: token)).map(\.transactionNumber) == [4])
    try coordinator.convert(
      try #require(coordinator.persistentStores.first),
      to: bench.bench.url("Store.heartwood"),
      type: .binary
    )
    #expect(try context.execute(.fetchHistory(after: nil)).map(\.transactionNumber) == [4])
    #expect(bench.bench.code { _ = try context.execute(.fetchHistory(after: token)) } == .historyTokenExpired)
  }

  @Test func whatIsSalvagedHasTheHistory() throws {
    let context = try bench.context(options: HistoryBench.tracking)
    for name in ["a", "b"] { try insert(name, in: context) }
    let history = try bench.history(context)
    context.persistentStoreCoordinator.close()
    func salvage(to name: String) throws -> SalvageReport {
      try bench.bench.coordinator().salvageStore(at: bench.bench.url(), type: .sqlite, to: bench.bench.url(name))
    }
    #expect(try salvage(to: "Whole.sqlite").losses.isEmpty)
    #expect(try bench.history(bench.context("Whole.sqlite")) == history)
    try bench.change("Store.sqlite", "UPDATE ACHANGE SET ZCHANGETYPE = 7 WHERE Z_PK = 1")
    let report = try salvage(to: "Part.sqlite")
    #expect(report.losses.contains { $0.reason.contains("history cannot be read") }, "\(report.losses)")
    #expect(try bench.rows("SELECT ZNAME FROM ZSHELF ORDER BY ZNAME", "Part.sqlite") == ["'a'", "'b'"])
  }

  // MARK: Migration

  @Test(arguments: [true, false])
  func aMigrationLeavesTheHistoryOutAndGoesOnWithItsNumbers(inStore: Bool) throws {
    let context = try bench.context(options: HistoryBench.tracking)
    for name in ["a", "b"] { try insert(name, in: context) }
    let token = try #require(try context.persistentStoreCoordinator.currentPersistentHistoryToken())
    context.persistentStoreCoordinator.close()
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(name: "Shelf", properties: [.attribute("name", .string, optional: true)])
    ])
    let coordinator = try SQLiteBench.coordinator(model)
    var options = StoreOptions()
    options[.migratesInStore] = inStore
    options[.allowsMigrationLoss] = true
    let migration = try #require(
      try coordinator.migration(ofStoreAt: bench.bench.url(), type: .sqlite, options: options)
    )
    #expect(try migration.dryRun().lostTransactionCount == 2)
    let report = try migration.run()
    #expect(report.isDoneInStore == inStore)
    #expect(report.lostTransactionCount == 2)
    let store = try coordinator.addPersistentStore(type: .sqlite, at: bench.bench.url())
    let migrated = ManagedObjectContext(coordinator)
    #expect(try migrated.execute(.fetchHistory(after: token)).isEmpty)
    try migrated.insert(entityName: "Shelf").setValue("c", forKey: "name")
    try migrated.save()
    #expect(try migrated.execute(.fetchHistory(after: token)).map(\.transactionNumber) == [3])
    let old = PersistentHistoryToken([store.identifier: 1])
    #expect(bench.bench.code { _ = try migrated.execute(.fetchHistory(after: old)) } == .historyTokenExpired)
  }
}

extension StoreOptions {
  fileprivate static var readingOnly: StoreOptions {
    var options = StoreOptions()
    options[.isReadOnly] = true
    return options
  }
}

extension SQLiteBench {
  /// A coordinator with the store, of which nothing was read.
  fileprivate func coordinatorOpened() throws -> PersistentStoreCoordinator {
    try context().persistentStoreCoordinator
  }
}
