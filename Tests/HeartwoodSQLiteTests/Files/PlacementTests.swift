import Foundation
import GRDB
import Heartwood
import HeartwoodStore
import HeartwoodTesting
import Synchronization
import Testing

@testable import HeartwoodSQLite

/// Stores that take the place of others which somebody opens at that moment.
@Suite struct PlacementTests {
  /// Files, and somebody who opens a store and saves to it just before another one takes its place, or just after that.
  private struct RacedFileSystem: FileSystem {
    let base = POSIXFileSystem()
    var save: @Sendable () -> Void = {}
    var saveAfterwards: @Sendable (_ path: String) -> Void = { _ in }
    var areWritable = true

    func isWritableFile(atPath path: String) -> Bool { areWritable }

    func copyPermissions(ofFileAtPath source: String, toPath destination: String) throws(PersistenceError) {
      try base.copyPermissions(ofFileAtPath: source, toPath: destination)
      // Folders get permissions, too.
      if destination.hasSuffix(".heartwood-tmp") { save() }
    }

    func status(atPath path: String) throws(PersistenceError) -> FileStatus? { try base.status(atPath: path) }
    func resolvingSymbolicLinks(inPath path: String) throws(PersistenceError) -> String {
      try base.resolvingSymbolicLinks(inPath: path)
    }
    func openFile(atPath path: String) throws(PersistenceError) -> any ReadableFile { try base.openFile(atPath: path) }
    func createTemporaryFile(
      besidePath path: String,
      permissions: UInt32?
    ) throws(PersistenceError) -> any WritableFile {
      try base.createTemporaryFile(besidePath: path, permissions: permissions)
    }
    func removeAbandonedTemporaryFiles(besidePath path: String) throws(PersistenceError) {
      try base.removeAbandonedTemporaryFiles(besidePath: path)
    }
    func moveFile(atPath source: String, toPath destination: String, exclusively: Bool) throws(PersistenceError) {
      try base.moveFile(atPath: source, toPath: destination, exclusively: exclusively)
    }
    func synchronizeDirectory(ofPath path: String) throws(PersistenceError) {
      try base.synchronizeDirectory(ofPath: path)
      saveAfterwards(path)
    }
    func removeFile(atPath path: String) throws(PersistenceError) { try base.removeFile(atPath: path) }
    func lockFile(atPath path: String) throws(PersistenceError) -> (any FileLock)? { try base.lockFile(atPath: path) }
    func entries(ofFolderAtPath path: String) throws(PersistenceError) -> [FolderEntry] {
      try base.entries(ofFolderAtPath: path)
    }
    func createFolder(atPath path: String) throws(PersistenceError) { try base.createFolder(atPath: path) }
    func removeFolder(atPath path: String) throws(PersistenceError) { try base.removeFolder(atPath: path) }
  }

  @Test func aStoreThatIsOpenedMeanwhileStays() throws {
    let bench = try SQLiteBench()
    try bench.makeStore("New.sqlite", items: ["new": Data(repeating: 1, count: 200_000)])
    try bench.makeStore(items: ["old": nil])
    let path = bench.url().path
    let other = Mutex<DatabaseQueue?>(nil)
    let fileSystem = RacedFileSystem(save: {
      do {
        let queue = try DatabaseQueue(path: path)
        try queue.write { try $0.execute(sql: "UPDATE ZITEM SET ZNAME = 'late'") }
        other.withLock { $0 = queue }
      } catch {
        Issue.record(error)
      }
    })
    let placement = StorePlacement(IncrementalClassFormat(SQLiteStore.self), fileSystem: fileSystem)
    let code = bench.code {
      try placement.write(at: path, replacing: true) { temporary in
        try SQLiteStore.copyStore(at: bench.url("New.sqlite").path, to: temporary)
      }
    }
    #expect(code == .storeBusy)
    #expect(try bench.externalNames().isEmpty)
    try other.withLock { $0 }?.close()
    #expect(try bench.integrity() == "ok")
    #expect(try Array(bench.contents().keys) == ["late"])
    // What was to be there is gone, and can be tried again.
    #expect(try bench.scratch.names().allSatisfy { !$0.hasSuffix("-tmp") })
    try StorePlacement(IncrementalClassFormat(SQLiteStore.self), fileSystem: POSIXFileSystem()).write(
      at: path,
      replacing: true
    ) { temporary in
      try SQLiteStore.copyStore(at: bench.url("New.sqlite").path, to: temporary)
    }
    #expect(try Array(bench.contents().keys) == ["new"])
  }

  @Test func whatFailsBesideThePlaceIsToldOfThePlace() throws {
    let bench = try SQLiteBench()
    let path = bench.url().path
    let error = bench.error {
      try StorePlacement(IncrementalClassFormat(SQLiteStore.self), fileSystem: POSIXFileSystem()).write(
        at: path,
        replacing: false
      ) {
        temporary in
        throw PersistenceError(.fileWriteFailed, "It fails.", context: .init(path: temporary))
      }
    }
    #expect(error?.context.path == path)
  }

  /// A store that cannot be opened when it is migrated is not migrated either; a dry run tells that.
  @Test func aFileThatMustNotBeWrittenIsNotMigrated() throws {
    let bench = try SQLiteBench()
    try bench.makeStore(items: ["a": nil])
    let before = try Data(contentsOf: bench.url())
    let model = try ManagedObjectModel(
      entities: [EntityDefinition(name: "Item", properties: [.attribute("name", .string)])]
    )
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: model,
      registry: StoreRegistry([SQLiteStore.self]),
      fileSystem: RacedFileSystem(areWritable: false)
    )
    for migratesInStore in [true, false] {
      var options = StoreOptions()
      options[.migratesInStore] = migratesInStore
      let migration = try #require(try coordinator.migration(ofStoreAt: bench.url(), type: .sqlite, options: options))
      #expect(bench.code { _ = try migration.dryRun() } == .storeReadOnly)
      #expect(bench.code { _ = try migration.run() } == .storeReadOnly)
      #expect(try Data(contentsOf: bench.url()) == before)
    }
  }

  /// Its files are there before its rows are, and whoever opens the old store finds none that leads to them.
  @Test func theFilesOfANewStoreStayWhoeverOpensTheOldOne() throws {
    let bench = try SQLiteBench()
    let (old, new) = (Data(repeating: 1, count: 200_000), Data(repeating: 2, count: 200_000))
    try bench.makeStore("New.sqlite", items: ["new": new])
    try bench.makeStore(items: ["old": old])
    try place("New.sqlite", bench) {
      let contents = try bench.contents()
      #expect(contents == ["old": old])
    }
    #expect(try bench.contents() == ["new": new])
    #expect(try bench.externalNames() == bench.namedFiles())
  }

  /// A copy of a store has files of the same names.
  @Test func aSaveToTheOldStoreKeepsTheFilesOfTheNewOne() throws {
    let bench = try SQLiteBench()
    let data = Data(repeating: 1, count: 200_000)
    try bench.makeStore(items: ["a": data])
    try SQLiteStore.backUp(storeAt: bench.url(), to: bench.url("New.sqlite"))
    try place("New.sqlite", bench) {
      let context = try bench.context()
      for item in try bench.items(context) { context.delete(item) }
      try context.save()
      context.persistentStoreCoordinator.close()
    }
    #expect(try bench.contents() == ["a": data])
  }

  @Test func whatIsSavedToTheNewStoreAtOnceStays() throws {
    let bench = try SQLiteBench()
    let data = Data(repeating: 1, count: 200_000)
    try bench.makeStore("New.sqlite", items: ["new": nil])
    try bench.makeStore(items: ["old": data])
    let fileSystem = RacedFileSystem(saveAfterwards: { path in
      if path.hasSuffix("/Store.sqlite") { Self.recording { try bench.makeStore(items: ["later": data]) } }
    })
    try place("New.sqlite", bench, fileSystem)
    #expect(try bench.contents() == ["new": nil, "later": data])
    #expect(try bench.externalNames() == bench.namedFiles())
  }

  /// Whoever may not read the old store may not read what takes its place.
  @Test func largeDataGetThePermissionsOfTheOldStore() throws {
    let bench = try SQLiteBench()
    try bench.makeStore("New.sqlite", items: ["new": Data(repeating: 1, count: 200_000)])
    try bench.makeStore(items: ["old": nil])
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: bench.url().path)
    try place("New.sqlite", bench, RacedFileSystem())
    #expect(try bench.permissions() == 0o600)
    #expect(try bench.permissions(".Store_SUPPORT") == 0o700)
    #expect(try bench.permissions(".Store_SUPPORT/_EXTERNAL_DATA") == 0o700)
    let name = try #require(try bench.externalNames().first)
    #expect(try bench.permissions(".Store_SUPPORT/_EXTERNAL_DATA/\(name)") == 0o600)
  }

  @Test func whatIsSavedToAConvertedStoreAtOnceIsSeen() throws {
    let bench = try SQLiteBench()
    try bench.makeStore("Old.sqlite", items: ["old": nil])
    let fileSystem = RacedFileSystem(saveAfterwards: { path in
      if path.hasSuffix("/Store.sqlite") { Self.recording { try bench.makeStore(items: ["later": nil]) } }
    })
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: bench.model,
      registry: StoreRegistry([SQLiteStore.self]),
      fileSystem: fileSystem
    )
    let old = try coordinator.addPersistentStore(type: .sqlite, at: bench.url("Old.sqlite"))
    try coordinator.convert(old, to: bench.url(), type: .sqlite)
    let items = try bench.items(ManagedObjectContext(coordinator))
    #expect(try items.map { try $0.value(forKey: "name") as? String } == ["later", "old"])
  }

  /// Lets a store take the place of another, with which something is done when the files of the new one are there.
  private func place(_ name: String, _ bench: SQLiteBench, _ use: @escaping @Sendable () throws -> Void) throws {
    try place(name, bench, RacedFileSystem(save: { Self.recording(use) }))
  }

  private func place(_ name: String, _ bench: SQLiteBench, _ fileSystem: RacedFileSystem) throws {
    let placement = StorePlacement(IncrementalClassFormat(SQLiteStore.self), fileSystem: fileSystem)
    try placement.write(at: bench.url().path, replacing: true) { temporary in
      try SQLiteStore.copyStore(at: bench.url(name).path, to: temporary)
    }
  }

  private static func recording(_ use: () throws -> Void) {
    do {
      try use()
    } catch {
      Issue.record(error)
    }
  }
}
