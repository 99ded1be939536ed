import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodStore
import TestSupport
import Testing

@testable import HeartwoodSQLite

/// Copies of SQLite stores as SQLite stores, which do not go through memory.
@Suite struct CopyTests {
  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench()
  }

  @Test func recordsDoNotGoThroughMemory() throws {
    try bench.makeStore(items: ["a": nil, "b": Data([1, 2]), "c": Data(repeating: 3, count: 300_000)])
    let coordinator = try bench.coordinator()
    let store = try coordinator.addPersistentStore(type: .sqlite, at: bench.url())
    try store.setUserInfo(["who": .string("me")])
    try coordinator.copyPersistentStore(store, to: bench.url("Copy.sqlite"))
    #expect(store.recordByteCount == 0, "no record was read")
    let copy = try coordinator.metadataForPersistentStore(type: .sqlite, at: bench.url("Copy.sqlite"))
    #expect(copy.identifier == store.identifier)
    #expect(copy.userInfo["who"] == .string("me"))
    #expect(try bench.contents("Copy.sqlite") == bench.contents())
    #expect(try bench.externalNames("Copy") == bench.externalNames())
    #expect(try bench.namedFiles("Copy.sqlite") == bench.externalNames("Copy"))
  }

  @Test(arguments: 0..<4)
  func aCopyIsWhatGoesThroughMemory(_ run: Int) throws {
    let fixture = try TranslationFixture(seed: .random(in: 0...UInt64.max))
    let context = try fixture.context()
    let coordinator = context.persistentStoreCoordinator
    let store = coordinator.persistentStores[0]
    try coordinator.copyPersistentStore(store, to: bench.url("Copy.sqlite"))
    #expect(store.recordByteCount == 0, "no record was read")
    let copy = try openStore(fixture, "Copy.sqlite")
    let difference = ContentsComparison.firstDifference(fixture.contents, try copy.engine.contents())
    #expect(difference == nil, "\(difference.map { "\($0)" } ?? "")")
    // Keys of records that were deleted are not given again.
    let greatest = "SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT"
    let keys = try Row.fetchAll(in: fixture.store.path, greatest)
    #expect(try Row.fetchAll(in: bench.url("Copy.sqlite").path, greatest) == keys)
  }

  private func openStore(_ fixture: TranslationFixture, _ name: String) throws -> PersistentStore {
    let coordinator = try SQLiteBench.coordinator(fixture.queries.model)
    return try coordinator.addPersistentStore(type: .sqlite, at: bench.url(name))
  }

  @Test func whatStandsThereIsReplacedOnlyWhenAsked() throws {
    try bench.makeStore(items: ["new": nil])
    try bench.makeStore("Other.sqlite", items: ["old": Data(repeating: 3, count: 300_000)])
    let coordinator = try bench.coordinator()
    let store = try coordinator.addPersistentStore(type: .sqlite, at: bench.url())
    let code = bench.code { try coordinator.copyPersistentStore(store, to: bench.url("Other.sqlite")) }
    #expect(code == .fileExists)
    #expect(try bench.contents("Other.sqlite").keys.sorted() == ["old"])
    try coordinator.copyPersistentStore(store, to: bench.url("Other.sqlite"), replacing: true)
    #expect(try bench.contents("Other.sqlite").keys.sorted() == ["new"])
    #expect(try bench.externalNames("Other").isEmpty)
  }

  /// What cannot be made in SQL is made of the records, with their errors.
  @Test func whatIsNotAsItShouldBeIsRefusedAsEver() throws {
    try bench.makeStore(items: ["a": nil, "b": nil])
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.write { try $0.execute(sql: "UPDATE ZITEM SET ZNAME = x'ff' WHERE ZNAME = 'b'") }
    try queue.close()
    let coordinator = try bench.coordinator()
    let store = try coordinator.addPersistentStore(type: .sqlite, at: bench.url())
    let error = bench.error { try coordinator.copyPersistentStore(store, to: bench.url("Copy.sqlite")) }
    #expect(error?.code == .fileMalformed)
    #expect(error?.context.property == "name")
    #expect(!FileManager.default.fileExists(atPath: bench.url("Copy.sqlite").path))
  }
}

extension Row {
  fileprivate static func fetchAll(in path: String, _ query: String) throws -> [Row] {
    try DatabaseQueue(path: path).read { try Row.fetchAll($0, sql: query) }
  }
}
