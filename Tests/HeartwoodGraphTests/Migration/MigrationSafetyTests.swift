import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting
import Synchronization
import Testing

/// Whatever happens during a migration, the old store is there or the new one is.
@Suite struct MigrationSafetyTests {
  private static let types: [StoreType] = [.binary, .xml, .propertyList, .coreDataBinary]

  private static func model(_ isNew: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel.of(
      .entity(
        "Note",
        .attribute("name", .string, optional: true),
        isNew ? .attribute("rank", .string, default: .string("r")) : .attribute("stars", .integer16, optional: true),
        .toOne("page", "Page", inverse: "notes")
      ),
      .entity("Page", .attribute("name", .string, optional: true), .toMany("notes", "Note", inverse: "page"))
    )
  }

  private static func fill(_ context: ManagedObjectContext) throws {
    let page = try context.make("Page", ["name": "p"])
    for number in 0..<20 { try context.make("Note", ["name": "\(number)", "stars": number, "page": page]) }
  }

  /// Whether the store is the old one or the new one, sound either way.
  private static func isNew(_ bench: MigrationBench) throws -> Bool {
    let hasOld = try bench.migration(to: try model(false)) == nil
    let context = try bench.open(try model(!hasOld))
    defer { context.persistentStoreCoordinator.close() }
    try context.expectSound()
    #expect(try context.links("Page", "notes")["p"]?.count == 20)
    if !hasOld { #expect(try context.texts("Note", "rank").count { $0 == "r" } == 20) }
    return !hasOld
  }

  @Test(arguments: types)
  func aKillAtAnyStepLeavesTheOldStoreOrTheNewOne(_ type: StoreType) throws {
    for step in 1...1000 {
      let faults = FaultInjectingFileSystem(wrapping: InMemoryFileSystem())
      let bench = try MigrationBench(type, fileSystem: faults)
      try bench.make(try Self.model(false), Self.fill)
      let migration = try #require(try bench.migration(to: try Self.model(true)))
      faults.crash(atOperation: faults.operations.count + step)
      let hasMigrated = (try? migration.run()) != nil
      let isOver = !faults.hasCrashed
      faults.restart()
      let isNew = try Self.isNew(bench)
      #expect(isNew || !hasMigrated, "at step \(step)")
      // What the dead process left stands in nobody's way.
      if !isNew { try bench.migrated(to: try Self.model(true)).persistentStoreCoordinator.close() }
      if isOver { return #expect(step > 5) }
    }
    Issue.record("The migration took too many steps.")
  }

  @Test(arguments: types)
  func aFailureAtAnyStepLeavesTheOldStoreOrTheNewOne(_ type: StoreType) throws {
    for step in 1...1000 {
      let faults = FaultInjectingFileSystem(wrapping: InMemoryFileSystem())
      let bench = try MigrationBench(type, fileSystem: faults)
      try bench.make(try Self.model(false), Self.fill)
      let migration = try #require(try bench.migration(to: try Self.model(true)))
      let start = faults.operations.count
      faults.failOperation(start + step)
      let hasMigrated = (try? migration.run()) != nil
      let isOver = faults.operations.count < start + step
      #expect(try Self.isNew(bench) || !hasMigrated, "at step \(step)")
      if isOver { return #expect(hasMigrated) }
    }
    Issue.record("The migration took too many steps.")
  }

  @Test(arguments: types)
  func aFullDiskIsNamedAndChangesNothing(_ type: StoreType) throws {
    let files = InMemoryFileSystem()
    let faults = FaultInjectingFileSystem(wrapping: files)
    let bench = try MigrationBench(type, fileSystem: faults)
    try bench.make(try Self.model(false), Self.fill)
    let before = files.contents(ofFileAtPath: bench.url.path)
    let migration = try #require(try bench.migration(to: try Self.model(true)))
    faults.limitWrites(toByteCount: 100)
    expectError(.fileWriteFailed) { try migration.run() }
    #expect(files.contents(ofFileAtPath: bench.url.path) == before)
    #expect(files.paths == [bench.url.path])
    faults.limitWrites(toByteCount: .max)
    try migration.run()
    #expect(try Self.isNew(bench))
  }

  /// The store that SQLite writes itself: what is moved to its place goes through the seam.
  @Test func aSQLiteStoreIsReplacedInOneStep() throws {
    for step in 1...100 {
      let faults = FaultInjectingFileSystem(wrapping: POSIXFileSystem())
      let bench = try MigrationBench(.sqlite, fileSystem: faults)
      try bench.make(try Self.model(false), Self.fill)
      let migration = try #require(try bench.migration(to: try Self.model(true)))
      faults.crash(atOperation: faults.operations.count + step)
      let hasMigrated = (try? migration.run()) != nil
      let isOver = !faults.hasCrashed
      faults.restart()
      #expect(try Self.isNew(bench) || !hasMigrated, "at step \(step)")
      if isOver { return #expect(step > 2) }
    }
    Issue.record("The migration took too many steps.")
  }

  @Test(arguments: MigrationBench.types)
  func aMigrationThatIsCancelledChangesNothing(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    try bench.make(try Self.model(false), Self.fill)
    let before = try bench.bytes()
    let progress = MigrationProgress()
    progress.cancel()
    let migration = try #require(try bench.migration(to: try Self.model(true)))
    expectError(.migrationCancelled) { try migration.run(progress: progress) }
    #expect(try bench.bytes() == before)
    #expect(try bench.folder.names() == ["store"])
  }

  @Test(arguments: MigrationBench.types)
  func aDryRunChangesNothing(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    try bench.make(try Self.model(false), Self.fill)
    let before = try bench.bytes()
    let report = try #require(try bench.migration(to: try Self.model(true))).dryRun()
    #expect(report.sourceCount == 21)
    #expect(report.destinationCount == 21)
    #expect(report.entities.map(\.mappingName) == ["IEM_Transform_Note", "IEM_Copy_Page"])
    #expect(try bench.bytes() == before)
    #expect(try !Self.isNew(bench))
  }

  @Test(arguments: MigrationBench.types)
  func theOldFileIsKeptWhereThatIsWanted(_ type: StoreType) throws {
    var bench = try MigrationBench(type)
    try bench.make(try Self.model(false), Self.fill)
    bench.options[.migrationBackupPath] = bench.folder.path("old")
    try bench.migrated(to: try Self.model(true)).persistentStoreCoordinator.close()
    let coordinator = try bench.coordinator(try Self.model(false))
    try coordinator.addPersistentStore(type: type, at: bench.folder.url.appending(path: "old"))
    #expect(try ManagedObjectContext(coordinator).texts("Note", "stars").count == 20)
    // Nothing is written over a copy that is there.
    try bench.migration(to: try Self.model(false)).map { migration in
      expectError(.fileExists) { try migration.run() }
    }
    #expect(try Self.isNew(bench))
  }

  @Test(arguments: MigrationBench.types)
  func aMigrationThatFailsLeavesNoCopy(_ type: StoreType) throws {
    var bench = try MigrationBench(type)
    try bench.make(try Self.model(false), Self.fill)
    bench.options[.migrationBackupPath] = bench.folder.path("old")
    let migration = try #require(try bench.migration(to: try Self.model(true)))
    let current = Mutex<MigrationProgress?>(nil)
    let progress = MigrationProgress { phase in
      if phase == .writing { current.withLock { $0 }?.cancel() }
    }
    current.withLock { $0 = progress }
    expectError(.migrationCancelled) { try migration.run(progress: progress) }
    #expect(try bench.folder.names() == ["store"])
    try migration.run()
    #expect(try bench.folder.names() == ["old", "store"])
    #expect(try Self.isNew(bench))
  }

  /// What a process leaves that was killed when the copy was made.
  @Test(arguments: MigrationBench.types)
  func aCopyOfTheStoreThatIsThereIsTaken(_ type: StoreType) throws {
    var bench = try MigrationBench(type)
    try bench.make(try Self.model(false), Self.fill)
    let backup = bench.folder.path("old")
    let storeManager = StoreManager(
      model: try Self.model(false),
      registry: TestStack.registry,
      fileSystem: POSIXFileSystem()
    )
    let request = StoreManager.Request(type: type, path: bench.url.path, options: StoreOptions())
    try storeManager.copyStore(request, to: backup, replacing: false)
    let before = try bench.folder.files()
    bench.options[.migrationBackupPath] = backup
    let migration = try #require(try bench.migration(to: try Self.model(true)))
    _ = try migration.dryRun()
    #expect(try bench.folder.files() == before)
    try migration.run()
    #expect(try bench.folder.files()["old"] == before["old"])
    #expect(try bench.folder.names() == ["old", "store"])
    #expect(try Self.isNew(bench))
  }

  /// A copy by the name of the store would be gone with it.
  @Test(arguments: MigrationBench.types, [false, true])
  func theStoreIsNoCopyOfItself(_ type: StoreType, isLink: Bool) throws {
    var bench = try MigrationBench(type)
    try bench.make(try Self.model(false), Self.fill)
    let link = bench.folder.url.appending(path: "link")
    if isLink { try FileManager.default.createSymbolicLink(at: link, withDestinationURL: bench.url) }
    let before = try bench.folder.files()
    bench.options[.migrationBackupPath] = isLink ? link.path : bench.url.path
    let migration = try #require(try bench.migration(to: try Self.model(true)))
    expectError(.fileExists) { try migration.dryRun() }
    expectError(.fileExists) { try migration.run() }
    #expect(try bench.folder.files() == before)
  }

  /// Another store is not written over, and is not removed.
  @Test(arguments: MigrationBench.types)
  func whatIsNoCopyOfTheStoreStays(_ type: StoreType) throws {
    var bench = try MigrationBench(type)
    try bench.make(try Self.model(false), Self.fill)
    try FileManager.default.copyItem(at: bench.url, to: bench.folder.url.appending(path: "old"))
    let context = try bench.open(try Self.model(false))
    try context.make("Note", ["name": "more"])
    try context.save()
    context.persistentStoreCoordinator.close()
    let before = try bench.folder.files()
    bench.options[.migrationBackupPath] = bench.folder.path("old")
    let migration = try #require(try bench.migration(to: try Self.model(true)))
    expectError(.fileExists) { try migration.dryRun() }
    expectError(.fileExists) { try migration.run() }
    #expect(try bench.folder.files() == before)
  }

  /// Whoever takes the store away meanwhile does not get it back.
  @Test(arguments: MigrationBench.types, [false, true])
  func aStoreThatGoesMeanwhileIsGone(_ type: StoreType, isEmptied: Bool) throws {
    let bench = try MigrationBench(type)
    try bench.make(try Self.model(false), Self.fill)
    let url = bench.url
    let progress = MigrationProgress { phase in
      guard phase == .writing else { return }
      // Another file, for the bytes of this one may be in use.
      if isEmptied {
        try? Data().write(to: url, options: .atomic)
      } else {
        try? FileManager.default.removeItem(at: url)
      }
    }
    let migration = try #require(try bench.migration(to: try Self.model(true)))
    expectError(.fileChangedOnDisk) { try migration.run(progress: progress) }
    #expect(try POSIXFileSystem().status(atPath: url.path)?.size == (isEmptied ? 0 : nil))
  }

  @Test(arguments: MigrationBench.types, [nil, false])
  func theFileKeepsItsPermissions(_ type: StoreType, _ inStore: Bool?) throws {
    var bench = try MigrationBench(type)
    if let inStore { bench.options[.migratesInStore] = inStore }
    try bench.make(try Self.model(false), Self.fill)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: bench.url.path)
    try #require(try bench.migration(to: try Self.model(true))).run()
    #expect(try POSIXFileSystem().status(atPath: bench.url.path)?.permissions == 0o640)
    #expect(try Self.isNew(bench))
  }

  @Test(arguments: MigrationBench.types, [0o600, 0o640])
  func theBackupHasThePermissionsOfTheFile(_ type: StoreType, _ permissions: Int) throws {
    var bench = try MigrationBench(type)
    try bench.make(try Self.model(false), Self.fill)
    try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: bench.url.path)
    let backup = bench.url.path + ".backup"
    bench.options[.migrationBackupPath] = backup
    try #require(try bench.migration(to: try Self.model(true))).run()
    for path in [bench.url.path, backup] {
      #expect(try POSIXFileSystem().status(atPath: path)?.permissions == UInt32(permissions), "\(path)")
    }
  }

  @Test func nothingIsDeferred() throws {
    let bench = try MigrationBench(.sqlite)
    try bench.make(try Self.model(false), Self.fill)
    let coordinator = try bench.migrated(to: try Self.model(true)).persistentStoreCoordinator
    #expect(try coordinator.finishDeferredLightweightMigration() == .nothingDeferred)
    #expect(try coordinator.finishDeferredLightweightMigrationTask() == .nothingDeferred)
    coordinator.close()
    expectError(.coordinatorClosed) { try coordinator.finishDeferredLightweightMigration() }
  }

  @Test(arguments: MigrationBench.types)
  func aMigrationToAnotherPlaceLeavesTheStoreAlone(_ type: StoreType) throws {
    let bench = try MigrationBench(type)
    try bench.make(try Self.model(false), Self.fill)
    let place = bench.folder.url.appending(path: "new.heartwood")
    try #require(try bench.migration(to: try Self.model(true))).run(to: place, type: .binary)
    #expect(try !Self.isNew(bench))
    let coordinator = try bench.coordinator(try Self.model(true))
    try coordinator.addPersistentStore(at: place)
    #expect(try ManagedObjectContext(coordinator).texts("Note", "rank") == Array(repeating: "r", count: 20))
  }

  @Test func aHistoryBeginsAnew() throws {
    var bench = try MigrationBench()
    bench.options[.tracksPersistentHistory] = true
    let first = try bench.open(try Self.model(false))
    let coordinator = first.persistentStoreCoordinator
    let start = try #require(try coordinator.currentPersistentHistoryToken())
    try Self.fill(first)
    try first.save()
    let last = try #require(try coordinator.currentPersistentHistoryToken())
    coordinator.close()
    let report = try #require(try bench.migration(to: try Self.model(true))).dryRun()
    #expect(report.lostTransactionCount == 1)
    let context = try bench.migrated(to: try Self.model(true))
    expectError(.historyTokenExpired) { try context.execute(.fetchHistory(after: start)) }
    try context.make("Note", ["name": "new", "rank": "s"])
    try context.save()
    #expect(try context.execute(.fetchHistory(after: last)).count == 1)
  }

  @Test func whatIsNotTouchedIsShared() throws {
    let bench = try MigrationBench()
    try bench.make(try Self.model(false), Self.fill)
    let storeManager = StoreManager(
      model: try Self.model(false),
      registry: TestStack.registry,
      fileSystem: POSIXFileSystem()
    )
    let contents = try storeManager.open(.init(type: .binary, path: bench.url.path, options: StoreOptions())).engine
      .contents()
    let new = try Self.model(true)
    let mapping = try MappingModel.inferredMappingModel(forSourceModel: contents.model, destinationModel: new)
    let plan = try #require(MigrationPlan(mapping, from: contents.model, to: new))
    let result = try TableMigration(plan, resolutions: .init(), allowsLoss: true, progress: .init()).run(contents)
    let (old, made) = (try #require(contents.tables[0].groups.first), try #require(result.tables[0].groups.first))
    // The name and the page are the same bytes in memory.
    for ordinal in [0, 2] {
      let parts = [old, made].map { $0.columns[ordinal].references?.values ?? $0.columns[ordinal].values }
      #expect(parts[0].unsafeBase == parts[1].unsafeBase)
      #expect(parts[0].count > 0)
    }
  }
}
