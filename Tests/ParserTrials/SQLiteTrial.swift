import Foundation
import Heartwood
import HeartwoodModel
@_spi(Trials) import HeartwoodSQLite
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

  static func readMetadata(_ bytes: [UInt8]) throws { try SQLiteCells.readMetadata(bytes, path: path) }

  static func readModel(_ bytes: [UInt8]) throws { try SQLiteCells.readModel(bytes, path: path) }
}
