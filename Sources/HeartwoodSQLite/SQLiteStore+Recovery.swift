public import HeartwoodFoundation
import HeartwoodModel
public import HeartwoodStore
import Synchronization

extension SQLiteStore {
  /// Always `true`: a model can be recovered from the tables of a file.
  public static var recoversModels: Bool { true }

  /// Makes a model from the tables of the store at `url`, for a file whose model is lost.
  ///
  /// The file provides the entities, their inheritance and the names of attributes and relationships, in lower case if
  /// nothing in it shows their spelling. Types are derived from columns and values: an attribute of 16, 32 or 64 bits
  /// is `integer64`. The file does not contain the names of to-many relationships whose inverse is to one, nor which
  /// values are required, defaults, delete rules and class names.
  ///
  /// The file is only read, in O(rows). With the model, a store can be opened for reading: its version hashes differ
  /// from the model's, and so a save throws ``PersistenceError/Code/storeReadOnly``. A new store can be made with the
  /// model, for example by converting the old one.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed`` if the file is not a Core Data store.
  public static func recoverModel(ofStoreAt url: URL) throws -> RecoveredModel {
    try recoveredModel(ofStoreAt: url.path, options: StoreOptions())
  }

  /// Makes a model from the tables of the store at `path`, as ``recoverModel(ofStoreAt:)`` does.
  public static func recoverModel(ofStoreAt path: String, options: StoreOptions) throws -> RecoveredModel? {
    try recoveredModel(ofStoreAt: path, options: options)
  }

  private static func recoveredModel(ofStoreAt path: String, options: StoreOptions) throws -> RecoveredModel {
    try SQLiteFile.inspect(atPath: path, options: options) { db in
      let metadata = try SQLiteMetadata.read(from: db, path: path).metadata
      var recovery = try ModelRecovery(db, path: path, entityNames: Set(metadata.modelVersionHashes.keys))
      return try recovery.recover()
    }
  }

  /// Checks that the model was not recovered from the file, and otherwise refuses to write to it.
  func checkIsOfModel() throws(PersistenceError) {
    guard connection.withLock({ $0?.isOfOtherModel ?? false }) else { return }
    throw PersistenceError(
      .storeReadOnly,
      "The model was recovered from the tables of a file, so its version hashes differ: Core Data would not open a file that is written with it. "
        + "The file can only be read.",
      recovery:
        "Open it with the model that it was written with, or convert it to a new file, which has the recovered model.",
      context: .init(path: path, storeType: .sqlite)
    )
  }
}
