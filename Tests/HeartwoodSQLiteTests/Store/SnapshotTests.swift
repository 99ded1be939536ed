import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import Synchronization
import Testing

@testable import HeartwoodSQLite

/// A context stays at a version of an SQLite store by a read transaction, and nothing is read for it.
@Suite struct SnapshotTests {
  private let bench: SQLiteBench
  private let context: ManagedObjectContext
  private let statements = Statements()

  /// Large data are in the file itself, which is what a snapshot keeps.
  private static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      .entity("Item", .attribute("name", .string), .attribute("data", .binary, optional: true))
    ])
  }

  private final class Statements: Sendable {
    private let texts = Mutex<[String]>([])

    var observer: SQLiteStatementObserver {
      SQLiteStatementObserver { text in self.texts.withLock { $0.append(text) } }
    }

    /// Those that read items since this was last asked.
    func takeReadings() -> [String] {
      texts.withLock { texts in
        defer { texts = [] }
        return texts.filter { $0.contains("ZITEM") && $0.uppercased().hasPrefix("SELECT") }
      }
    }
  }

  init() throws {
    bench = try SQLiteBench(Self.model())
    try bench.makeStore(items: ["a": nil, "b": nil, "c": nil])
    var options = StoreOptions()
    options[.sqliteStatementObserver] = statements.observer
    context = try bench.context(options: options)
  }

  private func others(_ change: (ManagedObjectContext, [ManagedObject]) throws -> Void) throws {
    let other = try bench.context()
    try change(other, try bench.items(other))
    try other.save()
    other.persistentStoreCoordinator.close()
  }

  private func names() throws -> [String?] {
    try bench.items(context).map { try $0.value(forKey: "name") as? String }
  }

  @Test func pinningReadsNoRecord() throws {
    _ = statements.takeReadings()
    try context.setQueryGeneration(from: .current)
    #expect(statements.takeReadings().isEmpty)
    try others { _, theirs in try theirs[0].setValue("A", forKey: "name") }
    #expect(try names() == ["a", "b", "c"])
    #expect(statements.takeReadings().isEmpty == false)
    try context.setQueryGeneration(from: nil)
    context.refreshAllObjects()
    #expect(try names() == ["A", "b", "c"])
  }

  @Test func objectsKeepTheirIdentity() throws {
    let items = try bench.items(context)
    #expect(try items[0].value(forKey: "name") as? String == "a")
    try context.setQueryGeneration(from: .current)
    try others { other, theirs in
      try theirs[1].setValue("bb", forKey: "name")
      other.delete(theirs[2])
    }
    #expect(try bench.items(context) == items)
    #expect(try names() == ["a", "b", "c"])
    try context.setQueryGeneration(from: nil)
    context.refreshAllObjects()
    #expect(try bench.items(context) == Array(items[..<2]))
    #expect(items[2].isDeleted)
    #expect(try names() == ["a", "bb"])
  }

  @Test func aSaveMovesOnAndAConflictDoesNot() throws {
    let items = try bench.items(context)
    try context.setQueryGeneration(from: .current)
    let first = try #require(context.queryGenerationToken)
    try others { _, theirs in try theirs[0].setValue("A", forKey: "name") }
    try items[0].setValue("ours", forKey: "name")
    #expect(bench.code { try context.save() } == .saveConflict)
    #expect(context.queryGenerationToken == first)
    context.rollback()
    #expect(try names() == ["a", "b", "c"])
    try items[1].setValue("B", forKey: "name")
    try context.save()
    #expect(context.queryGenerationToken != first)
    #expect(context.queryGenerationToken != nil)
    context.refreshAllObjects()
    #expect(try names() == ["A", "B", "c"])
  }

  /// Without a write-ahead log a transaction that reads would keep others from saving.
  @Test func othersSaveWithoutALogToo() throws {
    context.persistentStoreCoordinator.close()
    var options = StoreOptions()
    options[.sqliteJournalMode] = .rollback
    options[.sqliteStatementObserver] = statements.observer
    let context = try bench.context(options: options)
    try context.setQueryGeneration(from: .current)
    let other = try bench.context(options: options)
    try bench.items(other)[0].setValue("A", forKey: "name")
    try other.save()
    #expect(try bench.items(context).map { try $0.value(forKey: "name") as? String } == ["a", "b", "c"])
  }

  @Test func aClosedStoreHoldsNoFile() throws {
    try context.setQueryGeneration(from: .current)
    _ = try names()
    context.persistentStoreCoordinator.close()
    // Who closes the file last carries its log over.
    #expect(FileManager.default.fileExists(atPath: bench.url().path + "-wal") == false)
  }

  /// The transaction ends with the last token.
  @Test func theLogIsEmptiedWhenTheVersionIsLetGoOf() throws {
    var options = StoreOptions()
    options[.sqliteBusyTimeout] = .zero
    func logCanBeEmptied() throws -> Bool {
      let path = bench.url().path
      try others { _, theirs in try theirs[0].setValue(UUID().uuidString, forKey: "name") }
      let file = try SQLiteFile.open(atPath: path, options: options)
      defer { try? file.close() }
      return try file.withoutTransaction { db in
        let row = try Row.fetchOne(db, sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        return row?[0] == 0
      }
    }
    try context.setQueryGeneration(from: .current)
    #expect(try names() == ["a", "b", "c"])
    #expect(try logCanBeEmptied() == false)
    try context.setQueryGeneration(from: nil)
    #expect(try logCanBeEmptied())
  }
}
