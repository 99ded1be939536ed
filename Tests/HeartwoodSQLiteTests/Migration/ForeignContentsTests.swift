import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// Files in which Core Data keeps more than records.
@Suite struct ForeignContentsTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// What Core Data would have written.
    let statements: [String]
    /// What the reason speaks of.
    let word: String
    var transactionCount = 0
  }

  private static let cases = [
    Case(
      testDescription: "history",
      statements: [
        "CREATE TABLE ATRANSACTION (Z_PK INTEGER PRIMARY KEY, ZTIMESTAMP FLOAT)",
        "INSERT INTO ATRANSACTION VALUES (1, 0.5), (2, 1.5), (3, 2.5)",
        "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY)", "INSERT INTO ACHANGE VALUES (1)",
      ],
      word: "history",
      transactionCount: 3
    ),
    Case(
      testDescription: "CloudKit",
      statements: ["CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY)"],
      word: "CloudKit"
    ),
    Case(
      testDescription: "derived attributes",
      statements: [
        """
        CREATE TRIGGER Z_DA_ZITEM AFTER INSERT ON ZITEM FOR EACH ROW BEGIN
        SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZITEM', Z_ENT, Z_PK, 'name', ZNAME) FROM ZITEM; END
        """
      ],
      word: "derived attributes"
    ),
  ]

  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench()
    try bench.makeStore(items: ["a": nil, "b": nil])
  }

  private func add(_ foreign: Case) throws {
    let queue = try DatabaseQueue(path: bench.url().path)
    try queue.write { db in for statement in foreign.statements { try db.execute(sql: statement) } }
    try queue.close()
  }

  private static let properties: [PropertyDescription] = [
    .attribute("name", .string),
    .attribute(
      AttributeDescription(name: "data", type: .binary, isOptional: true, allowsExternalBinaryDataStorage: true)
    ),
    .toMany("parts", "Part", inverse: "item", ordered: true),
  ]

  /// The migration to a model with one more attribute.
  private func migration(inStore migratesInStore: Bool) throws -> StoreMigration {
    let model = try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "Item",
        properties: Self.properties + [.attribute("rank", .integer16, optional: true)],
        uniquenessConstraints: [["name"]]
      ),
      EntityDefinition(name: "Part", properties: [.toOne("item", "Item", inverse: "parts")]),
    ])
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: StoreRegistry([SQLiteStore.self])
    )
    var options = StoreOptions()
    options[.migratesInStore] = migratesInStore
    return try #require(try coordinator.migration(ofStoreAt: bench.url(), type: .sqlite, options: options))
  }

  @Test(arguments: cases, [true, false])
  func suchAFileIsNotMigratedWhereItIs(_ foreign: Case, inStore migratesInStore: Bool) throws {
    try add(foreign)
    let before = try Data(contentsOf: bench.url())
    let migration = try migration(inStore: migratesInStore)
    for error in [bench.error { _ = try migration.dryRun() }, bench.error { _ = try migration.run() }] {
      #expect(error?.code == .storeReadOnly)
      #expect(error?.message.contains(foreign.word) == true)
    }
    #expect(try Data(contentsOf: bench.url()) == before)
    #expect(try bench.scratch.names() == ["Store.sqlite"])
  }

  @Test(arguments: cases, [true, false])
  func itIsMigratedToAnotherFile(_ foreign: Case, inStore migratesInStore: Bool) throws {
    try add(foreign)
    let before = try Data(contentsOf: bench.url())
    let migration = try migration(inStore: migratesInStore)
    let foretold = try migration.dryRun(to: bench.url("New.sqlite"))
    let report = try migration.run(to: bench.url("New.sqlite"))
    #expect(report == foretold)
    #expect(report.isDoneInStore == migratesInStore)
    #expect(report.lostTransactionCount == foreign.transactionCount)
    #expect(try Data(contentsOf: bench.url()) == before)
    #expect(try bench.query("New.sqlite") { try Int.fetchOne($0, sql: "SELECT count(*) FROM ZITEM") } == 2)
  }

  @Test func otherFilesAreMigratedWhereTheyAre() throws {
    let report = try migration(inStore: true).run()
    #expect(report.lostTransactionCount == 0)
  }
}
