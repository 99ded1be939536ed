import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// Files with a journal for each transaction, of which a process that died has left one half done.
@Suite struct RecoveryTests {
  /// How a file is read.
  enum Reading: CaseIterable {
    case open, inspect, source
  }

  private let bench: SQLiteBench
  /// Changes every row, and lets SQLite write that before the transaction ends, since it does not fit in memory.
  private let change = "PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE ZITEM SET ZNAME = hex(zeroblob(3000)) || Z_PK"

  init() throws {
    bench = try SQLiteBench()
  }

  private func makeStore(_ name: String) throws {
    var options = StoreOptions()
    options[.sqliteJournalMode] = .rollback
    let context = try bench.context(name, options: options)
    for number in 0..<100 { try bench.insert("\(number)", in: context) }
    try context.save()
    context.persistentStoreCoordinator.close()
  }

  /// Makes a store as it is on the disk when a process dies in the middle of a transaction.
  private func makeInterruptedStore() throws {
    try makeStore("Whole.sqlite")
    let queue = try DatabaseQueue(path: bench.url("Whole.sqlite").path)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: change)
      for suffix in ["", "-journal"] {
        try FileManager.default.copyItem(at: bench.url("Whole.sqlite" + suffix), to: bench.url("Store.sqlite" + suffix))
      }
      try db.execute(sql: "ROLLBACK")
    }
    try queue.close()
    let (whole, store) = try (Data(contentsOf: bench.url("Whole.sqlite")), Data(contentsOf: bench.url()))
    try #require(whole != store, "the change has been written in part")
  }

  private func names(_ reading: Reading, options: StoreOptions = StoreOptions()) throws -> Set<String> {
    let path = bench.url().path
    switch reading {
    case .open:
      let file = try SQLiteFile.open(atPath: path, options: options, isReadOnly: true)
      let names = try file.read { try String.fetchSet($0, sql: "SELECT ZNAME FROM ZITEM") }
      try file.close()
      return names
    case .inspect:
      return try SQLiteFile.inspect(atPath: path, options: options) {
        try String.fetchSet($0, sql: "SELECT ZNAME FROM ZITEM")
      }
    case .source:
      let names = try SQLiteFile.inspectAsSource(atPath: path, options: options) {
        try String.fetchSet($0, sql: "SELECT ZNAME FROM \(SQLiteFile.sourceName).ZITEM")
      }
      return names ?? []
    }
  }

  @Test(arguments: Reading.allCases)
  func whoReadsFindsWhatWasThere(_ reading: Reading) throws {
    try makeInterruptedStore()
    #expect(try names(reading) == Set((0..<100).map(String.init)))
    #expect(try bench.scratch.names() == ["Store.sqlite", "Whole.sqlite"])
    #expect(try Data(contentsOf: bench.url()) == Data(contentsOf: bench.url("Whole.sqlite")))
  }

  @Test func aStoreThatIsOpenedForReadingHasItsRecords() throws {
    try makeInterruptedStore()
    var options = StoreOptions()
    options[.isReadOnly] = true
    let context = try bench.context(options: options)
    #expect(try bench.items(context).count == 100)
  }

  @Test(arguments: Reading.allCases)
  func whatAProcessThatLivesIsDoingStays(_ reading: Reading) throws {
    try makeStore("Store.sqlite")
    var options = StoreOptions()
    options[.sqliteBusyTimeout] = .milliseconds(1)
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: change)
      #expect(bench.code { _ = try names(reading, options: options) } == .storeBusy)
      #expect(FileManager.default.fileExists(atPath: bench.url().path + "-journal"))
      try db.execute(sql: "COMMIT")
    }
    try queue.close()
    let changed = try names(reading)
    #expect(changed.count == 100 && changed.allSatisfy { $0.count > 6000 })
    #expect(try bench.integrity() == "ok")
  }

  @Test func whereItCannotBeUndoneThatIsSaid() throws {
    try makeInterruptedStore()
    let folder = bench.scratch.url.path
    try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: bench.url().path)
    try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder)
    defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder) }
    #expect(try Worker("unprivileged", "read", bench.url().path).finish() == ["fileReadFailed"])
    #expect(try bench.scratch.names().contains("Store.sqlite-journal"))
  }
}
