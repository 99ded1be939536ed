import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import Testing

@testable import HeartwoodSQLite

/// The rows of Core Data's history, held against SQL that was written by hand after real files.
@Suite struct HistoryRowsTests {
  private let bench: HistoryBench

  init() throws {
    bench = try HistoryBench()
  }

  @Test func newFilesHaveTheTablesOfTheNewerForm() throws {
    try bench.makeStore(options: HistoryBench.tracking)
    let found = try bench.bench.query { db in
      try String.fetchAll(
        db,
        sql:
          "SELECT sql FROM sqlite_master WHERE tbl_name IN ('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING') AND sql IS NOT NULL"
      )
    }
    let expected = HistorySQL.newer.split(separator: ";").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
    #expect(Set(found) == Set(expected.filter { !$0.isEmpty }))
    #expect(
      try bench.rows("SELECT * FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == [
        "16001|'CHANGE'|0|0", "16002|'TRANSACTION'|0|0", "16003|'TRANSACTIONSTRING'|0|0",
      ]
    )
  }

  @Test func storesWithoutTheOptionHaveNone() throws {
    try bench.makeStore()
    #expect(try bench.rows("SELECT name FROM sqlite_master WHERE name LIKE 'A%'").isEmpty)
    let context = try bench.context()
    _ = try context.insert(entityName: "Shelf")
    try context.save()
    #expect(try context.persistentStoreCoordinator.currentPersistentHistoryToken() == nil)
    #expect(bench.bench.code { _ = try context.execute(.fetchHistory(after: nil)) } == .historyNotTracked)
  }

  @Test func savesBecomeRows() throws {
    let process = ProcessInfo.processInfo.processName
    let context = try bench.context(author: "app", options: HistoryBench.tracking)
    context.name = "main"
    let (shelf, novel) = (try context.insert(entityName: "Shelf"), try context.insert(entityName: "Novel"))
    try novel.setValue("Emma", forKey: "title")
    try context.save()
    context.transactionAuthor = "sync"
    try novel.setValue("0-1", forKey: "isbn")
    try novel.setValue(shelf, forKey: "shelf")
    try context.save()
    context.transactionAuthor = nil
    context.delete(novel)
    try context.save()

    // Novel: genre, isbn, pages, shelf, title; shelf: books, name.
    #expect(
      try bench.changes() == [
        "1|16001|NULL|0|2|1|1|NULL|NULL|NULL", "2|16001|NULL|0|3|1|1|NULL|NULL|NULL",
        "3|16001|NULL|1|2|1|2|x'50'|NULL|NULL", "4|16001|NULL|1|3|1|2|x'80'|NULL|NULL",
        "5|16001|NULL|1|3|1|3|x'80'|NULL|NULL", "6|16001|NULL|2|2|1|3|NULL|'0-1'|'Emma'",
      ]
    )
    #expect(
      try bench.rows("SELECT * FROM ATRANSACTIONSTRING") == [
        "1|16003|NULL|'app'", "2|16003|NULL|'main'", "3|16003|NULL|'\(process)'", "4|16003|NULL|'sync'",
      ]
    )
    let columns = "Z_PK, Z_ENT, Z_OPT, ZAUTHORTS, ZBUNDLEIDTS, ZCONTEXTNAMETS, ZPROCESSIDTS, ZAUTHOR, ZQUERYGEN"
    #expect(
      try bench.rows("SELECT \(columns) FROM ATRANSACTION") == [
        "1|16002|NULL|1|NULL|2|3|NULL|NULL", "2|16002|NULL|4|NULL|2|3|NULL|NULL",
        "3|16002|NULL|NULL|NULL|2|3|NULL|NULL",
      ]
    )
    #expect(
      try bench.rows("SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == ["16001|6", "16002|3", "16003|4"]
    )
    let times = try context.execute(.fetchHistory(after: nil)).map(\.timestamp.timeIntervalSinceReferenceDate)
    #expect(try bench.rows("SELECT ZTIMESTAMP FROM ATRANSACTION") == times.map { "\($0)" })
    #expect(try bench.bench.integrity() == "ok")
  }

  @Test func rowsOfCoreDataAreRead() throws {
    try bench.makeStore()
    try bench.change("Store.sqlite", HistorySQL.newer, HistorySQL.newerNumbers)
    try bench.change("Store.sqlite", HistorySQL.newerRows.joined(separator: ";"))
    let context = try bench.context()
    #expect(
      try bench.history(context) == [
        "2 -: insert Novel 1; insert Shelf 1",
        // Bits behind the last property mean nothing.
        "3 sync: update Shelf 1 (books); update Novel 1 (isbn, shelf)",
        "4 -: update Shelf 1 (books); delete Novel 1 (isbn=0-1, title=Emma)",
      ]
    )
    let transactions = try context.execute(.fetchHistory(after: nil))
    #expect(transactions.map(\.bundleID) == ["org.example.app", "org.example.app", nil])
    #expect(transactions.map(\.processID) == ["App", "App", "App"])
    #expect(transactions.map(\.contextName) == [nil, "App", nil])
    #expect(
      transactions.map(\.timestamp.timeIntervalSinceReferenceDate) == [700_000_000.25, 700_000_001.5, 700_000_002]
    )
    let identifier = try #require(context.persistentStoreCoordinator.persistentStores.first?.identifier)
    #expect(
      try context.persistentStoreCoordinator.currentPersistentHistoryToken() == PersistentHistoryToken([identifier: 4])
    )
    let purged = PersistentHistoryToken([identifier: 0])
    #expect(bench.bench.code { _ = try context.execute(.fetchHistory(after: purged)) } == .historyTokenExpired)
    #expect(try context.count(for: .fetchHistory(after: PersistentHistoryToken([identifier: 2]))) == 2)
  }

  @Test func aHistoryOfCoreDataGoesOn() throws {
    try bench.makeStore()
    try bench.change("Store.sqlite", HistorySQL.newer, HistorySQL.newerNumbers)
    try bench.change("Store.sqlite", HistorySQL.newerRows.joined(separator: ";"))
    let (changes, transactions) = (try bench.changes(), try bench.rows("SELECT * FROM ATRANSACTION"))
    // Without the option: who follows the history relies on it.
    let context = try bench.context(author: "sync")
    let book = try context.insert(entityName: "Book")
    try context.save()
    try book.setValue(Int64(3), forKey: "pages")
    try context.save()
    #expect(try Array(bench.changes().prefix(changes.count)) == changes)
    #expect(
      try Array(bench.changes().dropFirst(changes.count)) == [
        "8|16001|NULL|0|1|1|5|NULL|NULL|NULL", "9|16001|NULL|1|1|1|6|x'40'|NULL|NULL",
      ]
    )
    #expect(try Array(bench.rows("SELECT * FROM ATRANSACTION").prefix(3)) == transactions)
    #expect(
      try bench.rows("SELECT Z_PK, ZAUTHORTS FROM ATRANSACTION WHERE Z_PK > 4") == ["5|3", "6|3"],
      "the author has a row already"
    )
    // A key that Core Data has taken and not used stays free.
    #expect(try bench.rows("SELECT max(Z_PK) FROM ATRANSACTIONSTRING") == ["5"])
  }

  @Test func theOlderFormIsReadAndKept() throws {
    try bench.makeStore()
    try bench.change("Store.sqlite", HistorySQL.older, HistorySQL.olderNumbers)
    try bench.change(
      "Store.sqlite",
      "INSERT INTO ATRANSACTION VALUES (4, 16002, NULL, 500000000.5, NULL, 'org.example', NULL, 'exampled', NULL)",
      // Book: isbn, pages, title, shelf.
      "INSERT INTO ACHANGE VALUES (7, 16001, NULL, 1, 1, 1, 4, x'30', NULL, NULL)"
    )
    let context = try bench.context(author: "app")
    #expect(try bench.history(context) == ["4 -: update Book 1 (title, shelf)"])
    #expect(try context.execute(.fetchHistory(after: nil)).map(\.bundleID) == ["org.example"])
    let (shelf, novel) = (try context.insert(entityName: "Shelf"), try context.insert(entityName: "Novel"))
    try context.save()
    try novel.setValue(shelf, forKey: "shelf")
    try novel.setValue("crime", forKey: "genre")
    try novel.setValue("Emma", forKey: "title")
    try context.save()
    context.delete(novel)
    try context.save()
    // Novel: isbn, pages, title, and its own genre; then shelf.
    #expect(
      try bench.changes().suffix(4) == [
        "10|16001|NULL|1|2|1|6|x'38'|NULL|NULL", "11|16001|NULL|1|3|1|6|x'40'|NULL|NULL",
        "12|16001|NULL|1|3|1|7|x'40'|NULL|NULL", "13|16001|NULL|2|2|1|7|NULL|NULL|'Emma'",
      ]
    )
    #expect(
      try bench.rows("SELECT Z_PK, ZAUTHOR, ZBUNDLEID, ZQUERYGEN FROM ATRANSACTION WHERE Z_PK > 4") == [
        "5|'app'|NULL|NULL", "6|'app'|NULL|NULL", "7|'app'|NULL|NULL",
      ]
    )
    #expect(try bench.rows("SELECT name FROM sqlite_master WHERE name LIKE 'ATRANSACTIONS%'").isEmpty)
    let read = try bench.history(context)
    #expect(
      Array(read.suffix(2)) == [
        "6 app: update Novel 1 (title, shelf, genre); update Shelf 1 (books)",
        "7 app: update Shelf 1 (books); delete Novel 1 (isbn=nil, title=Emma)",
      ]
    )
  }

  @Test(
    "A form that no known file has is refused by name",
    arguments: [
      ("ALTER TABLE ACHANGE ADD COLUMN ZNEWS BLOB", "ZNEWS"), ("ALTER TABLE ATRANSACTION ADD COLUMN ZNEWS", "ZNEWS"),
      ("ALTER TABLE ACHANGE DROP COLUMN ZENTITYPK", "ZENTITYPK"), ("DROP TABLE ACHANGE", "ACHANGE"),
      ("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 16002", "TRANSACTION"),
      ("ALTER TABLE ACHANGE DROP COLUMN ZTOMBSTONE1", "columns for values of deleted records"),
    ]
  )
  func unknownForms(_ change: String, _ word: String) throws {
    try bench.makeStore()
    try bench.change("Store.sqlite", HistorySQL.newer, HistorySQL.newerNumbers)
    try bench.change("Store.sqlite", HistorySQL.newerRows.joined(separator: ";"), change)
    let context = try bench.context()
    _ = try context.insert(entityName: "Shelf")
    let error = bench.bench.error { try context.save() }
    #expect(error?.code == .storeReadOnly)
    #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
  }

  @Test(
    "What cannot be understood is told with the row",
    arguments: [
      ("UPDATE ACHANGE SET ZCHANGETYPE = 3 WHERE Z_PK = 5", "key 5 of the table ACHANGE"),
      ("UPDATE ACHANGE SET ZENTITYPK = NULL WHERE Z_PK = 2", "key 2 of the table ACHANGE"),
      ("UPDATE ACHANGE SET ZTOMBSTONE0 = 5 WHERE Z_PK = 6", "key 6 of the table ACHANGE holds an integer"),
      ("UPDATE ATRANSACTION SET ZTIMESTAMP = NULL WHERE Z_PK = 3", "key 3 of the table ATRANSACTION"),
    ]
  )
  func damage(_ change: String, _ text: String) throws {
    try bench.makeStore()
    try bench.change("Store.sqlite", HistorySQL.newer, HistorySQL.newerNumbers)
    try bench.change("Store.sqlite", HistorySQL.newerRows.joined(separator: ";"), change)
    let context = try bench.context()
    let error = bench.bench.error { _ = try context.execute(.fetchHistory(after: nil)) }
    #expect(error?.code == .fileMalformed)
    #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
  }

  @Test func anEntityThatNobodyKnowsIsNamed() throws {
    try bench.makeStore()
    try bench.change("Store.sqlite", HistorySQL.newer, HistorySQL.newerNumbers)
    try bench.change(
      "Store.sqlite",
      HistorySQL.newerRows.joined(separator: ";"),
      "UPDATE ACHANGE SET ZENTITY = 9 WHERE Z_PK = 2"
    )
    let error = bench.bench.error { _ = try bench.context().execute(.fetchHistory(after: nil)) }
    #expect(error?.code == .modelIncompatible)
    #expect(error?.context.entity == "entity number 9")
  }

  @Test func compositeAttributesAreRefused() throws {
    let part = AttributeDescription(name: "address_city", type: .string, isOptional: true)
    let definition = EntityDefinition(
      name: "Place",
      properties: [.attribute(part)],
      compositeAttributes: [
        CompositeAttributeDescription(
          name: "address",
          compositeName: "Address",
          elements: [.init(name: "city", attributeName: "address_city")]
        )
      ]
    )
    let bench = try SQLiteBench(try ManagedObjectModel(entities: [definition]))
    let error = bench.error { _ = try bench.context(options: HistoryBench.tracking) }
    #expect(error?.code == .capabilityMissing && error?.message.contains("Place") == true, "\(error?.message ?? "")")
    #expect(!FileManager.default.fileExists(atPath: bench.url().path))
  }
}
