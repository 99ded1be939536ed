import Foundation
import GRDB
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore
import HeartwoodTesting
import Testing

@testable import HeartwoodSQLite

/// A store that is migrated twice: in SQL, where that can be, and through memory. Both must come to the same.
struct TwoWayMigration {
  let scratch: ScratchFolder
  private let new: ManagedObjectModel
  var options = StoreOptions()

  /// Makes a store of the old model.
  init(
    from old: ManagedObjectModel,
    to new: ManagedObjectModel,
    _ fill: (ManagedObjectContext) throws -> Void
  ) throws {
    scratch = try ScratchFolder()
    self.new = new
    // What is left out is counted both ways, and need not be refused.
    options[.allowsMigrationLoss] = true
    let coordinator = try SQLiteBench.coordinator(old)
    try coordinator.addPersistentStore(type: .sqlite, at: url("Old.sqlite"))
    let context = ManagedObjectContext(coordinator)
    try fill(context)
    try context.save()
    coordinator.close()
  }

  func url(_ name: String) -> URL { scratch.url.appending(path: name) }

  func migration(ofStore name: String = "Old.sqlite", _ options: StoreOptions) throws -> StoreMigration? {
    try SQLiteBench.coordinator(new).migration(ofStoreAt: url(name), type: .sqlite, options: options)
  }

  /// What lies in the folder, with the bytes of each file.
  func files() throws -> [String: Data] { try scratch.files() }

  /// Migrates the store both ways, and expects the same files, reports or errors, and that dry runs have told them.
  ///
  /// - Returns: whether SQL has done it, or would not have to do anything; nil where neither way can.
  @discardableResult
  func run(sourceLocation: SourceLocation = #_sourceLocation) throws -> Bool? {
    var throughMemory = options
    throughMemory[.migratesInStore] = false
    let slow = try runAsForetold(throughMemory, "Memory.sqlite", sourceLocation)
    let quick = try runAsForetold(options, "Store.sqlite", sourceLocation)
    switch (slow, quick) {
    case (.success(let slow?), .success(let quick?)):
      let isDoneInStore = quick.isDoneInStore
      #expect(!slow.isDoneInStore)
      #expect(slow.reasonNotInStore?.kind == .option, sourceLocation: sourceLocation)
      #expect((quick.reasonNotInStore == nil) == isDoneInStore, sourceLocation: sourceLocation)
      #expect(quick.entities == slow.entities && quick.findings == slow.findings, sourceLocation: sourceLocation)
      try expectSameFiles(sourceLocation)
      return isDoneInStore
    case (.failure(let slow), .failure(let quick)):
      let (slow, quick) = (slow as? PersistenceError, quick as? PersistenceError)
      #expect(slow?.code == quick?.code && slow?.message == quick?.message, sourceLocation: sourceLocation)
      let names = try scratch.names().filter { $0 != ".Old_SUPPORT" }
      #expect(names == ["Old.sqlite"], sourceLocation: sourceLocation)
      return nil
    case (.success(nil), .success(nil)): return nil
    default:
      Issue.record("\(slow) and \(quick)", sourceLocation: sourceLocation)
      return nil
    }
  }

  /// Migrates to another file, after a dry run that tells the same and changes nothing.
  private func runAsForetold(
    _ options: StoreOptions,
    _ name: String,
    _ sourceLocation: SourceLocation
  ) throws -> Result<MigrationReport?, any Error> {
    let before = try files()
    let dry = Result { try migration(options)?.dryRun(to: url(name)) }
    #expect(try files() == before, sourceLocation: sourceLocation)
    let result = Result { try migration(options)?.run(to: url(name)) }
    switch (dry, result) {
    case (.success(let dry), .success(let report)): #expect(dry == report, sourceLocation: sourceLocation)
    case (.success(let dry?), .failure(let error as PersistenceError)):
      let obstacles = #expect(throws: PersistenceError.self, sourceLocation: sourceLocation) {
        try dry.check(path: url("Old.sqlite").path)
      }
      #expect(obstacles?.message == error.message, sourceLocation: sourceLocation)
    case (.failure(let dry as PersistenceError), .failure(let error as PersistenceError)):
      #expect(dry.message == error.message, sourceLocation: sourceLocation)
    default: Issue.record("\(dry) and \(result)", sourceLocation: sourceLocation)
    }
    return result
  }

  /// What a file has, opened with the new model.
  func contents(_ name: String) throws -> StoreContents {
    let coordinator = try SQLiteBench.coordinator(new)
    defer { coordinator.close() }
    return try coordinator.addPersistentStore(type: .sqlite, at: url(name)).engine.contents()
  }

  private func expectSameFiles(_ sourceLocation: SourceLocation) throws {
    let (slow, quick) = (try contents("Memory.sqlite"), try contents("Store.sqlite"))
    let difference = ContentsComparison.firstDifference(slow, quick)
    #expect(difference == nil, "\(difference.map { "\($0)" } ?? "")", sourceLocation: sourceLocation)
    #expect(slow.metadata == quick.metadata, sourceLocation: sourceLocation)
    for (slow, quick) in zip(slow.tables, quick.tables) {
      #expect(Self.versions(slow) == Self.versions(quick), sourceLocation: sourceLocation)
    }
    #expect(try ContentsValidation.findings(in: quick, limit: 3).isEmpty, sourceLocation: sourceLocation)
    let files = try ["Memory.sqlite", "Store.sqlite"].map { try Self.form(url($0)) }
    #expect(files[0].shape.differences(from: files[1].shape).isEmpty, sourceLocation: sourceLocation)
    #expect(files[0].rows == files[1].rows, sourceLocation: sourceLocation)
    #expect(files[1].integrity == "ok", sourceLocation: sourceLocation)
    // Numbers of records that are gone are not given again.
    for (slow, quick) in zip(files[0].greatestKeys, files[1].greatestKeys) {
      #expect(slow <= quick, sourceLocation: sourceLocation)
    }
    #expect(try SQLiteStore.model(ofStoreAt: url("Store.sqlite")) == new, sourceLocation: sourceLocation)
  }

  private static func versions(_ table: NodeTable) -> [UInt64] {
    table.liveRows.map { table.groups[$0.group].versions[$0.row] }
  }

  private static func form(
    _ url: URL
  ) throws -> (shape: SchemaShape, rows: [String], greatestKeys: [Int], integrity: String?) {
    let queue = try DatabaseQueue(path: url.path)
    defer { try? queue.close() }
    return try queue.read { db in
      (
        shape: try SchemaShape(db),
        rows: try String.fetchAll(
          db,
          sql: "SELECT Z_ENT || ' ' || Z_NAME || ' ' || Z_SUPER FROM Z_PRIMARYKEY ORDER BY Z_ENT"
        ),
        greatestKeys: try Int.fetchAll(db, sql: "SELECT Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT"),
        integrity: try String.fetchOne(db, sql: "PRAGMA integrity_check")
      )
    }
  }
}
