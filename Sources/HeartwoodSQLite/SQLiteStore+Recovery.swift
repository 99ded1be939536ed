public import HeartwoodFoundation
import HeartwoodModel
public import HeartwoodStore
import Synchronization

extension SQLiteStore {
  /// True.
  public static var recoversModels: Bool { true }

  /// Makes a model of the tables of the store at `url`, for a file whose model nobody has any more.
  ///
  /// Entities, their inheritance and the names of attributes and relationships are those of the file, in small letters if nothing there tells
  /// how they are written. Types are told by columns and values: an attribute of 16, 32 or 64 bits is `integer64`. The file does not tell how
  /// to-many relationships are called whose inverse leads to one object, nor which values are required, defaults, delete rules and class names.
  ///
  /// The file is only read, in O(rows). A store is opened with the model for reading: its version hashes are others than the model's, and so a
  /// save throws ``PersistenceError/Code/storeReadOnly``. A new store may be made with the model, such as by converting the old one.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed`` if the file is no store of Core Data.
  public static func recoverModel(ofStoreAt url: URL) throws -> RecoveredModel {
    try recoveredModel(ofStoreAt: url.path, options: StoreOptions())
  }

  /// ``recoverModel(ofStoreAt:)``.
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

  /// Refuses to write a file with a model that was recovered from it.
  func checkIsOfModel() throws(PersistenceError) {
    guard connection.withLock({ $0?.isOfOtherModel ?? false }) else { return }
    throw PersistenceError(
      .storeReadOnly,
      "The model was recovered from the tables of a file, whose version hashes are others: Core Data would not open a file that is written with it. "
        + "The file can be read only.",
      recovery:
        "Open it with the model that it was written with, or convert it to a new file, which is of the recovered model.",
      context: .init(path: path, storeType: .sqlite)
    )
  }
}
