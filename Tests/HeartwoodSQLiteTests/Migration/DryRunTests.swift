import Foundation
import GRDB
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Synchronization
import Testing

@testable import HeartwoodSQLite

/// What dry runs of SQLite stores do, beside telling what migrations do: that is held wherever a migration is run both ways.
@Suite struct DryRunTests {
  private static func model(_ properties: PropertyDescription...) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      EntityDefinition(name: "Note", properties: [.attribute("name", .string, optional: true)] + properties)
    ])
  }

  private static func migration() throws -> TwoWayMigration {
    try TwoWayMigration(
      from: try model(.attribute("count", .integer64, optional: true)),
      to: try model(.attribute("number", .integer32, default: .integer(7), renamedFrom: "count"))
    ) { context in
      for number in 0..<10 {
        let note = try context.insert(entityName: "Note")
        if number > 2 { try note.setValue(number, forKey: "count") }
      }
    }
  }

  @Test func recordsAreCountedAndNotRead() throws {
    var migration = try Self.migration()
    let statements = Mutex<[String]>([])
    migration.options[.sqliteStatementObserver] = SQLiteStatementObserver { statement in
      statements.withLock { $0.append(statement) }
    }
    let report = try #require(try migration.migration(migration.options)).dryRun()
    #expect(report.isDoneInStore)
    #expect(report.sourceCount == 10 && report.destinationCount == 10)
    #expect(report.findings.map { "\($0.kind) \($0.count)" } == ["converted 7", "filled 3"])
    let readings = statements.withLock { $0 }.filter { $0.hasPrefix("SELECT") && $0.contains("ZNOTE") }
    #expect(!readings.isEmpty)
    for statement in readings {
      #expect(
        statement.hasPrefix("SELECT count(") || statement.hasPrefix("SELECT Z_PK FROM source.ZNOTE WHERE Z_PK >= ")
      )
    }
    #expect(!statements.withLock { $0 }.contains { $0.hasPrefix("INSERT") || $0.hasPrefix("CREATE TABLE") })
  }

  @Test func aTableMayHaveTheRecordsOfManyEntities() throws {
    func model(_ properties: PropertyDescription...) throws -> ManagedObjectModel {
      let root = EntityDefinition(name: "Root", properties: [.attribute("name", .string, optional: true)] + properties)
      let others = (0..<820).map { EntityDefinition(name: "Kind\($0)", superentityName: "Root", properties: []) }
      return try ManagedObjectModel(entities: [root] + others)
    }
    let migration = try TwoWayMigration(
      from: try model(),
      to: try model(.attribute("size", .integer32, default: .integer(7)))
    ) { context in
      for number in [0, 410, 819] { _ = try context.insert(entityName: "Kind\(number)") }
    }
    let report = try #require(try migration.migration(migration.options)).dryRun()
    #expect(report.isDoneInStore)
    #expect(report.sourceCount == 3 && report.destinationCount == 3)
  }

  @Test(arguments: [true, false])
  func aLogStaysAsItIs(inStore: Bool) throws {
    var migration = try Self.migration()
    migration.options[.migratesInStore] = inStore
    let url = migration.url("Old.sqlite")
    // Who has the file open keeps the log.
    let queue = try DatabaseQueue(path: url.path)
    try queue.write { try $0.execute(sql: "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZCOUNT) VALUES (100, 1, 1, 5)") }
    let log = try migration.files()["Old.sqlite-wal"]
    try #require(log?.isEmpty == false)
    let before = try migration.files().filter { $0.key != "Old.sqlite-shm" }
    let report = try #require(try migration.migration(migration.options)).dryRun()
    #expect(report.isDoneInStore == inStore)
    #expect(report.destinationCount == 11)
    #expect(try migration.files().filter { $0.key != "Old.sqlite-shm" } == before)
    try queue.close()
  }

  @Test func aDryRunCanBeCancelled() throws {
    let migration = try Self.migration()
    let progress = MigrationProgress()
    progress.cancel()
    let error = #expect(throws: PersistenceError.self) {
      try migration.migration(migration.options)?.dryRun(progress: progress)
    }
    #expect(error?.code == .migrationCancelled)
  }

  @Test func whereNothingCanBeWrittenIsTold() throws {
    var migration = try Self.migration()
    try Data([1]).write(to: migration.url("There.sqlite"))
    let taken = #expect(throws: PersistenceError.self) {
      try migration.migration(migration.options)?.dryRun(to: migration.url("There.sqlite"))
    }
    #expect(taken?.code == .fileExists)
    let report = try migration.migration(migration.options)?.dryRun(to: migration.url("There.sqlite"), replacing: true)
    #expect(report?.isDoneInStore == true)
    migration.options[.migrationBackupPath] = migration.url("There.sqlite").path
    let backup = #expect(throws: PersistenceError.self) { try migration.migration(migration.options)?.dryRun() }
    #expect(backup?.code == .fileExists)
    migration.options[.migrationBackupPath] = nil
    migration.options[.isReadOnly] = true
    let readOnly = #expect(throws: PersistenceError.self) { try migration.migration(migration.options)?.dryRun() }
    #expect(readOnly?.code == .storeReadOnly)
  }

  /// Integers that no real tells apart become the same real.
  @Test func valuesThatBecomeTheSameAreFoundWhenTheyAreToBeUnique() throws {
    let new = try ManagedObjectModel(entities: [
      EntityDefinition(
        name: "Note",
        properties: [.attribute("name", .string, optional: true), .attribute("count", .double, optional: true)],
        uniquenessConstraints: [["count"]]
      )
    ])
    let migration = try TwoWayMigration(
      from: try Self.model(.attribute("count", .integer64, optional: true)),
      to: new
    ) { context in
      for count in [Int64(1) << 60, Int64(1) << 60 + 1] {
        try context.insert(entityName: "Note").setPropertyValue(.integer(count), forKey: "count")
      }
    }
    #expect(try migration.run() == nil)
  }

  /// The view of the new table asks for the keys of the same table.
  @Test func aRelationshipOfATableToItselfIsNarrowed() throws {
    func model(_ child: PropertyDescription) throws -> ManagedObjectModel {
      try ManagedObjectModel(entities: [
        EntityDefinition(
          name: "Person",
          properties: [
            .attribute("name", .string, optional: true), .toOne("parent", "Person", inverse: "child"), child,
          ]
        )
      ])
    }
    let migration = try TwoWayMigration(
      from: try model(.toMany("child", "Person", inverse: "parent")),
      to: try model(.toOne("child", "Person", inverse: "parent"))
    ) { context in
      var parent: ManagedObject?
      for number in 0..<5 {
        let person = try context.insert(entityName: "Person")
        try person.setValue("\(number)", forKey: "name")
        if let parent { try person.setValue(parent, forKey: "parent") }
        parent = person
      }
    }
    #expect(try migration.run() == true)
  }

  private static func migration(of data: Data) throws -> TwoWayMigration {
    let property = PropertyDescription.attribute(
      AttributeDescription(name: "data", type: .binary, allowsExternalBinaryDataStorage: true)
    )
    return try TwoWayMigration(
      from: try model(property),
      to: try model(property, .attribute("memo", .string, optional: true))
    ) { try $0.insert(entityName: "Note").setValue(data, forKey: "data") }
  }

  @Test(arguments: [200_000, 1])
  func theFolderOfDataFilesMayBeALink(_ length: Int) throws {
    var migration = try Self.migration(of: Data(repeating: 1, count: length))
    let (folder, target) = (migration.url(".Old_SUPPORT"), migration.url("Elsewhere"))
    if length > 1 {
      try FileManager.default.moveItem(at: folder, to: target)
    } else {
      try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
    }
    try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: target)
    #expect(try migration.run() == true)
    // The folder of this one is the same.
    try SQLiteStore.backUp(storeAt: migration.url("Old.sqlite"), to: migration.url("Old.db"))
    migration.options[.migrationBackupPath] = migration.url("Old.db").path
    #expect(try migration.migration(migration.options)?.dryRun().isDoneInStore == true)
  }

  @Test func aDataFileThatIsMissingIsTold() throws {
    let migration = try Self.migration(of: Data(repeating: 1, count: 200_000))
    #expect(try migration.run() == true)
    for name in ["Memory.sqlite", "Store.sqlite", ".Memory_SUPPORT", ".Store_SUPPORT"] {
      try FileManager.default.removeItem(at: migration.url(name))
    }
    let folder = migration.url(".Old_SUPPORT/_EXTERNAL_DATA")
    for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
      try FileManager.default.removeItem(at: file)
    }
    #expect(try migration.run() == nil)
  }
}
