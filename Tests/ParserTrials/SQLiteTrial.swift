import Foundation
import GRDB
import Heartwood
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import HeartwoodTesting

/// Reads files of Core Data's SQLite store, and what is in two of their cells.
enum SQLiteTrial {
  private static let path = "/trial"

  /// Opens a file with the model in it, or one for all files, and reads every record.
  static func open(_ bytes: [UInt8]) throws {
    let scratch = try ScratchFolder()
    let path = scratch.path("Trial.sqlite")
    try Data(bytes).write(to: URL(filePath: path))
    let file = try StoreInput(try POSIXFileSystem().openFile(atPath: path))
    _ = try ParserTrial.attempt { _ = try SQLiteStore.readMetadata(from: file, options: StoreOptions()) }
    let model = try SQLiteStore.readModel(from: file, options: StoreOptions()) ?? TrialModel.model.get()
    let registry = try StoreRegistry([SQLiteStore.self])
    var options = StoreOptions()
    options[.ignoresModelVersion] = true
    options[.isReadOnly] = true
    let storeManager = StoreManager(model: model, registry: registry, fileSystem: POSIXFileSystem())
    let store = try storeManager.open(StoreManager.Request(type: .sqlite, path: path, options: options))
    defer { _ = store.engine.close(unlessSavedSince: nil) }
    try StoreTrial.readAll(of: store)
  }

  static func readMetadata(_ bytes: [UInt8]) throws {
    try inDatabase { db in
      try db.execute(sql: "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
      try db.execute(
        sql: "INSERT INTO Z_METADATA VALUES (1, ?, ?)",
        arguments: ["E899556C-BE1A-42A3-A634-F8411915C000", Data(bytes)]
      )
      _ = try SQLiteMetadata.read(from: db, path: path)
    }
  }

  static func readModel(_ bytes: [UInt8]) throws {
    try inDatabase { db in
      try db.execute(sql: "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
      try db.execute(sql: "INSERT INTO Z_MODELCACHE VALUES (?)", arguments: [Data(bytes)])
      _ = try SQLiteModelCache.model(in: db, path: path)
    }
  }

  private static func inDatabase(_ body: (Database) throws -> Void) throws {
    let queue = try DatabaseQueue()
    try queue.write(body)
    try queue.close()
  }
}
