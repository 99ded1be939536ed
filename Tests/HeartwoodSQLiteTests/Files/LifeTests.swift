import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// What becomes of whole files: copies, replacements, removal.
@Suite struct LifeTests {
  private let bench: SQLiteBench
  private let large = Data(repeating: 3, count: 200_000)

  init() throws {
    bench = try SQLiteBench()
  }

  private func size(_ name: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: bench.url(name).path)[.size] as? Int ?? 0
  }

  // MARK: Vacuum

  /// A store whose file is mostly free pages.
  private func makeSparseStore() throws {
    let context = try bench.context()
    let items = try (0..<300).map { try bench.insert("\($0)", Data(repeating: 1, count: 5000), in: context) }
    try context.save()
    for item in items.dropFirst() { context.delete(item) }
    try context.save()
    context.persistentStoreCoordinator.close()
  }

  @Test func vacuumTakesFreePagesOut() throws {
    try makeSparseStore()
    let before = try size("Store.sqlite")
    let context = try bench.context()
    let item = try #require(try bench.items(context).first)
    try SQLiteStore.vacuum(at: bench.url())
    #expect(try size("Store.sqlite") < before / 10)
    try item.setValue("renamed", forKey: "name")
    try context.save()
    #expect(try bench.contents() == ["renamed": Data(repeating: 1, count: 5000)])
    #expect(try bench.integrity() == "ok")
  }

  @Test func anOptionVacuumsWhenTheStoreIsOpened() throws {
    try makeSparseStore()
    let before = try size("Store.sqlite")
    _ = try bench.contents()
    #expect(try size("Store.sqlite") == before)
    var options = StoreOptions()
    options[.sqliteManualVacuum] = true
    #expect(try bench.items(try bench.context(options: options)).count == 1)
    #expect(try size("Store.sqlite") < before / 10)
  }

  // MARK: Backup

  /// Whoever may not read the store may not read its copy, nor list its large data.
  @Test(arguments: [0o600, 0o640, 0o444])
  func aCopyHasThePermissionsOfTheStore(_ permissions: Int) throws {
    try bench.makeStore(items: ["a": large])
    let folders = [".%_SUPPORT", ".%_SUPPORT/_EXTERNAL_DATA"]
    func setPermissions(_ permissions: Int, _ path: String) throws {
      try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }
    try setPermissions(permissions, bench.url().path)
    for folder in folders { try setPermissions(0o700, bench.url(folder.replacing("%", with: "Store")).path) }
    try SQLiteStore.backUp(storeAt: bench.url(), to: bench.url("Copy.sqlite"))
    let fileSystem = POSIXFileSystem()
    #expect(try fileSystem.status(atPath: bench.url("Copy.sqlite").path)?.permissions == UInt32(permissions))
    for folder in folders {
      let path = bench.url(folder.replacing("%", with: "Copy")).path
      #expect(try fileSystem.status(atPath: path)?.permissions == 0o700, "\(path)")
    }
    var options = StoreOptions()
    options[.isReadOnly] = true
    let copied = try bench.items(try bench.context("Copy.sqlite", options: options))
    #expect(try copied.map { try $0.value(forKey: "data") as? Data } == [large])
  }

  @Test func aBackupIsAStoreOfItsOwn() throws {
    let context = try bench.context()
    try bench.insert("a", large, in: context)
    try context.save()
    try bench.insert("unsaved", in: context)
    try SQLiteStore.backUp(storeAt: bench.url(), to: bench.url("Copy.sqlite"))
    #expect(try bench.contents("Copy.sqlite") == ["a": large])
    try context.save()
    #expect(try bench.contents("Copy.sqlite") == ["a": large])
    #expect(try bench.externalNames("Copy") == bench.namedFiles("Copy.sqlite"))
    let identifiers = try ["Store.sqlite", "Copy.sqlite"].map {
      try bench.coordinator().metadataForPersistentStore(type: .sqlite, at: bench.url($0)).identifier
    }
    #expect(identifiers[0] == identifiers[1])
  }

  @Test func aBackupOfAStoreThatIsWrittenIsOfOneMoment() throws {
    let (inserting, rewriting) = (
      try Worker("insert", bench.url().path, "p", "1000000"),
      try Worker("rewrite", bench.url("Large.sqlite").path, "1")
    )
    for round in 0..<6 {
      for worker in [inserting, rewriting] { for _ in 0..<3 { #expect(worker.nextLine() != nil) } }
      let (copy, largeCopy) = ("Copy\(round).sqlite", "LargeCopy\(round).sqlite")
      try SQLiteStore.backUp(storeAt: bench.url(), to: bench.url(copy))
      #expect(try bench.integrity(copy) == "ok")
      try bench.query(copy) { db in
        let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM ZITEM") ?? 0
        #expect(count >= (round + 1) * 3)
        #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM ZPART") == count * 2)
      }
      try SQLiteStore.backUp(storeAt: bench.url("Large.sqlite"), to: bench.url(largeCopy))
      #expect(try bench.externalNames("LargeCopy\(round)") == bench.namedFiles(largeCopy))
      #expect(try !bench.contents(largeCopy).isEmpty)
    }
    inserting.kill()
    rewriting.kill()
  }

  @Test func aBackupReplacesOnlyWhereItIsTold() throws {
    try bench.makeStore("Store.sqlite", items: ["new": large])
    try bench.makeStore("Copy.sqlite", items: ["old": large + [1]])
    let (source, copy) = (bench.url(), bench.url("Copy.sqlite"))
    #expect(bench.code { try SQLiteStore.backUp(storeAt: source, to: copy) } == .fileExists)
    #expect(try bench.contents("Copy.sqlite") == ["old": large + [1]])
    let holder = try bench.context("Copy.sqlite")
    #expect(try bench.items(holder).count == 1)
    #expect(bench.code { try SQLiteStore.backUp(storeAt: source, to: copy, replacing: true) } == .storeBusy)
    #expect(try bench.items(holder).count == 1)
    holder.persistentStoreCoordinator.close()
    try SQLiteStore.backUp(storeAt: source, to: copy, replacing: true)
    #expect(try bench.contents("Copy.sqlite") == ["new": large])
    #expect(try bench.externalNames("Copy") == bench.namedFiles("Copy.sqlite"))
  }

  @Test func whatIsNoStoreIsNotBackedUp() throws {
    try DatabaseQueue(path: bench.url().path).write { try $0.execute(sql: "CREATE TABLE t (a)") }
    #expect(bench.code { try SQLiteStore.backUp(storeAt: bench.url(), to: bench.url("Copy.sqlite")) } == .fileMalformed)
    #expect(try bench.scratch.names() == ["Store.sqlite"])
  }

  // MARK: Destroying

  @Test func itGoesWithAllThatIsItsOwn() throws {
    try bench.makeStore(items: ["a": large])
    try Data().write(to: bench.url("Store.sqlite-shm"))
    try Data().write(to: bench.url("Store.sqlite.txt"))
    try bench.coordinator().destroyPersistentStore(at: bench.url(), type: .sqlite)
    #expect(try bench.scratch.names() == ["Store.sqlite.txt"])
  }

  @Test func aStoreThatDiedInTheMiddleIsDestroyed() throws {
    let worker = try Worker("rewrite", bench.url().path, "7")
    for _ in 0..<5 { _ = worker.nextLine() }
    worker.kill()
    #expect(try bench.scratch.names().contains("Store.sqlite-wal"))
    try bench.coordinator().destroyPersistentStore(at: bench.url(), type: .sqlite)
    #expect(try bench.scratch.names() == [])
  }

  @Test func whoHasItOpenKeepsIt() throws {
    let context = try bench.context()
    try bench.insert("a", large, in: context)
    try context.save()
    let coordinator = try bench.coordinator()
    #expect(bench.code { try coordinator.destroyPersistentStore(at: bench.url(), type: .sqlite) } == .storeBusy)
    try bench.insert("b", in: context)
    try context.save()
    #expect(try bench.contents() == ["a": large, "b": nil])
  }

  @Test func aLinkGoesWithWhatItLeadsTo() throws {
    try bench.makeStore(items: ["a": large])
    let link = bench.url("Link.sqlite")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: bench.url())
    #expect(try bench.contents("Link.sqlite") == ["a": large])
    try bench.coordinator().destroyPersistentStore(at: link, type: .sqlite)
    #expect(try bench.scratch.names() == [])
  }

  @Test func aLogWithoutItsFileIsNotTakenForANewOnes() throws {
    let worker = try Worker("rewrite", bench.url().path, "3")
    for _ in 0..<5 { _ = worker.nextLine() }
    worker.kill()
    try FileManager.default.removeItem(at: bench.url())
    try bench.makeStore(items: ["new": nil])
    #expect(try bench.contents() == ["new": nil])
    #expect(try bench.integrity() == "ok")
  }

  // MARK: Replacing

  @Test func aStoreIsReplacedWithItsFiles() throws {
    try bench.makeStore("Store.sqlite", items: ["old": large])
    try bench.makeStore("Source.sqlite", items: ["new": large + [1], "small": Data([1])])
    let coordinator = try bench.coordinator()
    try coordinator.replacePersistentStore(
      at: bench.url(),
      withPersistentStoreFrom: bench.url("Source.sqlite"),
      type: .sqlite
    )
    for name in ["Store.sqlite", "Source.sqlite"] {
      #expect(try bench.contents(name) == ["new": large + [1], "small": Data([1])])
    }
    #expect(try bench.externalNames() == bench.namedFiles())
    try coordinator.replacePersistentStore(
      at: bench.url("Third.sqlite"),
      withPersistentStoreFrom: bench.url(),
      type: .sqlite
    )
    #expect(try bench.contents("Third.sqlite").count == 2)
  }

  @Test func whatIsInTheLogOfTheOldStoreDoesNotComeBack() throws {
    let worker = try Worker("rewrite", bench.url().path, "5")
    for _ in 0..<5 { _ = worker.nextLine() }
    worker.kill()
    try bench.makeStore("Source.sqlite", items: ["new": large])
    let coordinator = try bench.coordinator()
    try coordinator.replacePersistentStore(
      at: bench.url(),
      withPersistentStoreFrom: bench.url("Source.sqlite"),
      type: .sqlite
    )
    #expect(try bench.contents() == ["new": large])
    #expect(try bench.integrity() == "ok")
    #expect(try bench.externalNames() == bench.namedFiles())
  }

  @Test func aReplacementThatFailsLeavesTheOldStore() throws {
    try bench.makeStore("Store.sqlite", items: ["old": large])
    try bench.makeStore("Source.sqlite", items: ["new": large + [1]])
    let name = try #require(try bench.externalNames("Source").first)
    try FileManager.default.removeItem(at: bench.url(".Source_SUPPORT/_EXTERNAL_DATA/\(name)"))
    let coordinator = try bench.coordinator()
    #expect(
      bench.code {
        try coordinator.replacePersistentStore(
          at: bench.url(),
          withPersistentStoreFrom: bench.url("Source.sqlite"),
          type: .sqlite
        )
      } == .fileNotFound
    )
    #expect(try bench.contents() == ["old": large])
    #expect(try bench.scratch.names().allSatisfy { !$0.contains("heartwood-tmp") })
  }

  // MARK: Damage

  @Test(arguments: [1, 16, 50, 99, 100, 512, 4095, 4096, 5000, 8192, 20_000, 40_960])
  func aFileThatWasCutShortIsRefused(_ length: Int) throws {
    try bench.makeStore(items: ["a": Data(repeating: 1, count: 50_000)])
    let whole = try Data(contentsOf: bench.url())
    try #require(whole.count > length)
    try whole.prefix(length).write(to: bench.url())
    let error = try #require(bench.error { _ = try bench.contents() })
    #expect([.fileCorrupt, .fileMalformed].contains(error.code), "\(error)")
    #expect(try Data(contentsOf: bench.url()).count == length)
  }

  @Test func aDamagedPageIsNamedByItsTable() throws {
    let context = try bench.context()
    for index in 0..<300 { try bench.insert("item \(index)", Data(repeating: 1, count: 300), in: context) }
    try context.save()
    context.persistentStoreCoordinator.close()
    let root = try #require(
      try bench.query { try Int.fetchOne($0, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'ZITEM'") }
    )
    var bytes = try Data(contentsOf: bench.url())
    for offset in (root - 1) * 4096..<(root * 4096) { bytes[offset] = 0x77 }
    try bytes.write(to: bench.url())
    let error = try #require(bench.error { _ = try bench.contents() })
    #expect(error.code == .fileCorrupt)
    #expect(error.context.entity == "Item")
    #expect(error.message.contains("ZITEM") && error.message.contains("backup"))
  }

  @Test(
    arguments: [
      ("DROP TABLE ZPART", "ZPART", nil),
      ("ALTER TABLE ZITEM DROP COLUMN ZDATA", "ZDATA", "data"),
      ("DROP TABLE Z_PRIMARYKEY", "Z_PRIMARYKEY", nil),
      ("DROP TABLE Z_METADATA", "Z_METADATA", nil),
      ("DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Part'", "Part", nil),
    ] as [(String, String, String?)]
  )
  func whatASchemaLacksIsNamed(_ change: String, _ name: String, _ property: String?) throws {
    try bench.makeStore(items: ["a": nil])
    try DatabaseQueue(path: bench.url().path).writeWithoutTransaction { try $0.execute(sql: change) }
    let error = try #require(bench.error { _ = try bench.contents() })
    #expect(error.code == .fileMalformed)
    #expect(error.message.contains(name), "\(error.message)")
    #expect(error.context.property == property)
  }

  @Test func whoWaitsTooLongIsToldSo() throws {
    try bench.makeStore(items: ["a": nil])
    var options = StoreOptions()
    options[.sqliteBusyTimeout] = .milliseconds(1)
    let context = try bench.context(options: options)
    try bench.insert("b", in: context)
    let holder = try SQLiteFile.open(atPath: bench.url().path)
    let error = try #require(bench.error { try holder.write { _ in try context.save() } })
    #expect(error.code == .storeBusy)
    #expect(error.message.contains("sqliteBusyTimeout"))
    try context.save()
    #expect(try bench.contents().count == 2)
    try holder.close()
  }
}
