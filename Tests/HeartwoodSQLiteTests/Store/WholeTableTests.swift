import Dispatch
import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Synchronization
import Testing

@testable import HeartwoodSQLite

/// Tables that are so long that both connections read them.
@Suite struct WholeTableTests {
  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench()
  }

  /// Fills the tables behind the store's back: items, each with a part whose key is the same.
  private func fill(_ keys: String) throws {
    try bench.makeStore(items: [:])
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.write { db in
      let item = try Int.fetchOne(db, sql: "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'")
      let part = try Int.fetchOne(db, sql: "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Part'")
      try db.execute(
        sql: """
          CREATE TEMP TABLE keys AS \(keys);
          INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT k, ?, 1, 'item ' || k FROM keys;
          INSERT INTO ZPART (Z_PK, Z_ENT, Z_OPT, ZITEM) SELECT k, ?, 1, k FROM keys;
          UPDATE Z_PRIMARYKEY SET Z_MAX = (SELECT max(k) FROM keys)
          """,
        arguments: [item, part]
      )
    }
    try queue.close()
  }

  private static func series(_ last: Int) -> String {
    "WITH RECURSIVE s(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM s WHERE k < \(last))"
  }

  /// Keys without a gap, with many, and one that is far from all others.
  @Test(arguments: [
    "SELECT k FROM s", "SELECT k FROM s WHERE k % 7 < 3", "SELECT k * 1000 AS k FROM s",
    "SELECT k FROM s UNION ALL SELECT 9000000000000000000",
  ])
  func everyRecordIsReadOnceAndInOrder(_ keys: String) throws {
    try fill("\(Self.series(40_000)) \(keys)")
    let expected = try bench.query { try Int64.fetchAll($0, sql: "SELECT Z_PK FROM ZITEM ORDER BY Z_PK") }
    let context = try bench.context()
    let items = try context.fetch(FetchRequest<ManagedObject>(entityName: "Item"))
    #expect(items.map(\.objectID.referenceNumber) == expected)
    for item in items.enumerated().filter({ $0.offset % 997 == 0 || $0.offset == items.count - 1 }).map(\.element) {
      let key = try #require(item.objectID.referenceNumber)
      #expect(try item.value(forKey: "name") as? String == "item \(key)")
      let parts = try #require(try item.value(forKey: "parts") as? [ManagedObject])
      #expect(parts.map(\.objectID.referenceNumber) == [key])
    }
  }

  /// All of them wait for the one who reads, and so would the thread that is to help: the system makes another one a second.
  @Test func manyThreadsThatReadAtOnceDoNotStandStill() throws {
    try fill("\(Self.series(20_000)) SELECT k FROM s")
    let store = try bench.coordinator().addPersistentStore(type: .sqlite, at: bench.url())
    let item = try #require(bench.model.entity(named: "Item"))
    let counts = Mutex<[Int?]>([])
    let group = DispatchGroup()
    for _ in 0..<64 {
      DispatchQueue.global().async(group: group) {
        let count = try? store.engine.table(of: item).count
        counts.withLock { $0.append(count) }
      }
    }
    #expect(group.wait(timeout: .now() + 30) == .success)
    #expect(counts.withLock { $0 } == Array(repeating: 20_000, count: 64))
  }

  @Test func whatCannotBeReadIsToldByItsKey() throws {
    try fill("\(Self.series(40_000)) SELECT k FROM s")
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.write { db in
      try db.execute(sql: "UPDATE ZITEM SET ZNAME = CAST(x'ff' AS TEXT) || Z_PK WHERE Z_PK IN (39000, 39999)")
    }
    try queue.close()
    let context = try bench.context()
    let error = bench.error { _ = try context.fetch(FetchRequest<ManagedObject>(entityName: "Item")) }
    #expect(error?.code == .fileMalformed)
    #expect(error?.message.contains("39000") == true, "\(String(describing: error))")
  }

  @Test func aTableThatIsFilledAtOnceHasItsIndexes() throws {
    let context = try bench.context()
    let indexes = {
      try bench.query { db in
        try String.fetchAll(
          db,
          sql: "SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY sql"
        )
      }
    }
    let before = try indexes()
    #expect(!before.isEmpty)
    let items = try (0..<20_000).map { try bench.insert("item \($0 ^ 1)", in: context) }
    try context.insert(entityName: "Part").setValue(items[7], forKey: "item")
    try context.save()
    #expect(try indexes() == before)
    #expect(try bench.integrity() == "ok")
    let plan = try bench.query { db in
      try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN SELECT 1 FROM ZITEM WHERE ZNAME = 'item 4'")[0]["detail"] as String
    }
    #expect(plan.contains("INDEX"), "\(plan)")
    let file = try SQLiteFile.open(atPath: bench.url().path)
    defer { try? file.close() }
    #expect(throws: PersistenceError.self) {
      try file.write { try $0.execute(sql: "UPDATE ZITEM SET ZNAME = 'item 4' WHERE ZNAME = 'item 5'") }
    }
  }

  @Test func theSecondConnectionReadsTheSameStateOnly() throws {
    try bench.makeStore(items: ["a": nil])
    for (place, isReadOnly) in [false, true].enumerated() {
      let before = place + 1
      let file = try SQLiteFile.open(atPath: bench.url().path, isReadOnly: isReadOnly)
      let count = { (db: Database) in try Int.fetchOne(db, sql: "SELECT count(*) FROM ZITEM") }
      let mark = try file.mark()
      #expect(try file.read(at: mark, count) == before)
      #expect(try file.readBeside(at: mark, count) == before)
      let context = try bench.context()
      try bench.insert("b\(place)", in: context)
      try context.save()
      #expect(try file.readBeside(at: mark, count) == .none)
      #expect(try file.read(at: mark, count) == .none)
      #expect(try file.readBeside(at: try file.mark(), count) == before + 1)
      try file.close()
    }
  }
}

extension ManagedObjectID {
  fileprivate var referenceNumber: Int64? {
    if case .integer(let number) = reference { number } else { nil }
  }
}
