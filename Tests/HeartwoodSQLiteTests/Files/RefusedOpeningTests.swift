import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// Openings that fail: the file, and what lies beside it, are as they were.
@Suite struct RefusedOpeningTests {
  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench()
  }

  private static var readOnly: StoreOptions {
    var options = StoreOptions()
    options[.isReadOnly] = true
    return options
  }

  /// Makes a database that Core Data has not made.
  private func makeForeign(journalMode: String) throws {
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA journal_mode = \(journalMode); CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    }
    try queue.close()
  }

  @Test func aDatabaseThatIsNoStoreKeepsItsBytes() throws {
    try makeForeign(journalMode: "DELETE")
    let before = try Data(contentsOf: bench.url())
    var options = StoreOptions()
    options[.sqlitePragmas] = ["user_version": "7"]
    options[.sqliteManualVacuum] = true
    let error = bench.error { _ = try bench.context(options: options) }
    #expect(error?.code == .fileMalformed)
    #expect(error?.message.contains("Z_METADATA") == true)
    #expect(error?.recovery?.text.contains("heartwood import") == true)
    #expect(bench.code { try SQLiteStore.vacuum(at: bench.url()) } == .fileMalformed)
    #expect(try Data(contentsOf: bench.url()) == before)
    #expect(try bench.scratch.names() == ["Store.sqlite"])
  }

  @Test func aDatabaseThatIsNoStoreIsReadWithoutTraces() throws {
    try makeForeign(journalMode: "WAL")
    #expect(bench.code { _ = try bench.context(options: Self.readOnly) } == .fileMalformed)
    #expect(try bench.scratch.names() == ["Store.sqlite"])
  }

  @Test func aCopyOfAnOpenStoreIsRefusedWithoutTraces() throws {
    try bench.makeStore(items: ["a": nil])
    try FileManager.default.copyItem(at: bench.url(), to: bench.url("Copy.sqlite"))
    let coordinator = try bench.coordinator()
    try coordinator.addPersistentStore(type: .sqlite, at: bench.url(), options: Self.readOnly)
    let code = bench.code {
      try coordinator.addPersistentStore(type: .sqlite, at: bench.url("Copy.sqlite"), options: Self.readOnly)
    }
    #expect(code == .storeAlreadyOpen)
    #expect(try bench.scratch.names().filter { $0.hasPrefix("Copy") } == ["Copy.sqlite"])
    #expect(try bench.items(ManagedObjectContext(coordinator)).count == 1, "the one that was open still is")
  }

  /// However long one waits, the mode stays as it is.
  @Test func whoWantsAnotherJournalModeThanOthersIsToldSo() throws {
    try bench.makeStore(items: ["a": nil])
    let holder = try bench.context()
    var options = StoreOptions()
    options[.sqliteJournalMode] = .rollback
    let error = bench.error { _ = try bench.context(options: options) }
    #expect(error?.code == .storeBusy)
    #expect(error?.message.contains("sqliteJournalMode") == true && error?.message.contains("Timeout") == false)
    holder.persistentStoreCoordinator.close()
    #expect(try bench.items(try bench.context(options: options)).count == 1)
  }

  @Test func aStoreDoesNotLockItselfOut() throws {
    try bench.makeStore(items: ["a": nil])
    var options = StoreOptions()
    options[.sqlitePragmas] = ["Locking_Mode": "exclusive"]
    let error = bench.error { _ = try bench.context(options: options) }
    #expect(error?.code == .valueUnsupported)
    #expect(error?.message.contains("Locking_Mode") == true)
    options[.sqlitePragmas] = ["Locking_Mode": "normal"]
    #expect(try bench.items(try bench.context(options: options)).count == 1)
  }

  @Test func whereALogCannotBeReadItIsSaidHowItCan() {
    let error = SQLiteFailure.error(DatabaseError(resultCode: .SQLITE_CANTOPEN), path: "Store.sqlite")
    #expect(error.code == .fileReadFailed)
    #expect(error.message.contains("-wal") && error.message.contains("copy"))
  }
}
