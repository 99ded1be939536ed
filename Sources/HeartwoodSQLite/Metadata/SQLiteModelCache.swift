package import GRDB
import HeartwoodFormats
package import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The model that a file keeps for Core Data, in the table `Z_MODELCACHE`: a keyed archive, compressed.
package enum SQLiteModelCache {
  /// How long a model may be, compressed and expanded. Those of large applications take less than a hundredth of it.
  private static let greatestCompressedLength = 16 << 20
  private static let greatestLength = 64 << 20

  /// The model of the file; nil where there is none, as in files of old versions of Core Data.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed`` where what is there is no model.
  package static func model(in db: Database, path: String) throws -> ManagedObjectModel? {
    guard try db.tableExists(SQLiteName.modelCacheTable),
      let length = try Int.fetchOne(db, sql: "SELECT length(Z_CONTENT) FROM Z_MODELCACHE LIMIT 1"), length > 0
    else { return nil }
    guard length <= greatestCompressedLength else {
      throw malformed("is longer than \(greatestCompressedLength) bytes", path)
    }
    guard let content = try Data.fetchOne(db, sql: "SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1") else { return nil }
    return try model(Array(content), path: path)
  }

  /// The model that `content` stands for.
  static func model(_ content: [UInt8], path: String) throws(PersistenceError) -> ManagedObjectModel {
    let archive: [UInt8]
    do {
      archive = try RawInflation.expand(content, limit: greatestLength)
    } catch {
      switch error {
      case .damaged: throw malformed("cannot be expanded: its bytes were changed or cut short", path)
      case .tooLong: throw malformed("expands to more than \(greatestLength) bytes", path)
      case .outOfMemory: throw PersistenceError(.fileReadFailed, "There is no memory to expand the model with.")
      }
    }
    do {
      return try ManagedObjectModel(compiled: archive, path: path)
    } catch {
      throw malformed("is no model: \(error.message)", path, error)
    }
  }

  /// Puts `model` into a file, in place of the one that is there. Where it has something that no archive of Core Data's was seen to hold, the
  /// file has none afterwards: one that is not its own would be worse. The caller has begun a transaction.
  static func write(_ model: ManagedObjectModel, to db: Database) throws {
    try db.execute(sql: "DELETE FROM Z_MODELCACHE")
    guard let archive = model.compiled(), let content = RawDeflation.compress(archive),
      content.count <= greatestCompressedLength, archive.count <= greatestLength
    else { return }
    try db.execute(sql: "INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)", arguments: [Data(content)])
  }

  private static func malformed(_ what: String, _ path: String, _ error: (any Error)? = nil) -> PersistenceError {
    PersistenceError(
      .fileMalformed,
      "The model in the file (Z_CONTENT in Z_MODELCACHE) \(what).",
      recovery: "Open the store with its model.",
      context: .init(path: path, storeType: .sqlite),
      underlyingError: error
    )
  }
}
