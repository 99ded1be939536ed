import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// Large binary data, which are kept in files beside the store.
@Suite struct ExternalDataTests {
  private let bench: SQLiteBench
  private let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })

  init() throws {
    bench = try SQLiteBench()
  }

  private func cell(of name: String, in store: String = "Store.sqlite") throws -> Data? {
    try bench.query(store) { try Data.fetchOne($0, sql: "SELECT ZDATA FROM ZITEM WHERE ZNAME = ?", arguments: [name]) }
  }

  @Test func onlyLargeDataAreOutside() throws {
    let greatest = Data(repeating: 7, count: 100 << 10)
    try bench.makeStore(items: ["none": nil, "empty": Data(), "greatest": greatest, "large": greatest + [7]])
    #expect(try cell(of: "none") == nil)
    #expect(try cell(of: "empty") == Data([1]))
    #expect(try cell(of: "greatest") == Data([1]) + greatest)
    let outside = try #require(try cell(of: "large"))
    #expect(outside.count == 38 && outside.first == 2 && outside.last == 0)
    let name = String(decoding: outside.dropFirst().dropLast(), as: UTF8.self)
    #expect(UUID(uuidString: name) != nil)
    #expect(try bench.externalNames() == [name])
    #expect(try Data(contentsOf: bench.url(".Store_SUPPORT/_EXTERNAL_DATA/\(name)")) == greatest + [7])
    #expect(try bench.contents() == ["none": nil, "empty": Data(), "greatest": greatest, "large": greatest + [7]])
  }

  @Test func aNewValueIsANewFileAndTheOldOneGoes() throws {
    let context = try bench.context()
    let item = try bench.insert("a", large, in: context)
    try context.save()
    let first = try bench.externalNames()
    try item.setValue(large + large, forKey: "data")
    try context.save()
    let second = try bench.externalNames()
    #expect(second.count == 1 && second.isDisjoint(with: first))
    try item.setValue("b", forKey: "name")
    try context.save()
    #expect(try bench.externalNames() == second, "another attribute leaves it")
    try item.setValue(Data([1]), forKey: "data")
    try context.save()
    #expect(try bench.externalNames().isEmpty)
    try item.setValue(large, forKey: "data")
    try context.save()
    context.delete(item)
    try context.save()
    #expect(try bench.externalNames().isEmpty)
  }

  /// To look for others that lead to a file takes as long as the database is.
  @Test func inALargeDatabaseOldFilesGoTogether() throws {
    let context = try bench.context()
    // With these, the database has between four and five times the bytes of a file that is replaced.
    for number in 0..<8 { try bench.insert("filling \(number)", Data(repeating: 7, count: 100 << 10), in: context) }
    let item = try bench.insert("a", large, in: context)
    try context.save()
    let counts = try (1...7).map { number in
      try item.setValue(large + [UInt8(number)], forKey: "data")
      try context.save()
      return try bench.externalNames().count
    }
    #expect(counts == [2, 3, 4, 5, 1, 2, 3])
    context.persistentStoreCoordinator.close()
    #expect(try bench.contents()["a"] == large + [7])
    #expect(try bench.externalNames() == bench.namedFiles(), "the rest goes when the store is opened")
  }

  @Test func aFileThatTwoRowsLeadToStaysForTheOther() throws {
    try bench.makeStore(items: ["a": large, "b": nil])
    try DatabaseQueue(path: bench.url().path).write {
      try $0.execute(sql: "UPDATE ZITEM SET ZDATA = (SELECT ZDATA FROM ZITEM WHERE ZNAME = 'a') WHERE ZNAME = 'b'")
    }
    let context = try bench.context()
    context.delete(try bench.items(context)[0])
    try context.save()
    #expect(try bench.items(context).map { try $0.value(forKey: "data") as? Data } == [large])
  }

  @Test func aSaveThatFailsLeavesTheFilesAsTheyWere() throws {
    let context = try bench.context()
    let item = try bench.insert("a", large, in: context)
    try context.save()
    let before = try bench.externalNames()
    try DatabaseQueue(path: bench.url().path).writeWithoutTransaction {
      try $0.execute(sql: "CREATE TRIGGER refuse BEFORE UPDATE ON ZITEM BEGIN SELECT RAISE(ABORT, 'no'); END")
    }
    try item.setValue(large + [1], forKey: "data")
    try bench.insert("b", large, in: context)
    #expect(bench.code { try context.save() } != nil)
    #expect(try bench.externalNames() == before)
    #expect(try bench.contents() == ["a": large])
  }

  @Test func whatNoRowLeadsToGoesWhenTheStoreIsOpened() throws {
    try bench.makeStore(items: ["a": large])
    let named = try bench.namedFiles()
    let orphan = UUID().uuidString
    for name in [orphan, "notes.txt"] {
      try large.write(to: bench.url(".Store_SUPPORT/_EXTERNAL_DATA/\(name)"))
    }
    var options = StoreOptions()
    options[.isReadOnly] = true
    _ = try bench.items(try bench.context(options: options))
    #expect(try bench.externalNames() == named.union([orphan, "notes.txt"]), "who only reads removes nothing")
    _ = try bench.context()
    #expect(try bench.externalNames() == named.union(["notes.txt"]))
  }

  @Test func aNeighbourOfTheSameNameKeepsItsFiles() throws {
    try bench.makeStore("Store.sqlite", items: ["a": large])
    try bench.makeStore("Store.db", items: ["b": large])
    #expect(try bench.externalNames().count == 2)
    #expect(try bench.contents("Store.sqlite") == ["a": large])
    #expect(try bench.contents("Store.db") == ["b": large])
    try bench.coordinator().destroyPersistentStore(at: bench.url("Store.db"), type: .sqlite)
    #expect(try bench.contents("Store.sqlite") == ["a": large])
    #expect(try bench.namedFiles().isSubset(of: bench.externalNames()))
  }

  /// It has files of the same names in the same folder.
  @Test(arguments: [("Store.sqlite", "Store.db"), ("Store.db", "Store.sqlite")])
  func aCopyBesideAStoreKeepsItsFiles(_ changed: String, _ kept: String) throws {
    try bench.makeStore("Store.sqlite", items: ["a": large])
    try SQLiteStore.backUp(storeAt: bench.url("Store.sqlite"), to: bench.url("Store.db"))
    #expect(try bench.namedFiles("Store.db") == bench.namedFiles("Store.sqlite"))
    let context = try bench.context(changed)
    try bench.items(context)[0].setValue(large + [1], forKey: "data")
    try context.save()
    context.persistentStoreCoordinator.close()
    #expect(try bench.contents(kept) == ["a": large])
    #expect(try bench.contents(changed) == ["a": large + [1]])
    try bench.coordinator().destroyPersistentStore(at: bench.url(kept), type: .sqlite)
    #expect(try bench.contents(changed) == ["a": large + [1]])
    #expect(try bench.externalNames() == bench.namedFiles(changed), "what the other one had goes when it is gone")
  }

  @Test func nothingIsRemovedBehindALink() throws {
    try bench.makeStore("Store.sqlite", items: ["a": large])
    try bench.makeStore("Other.sqlite", items: ["b": nil])
    try FileManager.default.createSymbolicLink(
      at: bench.url(".Other_SUPPORT"),
      withDestinationURL: bench.url(".Store_SUPPORT")
    )
    _ = try bench.context("Other.sqlite")
    #expect(try bench.contents("Store.sqlite") == ["a": large])
  }

  @Test func noSaveRemovesAnythingBehindALink() throws {
    try bench.makeStore("Store.sqlite", items: ["a": large])
    try FileManager.default.copyItem(at: bench.url(), to: bench.url("Other.sqlite"))
    try FileManager.default.createSymbolicLink(
      at: bench.url(".Other_SUPPORT"),
      withDestinationURL: bench.url(".Store_SUPPORT")
    )
    let context = try bench.context("Other.sqlite")
    try bench.items(context)[0].setValue(large + [1], forKey: "data")
    try context.save()
    #expect(try bench.namedFiles().isSubset(of: bench.externalNames()))
    #expect(try bench.contents("Other.sqlite") == ["a": large + [1]])
  }

  /// The store is made where the link leads to, with its large data beside it.
  @Test(arguments: [true, false])
  func aLinkToNoStoreYetStaysALink(isTargetThere: Bool) throws {
    let (folder, link) = (bench.url("Elsewhere"), bench.url())
    let target = folder.appending(path: "Target.sqlite")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    if isTargetThere { try Data().write(to: target) }
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
    try bench.makeStore(items: ["a": large])
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == target.path)
    #expect(try bench.scratch.names() == ["Elsewhere", "Store.sqlite"])
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.sorted() == [".Target_SUPPORT", "Target.sqlite"])
    #expect(try bench.contents() == ["a": large])
    #expect(try bench.contents("Elsewhere/Target.sqlite") == ["a": large])
  }

  @Test(arguments: [(0o600, 0o700), (0o660, 0o770), (0o644, 0o755)] as [(UInt32, UInt32)])
  func whoMayReadTheStoreMayReadItsData(_ ofFiles: UInt32, _ ofFolders: UInt32) throws {
    try bench.makeStore(items: ["small": nil])
    try FileManager.default.setAttributes([.posixPermissions: Int(ofFiles)], ofItemAtPath: bench.url().path)
    try bench.makeStore(items: ["large": large])
    let name = try #require(try bench.externalNames().first)
    #expect(try bench.permissions(".Store_SUPPORT") == ofFolders)
    #expect(try bench.permissions(".Store_SUPPORT/_EXTERNAL_DATA") == ofFolders)
    #expect(try bench.permissions(".Store_SUPPORT/_EXTERNAL_DATA/\(name)") == ofFiles)
    #expect(try bench.contents() == ["small": nil, "large": large])
  }

  /// Its data would be nobody else's.
  @Test(.enabled(if: getuid() == 0, "only the superuser gives files away"))
  func whatTheSuperuserSavesBelongsToTheOwner() throws {
    try bench.makeStore(items: ["small": nil])
    let (owner, group): (uid_t, gid_t) = (65_534, 65_533)
    try #require(chown(bench.url().path, owner, group) == 0)
    try bench.makeStore(items: ["large": large])
    let name = try #require(try bench.externalNames().first)
    for path in [".Store_SUPPORT", ".Store_SUPPORT/_EXTERNAL_DATA", ".Store_SUPPORT/_EXTERNAL_DATA/\(name)"] {
      var info = stat()
      try #require(stat(bench.url(path).path, &info) == 0)
      #expect(info.st_uid == owner && info.st_gid == group, "\(path)")
    }
  }

  @Test func aFileThatIsMissingIsNamed() throws {
    try bench.makeStore(items: ["a": large])
    let name = try #require(try bench.externalNames().first)
    try FileManager.default.removeItem(at: bench.url(".Store_SUPPORT/_EXTERNAL_DATA/\(name)"))
    let error = try #require(bench.error { _ = try bench.contents() })
    #expect(error.code == .fileMalformed)
    #expect(error.context.property == "data")
    #expect(error.message.contains(name))
  }

  @Test func aFileThatIsTooLongForAValueIsNamed() throws {
    try bench.makeStore(items: ["a": large])
    let name = try #require(try bench.externalNames().first)
    let file = try FileHandle(forWritingTo: bench.url(".Store_SUPPORT/_EXTERNAL_DATA/\(name)"))
    try file.truncate(atOffset: 5 << 30)
    try file.close()
    let error = try #require(bench.error { _ = try bench.contents() })
    #expect(error.code == .fileMalformed)
    #expect(error.context.property == "data")
    #expect(error.message.contains(name))
  }

  @Test func aNameThatLeadsElsewhereIsRefused() throws {
    try bench.makeStore(items: ["a": nil])
    let name = "../../../../../../../../../etc/passwd"
    try DatabaseQueue(path: bench.url().path).write {
      try $0.execute(sql: "UPDATE ZITEM SET ZDATA = ?", arguments: [Data([2]) + Data(name.utf8) + Data([0])])
    }
    #expect(bench.code { _ = try bench.contents() } == .fileMalformed)
  }

  @Test func conversionsCarryThem() throws {
    try bench.makeStore(items: ["a": large, "b": Data([1])])
    let coordinator = try bench.coordinator()
    let store = try coordinator.addPersistentStore(type: .sqlite, at: bench.url())
    let binary = try coordinator.convert(store, to: bench.url("Store.heartwood"), type: .binary)
    let back = try coordinator.convert(binary, to: bench.url("Back.sqlite"), type: .sqlite)
    #expect(try bench.externalNames("Back") == bench.namedFiles("Back.sqlite"))
    try coordinator.copyPersistentStore(back, to: bench.url("Store.sqlite"), type: .sqlite, replacing: true)
    coordinator.close()
    for name in ["Back.sqlite", "Store.sqlite"] {
      #expect(try bench.contents(name) == ["a": large, "b": Data([1])])
    }
    #expect(try bench.externalNames() == bench.namedFiles(), "those of the old store have gone")
    #expect(try bench.scratch.names().allSatisfy { !$0.contains("heartwood-tmp") })
  }
}
