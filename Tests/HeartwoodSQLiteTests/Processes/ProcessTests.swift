import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// Several processes that use one file.
@Suite(.serialized) struct ProcessTests {
  private let bench: SQLiteBench

  init() throws {
    bench = try SQLiteBench()
  }

  private var path: String { bench.url().path }

  @Test(arguments: [2, 8])
  func whatAllSaveIsThere(_ count: Int) throws {
    let itemCount = 12
    // Whoever comes first makes the file.
    let workers = try (0..<count).map { try Worker("insert", path, "p\($0)", "\(itemCount)") }
    for worker in workers { #expect(try worker.finish().count == itemCount) }
    #expect(try bench.integrity() == "ok")
    try bench.query { db throws in
      #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM ZITEM") == count * itemCount)
      #expect(try Int.fetchOne(db, sql: "SELECT count(DISTINCT ZNAME) FROM ZITEM") == count * itemCount)
      #expect(
        try Int.fetchOne(db, sql: "SELECT count(*) FROM ZPART WHERE ZITEM IN (SELECT Z_PK FROM ZITEM)") == count
          * itemCount * 2
      )
      let excess = "SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_NAME = ? AND Z_MAX < (SELECT max(Z_PK) FROM %)"
      for (entity, table) in [("Item", "ZITEM"), ("Part", "ZPART")] {
        let query = excess.replacing("%", with: table)
        #expect(try Int.fetchOne(db, sql: query, arguments: [entity]) == 0, "\(entity)")
      }
    }
    let context = try bench.context()
    let items = try bench.items(context)
    #expect(items.count == count * itemCount)
    #expect(try items.allSatisfy { (try $0.value(forKey: "parts") as? [ManagedObject])?.count == 2 })
  }

  @Test func theNextFetchSeesWhatAnotherProcessHasSaved() throws {
    let context = try bench.context()
    try bench.insert("ours", in: context)
    try context.save()
    try Worker("insert", path, "theirs", "2").finish()
    let items = try bench.items(context)
    #expect(try items.map { try $0.value(forKey: "name") as? String } == ["ours", "theirs 0", "theirs 1"])
    try Worker("rename", path, "theirs 0", "renamed").finish()
    let predicate = try FetchPredicate(format: "name == 'renamed'")
    let found = try context.fetch(FetchRequest<ManagedObject>(entityName: "Item", where: predicate))
    #expect(found.map(\.objectID) == [items[1].objectID])
    #expect(try items[1].value(forKey: "name") as? String == "theirs 0", "objects keep what they have read")
    context.refresh(items[1], mergeChanges: true)
    #expect(try items[1].value(forKey: "name") as? String == "renamed")
    try Worker("delete", path, "renamed").finish()
    #expect(try bench.items(context).count == 2)
  }

  /// A process that closes a file which it has open a second time must not let go of the locks of the first.
  @Test func whoLooksAtAnOpenStoreKeepsItsLocks() throws {
    let context = try bench.context()
    try bench.insert("ours", in: context)
    try context.save()
    for round in 0..<3 {
      #expect(try bench.coordinator().migration(ofStoreAt: bench.url()) == nil)
      #expect(try SQLiteStore.model(ofStoreAt: bench.url()) != nil)
      #expect(try bench.contents().count == round + 1)
      try Worker("insert", path, "theirs \(round)", "1").finish()
      #expect(FileManager.default.fileExists(atPath: path + "-wal"), "the log is in use")
      #expect(try context.count(entityName: "Item") == round + 2)
      #expect(try bench.items(context).count == round + 2)
    }
  }

  @Test func whatTwoProcessesChangeIsAConflict() throws {
    try bench.makeStore(items: ["shared": nil])
    let context = try bench.context()
    let item = try #require(try bench.items(context).first)
    try item.setValue("ours", forKey: "name")
    try Worker("rename", path, "shared", "theirs").finish()
    let conflict = try #require(bench.error { try context.save() })
    #expect(conflict.code == .saveConflict)
    #expect(conflict.context.mergeConflicts.count == 1)
    #expect(try bench.query { try String.fetchAll($0, sql: "SELECT ZNAME FROM ZITEM") } == ["theirs"])
    context.refresh(item, mergeChanges: true)
    try context.save()
    #expect(try bench.query { try String.fetchAll($0, sql: "SELECT ZNAME FROM ZITEM") } == ["ours"])
  }

  @Test func valuesAreUniqueAmongProcesses() throws {
    let context = try bench.context()
    #expect(try bench.items(context).isEmpty)
    try Worker("insert", path, "item", "1").finish()
    try bench.insert("item 0", in: context)
    #expect(bench.code { try context.save() } == .constraintConflict)
  }

  @Test func aPinnedContextStaysWhereItIs() throws {
    try bench.makeStore(items: ["first": nil])
    let context = try bench.context()
    try context.setQueryGeneration(from: .current)
    #expect(try bench.items(context).count == 1)
    try Worker("insert", path, "later", "1").finish()
    #expect(try bench.items(context).count == 1)
    try context.setQueryGeneration(from: nil)
    #expect(try bench.items(context).count == 2)
  }

  // MARK: Processes that die

  @Test(arguments: 0..<6)
  func whoDiesLeavesRowsWhoseFilesAreThere(_ seed: Int) throws {
    let worker = try Worker("rewrite", path, "\(seed)")
    for _ in 0...(seed * 2) { #expect(worker.nextLine() == "saved") }
    worker.kill()
    #expect(try bench.integrity() == "ok")
    let named = try bench.namedFiles()
    #expect(try named.isSubset(of: bench.externalNames()))
    for data in try bench.contents().values { #expect(data.map { Set($0).count <= 1 } ?? true) }
    #expect(try bench.externalNames() == named, "what no row leads to goes when the store is opened")
  }

  // MARK: Permissions

  private func setPermissions(_ permissions: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
  }

  /// The folder stays one that can be removed.
  private func unprivileged(file: Int, folder: Int, _ command: String...) throws -> [String] {
    try setPermissions(file, path)
    try setPermissions(folder, bench.scratch.url.path)
    defer { try? setPermissions(0o755, bench.scratch.url.path) }
    let arguments = command.dropFirst()
    return try Worker("unprivileged", command[0], path, arguments.first ?? "", arguments.last ?? "").finish()
  }

  @Test func aFileThatMustNotBeWrittenIsRead() throws {
    try bench.makeStore(items: ["a": nil, "b": Data(repeating: 1, count: 200_000)])
    #expect(try unprivileged(file: 0o444, folder: 0o777, "insert", "x", "1") == ["storeReadOnly"])
    #expect(try unprivileged(file: 0o444, folder: 0o777, "read") == ["2"])
  }

  @Test func whoMustNotWriteAFileLeavesNothingBesideIt() throws {
    try bench.makeStore(items: ["a": nil])
    #expect(try unprivileged(file: 0o444, folder: 0o777, "read") == ["1"])
    #expect(try unprivileged(file: 0o444, folder: 0o777, "insert", "x", "1") == ["storeReadOnly"])
    #expect(try bench.scratch.names() == ["Store.sqlite"])
    #expect(try unprivileged(file: 0o666, folder: 0o777, "insert", "x", "1").count == 1)
    #expect(try Set(bench.contents().keys) == ["a", "x 0"])
  }

  /// The `-shm` that SQLite makes to read a log would be of who reads, and keep the file's owner from writing.
  @Test func whoMustNotWriteAFileMakesNothingToReadItsLog() throws {
    let context = try bench.context("Whole.sqlite")
    try bench.insert("a", in: context)
    try context.save()
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(at: bench.url("Whole.sqlite" + suffix), to: bench.url("Store.sqlite" + suffix))
    }
    try #require(try bench.scratch.files()["Store.sqlite-wal"]?.isEmpty == false)
    #expect(try unprivileged(file: 0o444, folder: 0o1777, "read") == ["fileReadFailed"])
    #expect(
      try unprivileged(file: 0o444, folder: 0o1777, "backup", bench.url("Copy.sqlite").path) == ["fileReadFailed"]
    )
    #expect(try !bench.scratch.names().contains("Store.sqlite-shm"))
    // Nothing is in an empty log.
    try Data().write(to: bench.url("Store.sqlite-wal"))
    #expect(try unprivileged(file: 0o444, folder: 0o1777, "read") == ["0"])
    #expect(try !bench.scratch.names().contains("Store.sqlite-shm"))
    context.persistentStoreCoordinator.close()
  }

  /// It reads the file as one that nobody writes, and must not go on with what was there.
  @Test(.enabled(if: getuid() == 0, "another user has to write"))
  func whoMustNotWriteAFileIsToldOfAnotherWhoDoes() throws {
    try bench.makeStore(items: ["a": nil])
    try setPermissions(0o644, path)
    try setPermissions(0o777, bench.scratch.url.path)
    defer { try? setPermissions(0o755, bench.scratch.url.path) }
    let reader = try Worker("unprivileged", "watch", path)
    #expect(reader.nextLine() == "1")
    try Worker("insert", path, "x", "1").finish()
    #expect(reader.nextLine() == "fileChangedOnDisk")
    try reader.finish()
  }

  /// It begins anew where somebody saves while it copies.
  @Test(.enabled(if: getuid() == 0, "another user has to write"))
  func whoMustNotWriteAFileBacksItUpWhileAnotherDoes() throws {
    try bench.makeStore(items: Dictionary(uniqueKeysWithValues: (0..<400).map { ("\($0)", Data(count: 100_000)) }))
    let folder = bench.url("Copies")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    for (path, permissions) in [(path, 0o644), (bench.scratch.url.path, 0o755), (folder.path, 0o777)] {
      try setPermissions(permissions, path)
    }
    let copy = folder.appending(path: "Copy.sqlite").path
    let reader = try Worker("unprivileged", "backup", path, copy)
    let names = { try FileManager.default.contentsOfDirectory(atPath: folder.path) }
    let start = ContinuousClock.now
    while try names().isEmpty, start.duration(to: .now) < .seconds(60) { usleep(500) }
    reader.pause()
    try Worker("insert", path, "x", "1").finish()
    reader.resume()
    #expect(try reader.finish() == ["copied"])
    #expect(try names() == ["Copy.sqlite"])
    #expect(try bench.integrity("Copies/Copy.sqlite") == "ok")
  }

  /// The new store would get the permissions of the old one, and could not be opened.
  @Test func aFileThatMustNotBeWrittenIsNotReplaced() throws {
    try bench.makeStore(items: ["a": nil])
    try bench.makeStore("Other.sqlite", items: ["b": nil, "c": nil])
    let before = try Data(contentsOf: bench.url())
    let source = bench.url("Other.sqlite").path
    #expect(try unprivileged(file: 0o444, folder: 0o777, "replace", source) == ["storeReadOnly"])
    #expect(try unprivileged(file: 0o444, folder: 0o777, "copy", source) == ["storeReadOnly"])
    #expect(try Data(contentsOf: bench.url()) == before)
    #expect(try unprivileged(file: 0o666, folder: 0o777, "replace", source) == ["2"])
  }

  @Test func aFolderThatMustNotBeWrittenIsRead() throws {
    try bench.makeStore(items: ["a": nil, "b": Data(repeating: 1, count: 200_000)])
    #expect(try unprivileged(file: 0o666, folder: 0o555, "insert", "x", "1") == ["storeReadOnly"])
    #expect(try unprivileged(file: 0o666, folder: 0o555, "read") == ["2"])
    #expect(try unprivileged(file: 0o444, folder: 0o555, "read") == ["2"])
  }
}
