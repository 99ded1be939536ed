import GRDB
@_spi(CoreDataFiles) import HeartwoodFormats
import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The row of `Z_METADATA`: the metadata of a store, and the entries of the framework that wrote the file.
struct SQLiteMetadata: Sendable {
  /// The metadata of the store; the application's keys are its ``StoreMetadata/userInfo``.
  var metadata: StoreMetadata
  /// The model that Heartwood has embedded, if it was the last to write the records.
  var embeddedModel: ManagedObjectModel?
  private var form: CoreDataMetadata.Form
  /// The hashes of entities for which Core Data computes a different one, by name.
  private var derivedHashes: [String: DerivedHash] = [:]

  /// The hashes of an entity with a derived attribute. How the attribute enters Core Data's hash is unknown; the model
  /// in the file shows that both hashes stand for the same entity.
  private struct DerivedHash: Sendable {
    let ofFile: Data
    let ofModel: Data
  }

  /// The version of the framework whose files new ones resemble.
  private static let frameworkVersion: Int64 = 1344
  /// The value for free pages that are kept in a list, and returned only on request.
  private static let incrementalVacuum = "2"

  /// Creates the metadata of a new file.
  init(_ metadata: StoreMetadata) {
    self.metadata = metadata
    form = CoreDataMetadata.Form(
      hasDigest: true,
      hasChecksum: true,
      frameworkMembers: [
        "NSPersistenceFrameworkVersion": .integer(Self.frameworkVersion),
        "_NSAutoVacuumLevel": .string(Self.incrementalVacuum),
      ]
    )
  }

  private init(_ members: [String: MetadataValue], identifier: UUID) throws {
    metadata = CoreDataMetadata.metadata(members, identifier: identifier, storeType: .sqlite)
    embeddedModel = try CoreDataMetadata.model(members)
    form = CoreDataMetadata.Form(members)
  }

  /// - Parameter list: the property list in `Z_PLIST`.
  fileprivate init(list: [UInt8], identifier: UUID, path: String) throws {
    try self.init(try Self.members(list, path), identifier: identifier)
  }

  /// Core Data's other keys, such as `NSPersistenceFrameworkVersion`. They stay as they are.
  var frameworkMembers: [String: MetadataValue] { form.frameworkMembers }

  /// - Throws: ``PersistenceError/Code/valueUnsupported`` if the application uses a key that could be one of Core
  ///   Data's.
  static func validate(_ userInfo: [String: MetadataValue]) throws(PersistenceError) {
    try CoreDataMetadata.validate(userInfo, storeType: .sqlite)
  }
}

// MARK: Reading

extension SQLiteMetadata {
  /// The maximum length of the property list.
  private static let greatestLength = 64 << 20

  /// Checks that a database has a metadata table, before anything in it is changed.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed``.
  static func checkPresence(in db: Database) throws {
    let query = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE)"
    guard try Bool.fetchOne(db, sql: query, arguments: [SQLiteName.metadataTable]) == true else { throw absent(nil) }
  }

  /// Reads the metadata of a file.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed`` if the database has none, so that it is not a Core Data store.
  static func read(from db: Database, path: String) throws -> SQLiteMetadata {
    guard try db.tableExists(SQLiteName.metadataTable),
      let row = try Row.fetchOne(
        db,
        sql: "SELECT Z_UUID, length(Z_PLIST), Z_PLIST FROM Z_METADATA ORDER BY Z_VERSION LIMIT 1"
      )
    else { throw absent(path) }
    guard let identifier = String.fromDatabaseValue(row[0]).flatMap(UUID.init(uuidString:)) else {
      throw malformed("The identifier of the store (Z_UUID in Z_METADATA) is not a UUID.", path)
    }
    guard (Int.fromDatabaseValue(row[1]) ?? 0) <= greatestLength, let list = Data.fromDatabaseValue(row[2]) else {
      throw malformed("The metadata (Z_PLIST in Z_METADATA) are missing, or longer than \(greatestLength) bytes.", path)
    }
    var metadata = try SQLiteMetadata(list: Array(list), identifier: identifier, path: path)
    if try DerivedTriggers.exist(in: db) { metadata.followModel(in: db, path) }
    return metadata
  }

  /// Replaces the hashes of entities with derived attributes by those that are computed here from the model in the
  /// file, until the metadata is written.
  private mutating func followModel(in db: Database, _ path: String) {
    // try?: if the cached model cannot be read, the hashes stay those of the file.
    guard let model = try? SQLiteModelCache.model(in: db, path: path) else { return }
    for (name, hash) in metadata.modelVersionHashes {
      guard let entity = model.entity(named: name), entity.versionHash != hash,
        entity.attributes.contains(where: { $0.derivationExpression != nil })
      else {
        continue
      }
      derivedHashes[name] = DerivedHash(ofFile: hash, ofModel: entity.versionHash)
      metadata.modelVersionHashes[name] = entity.versionHash
    }
  }

  /// The metadata with the hashes that Core Data would compute, as far as they are known.
  private var written: StoreMetadata {
    var written = metadata
    for (name, hash) in derivedHashes where written.modelVersionHashes[name] == hash.ofModel {
      written.modelVersionHashes[name] = hash.ofFile
    }
    return written
  }

  private static func members(_ list: [UInt8], _ path: String) throws(PersistenceError) -> [String: MetadataValue] {
    do {
      if case .dictionary(let members) = try PropertyListData.value(of: list, path: path) { return members }
    } catch {
      throw malformed("The metadata (Z_PLIST in Z_METADATA) are not a property list: \(error.message)", path)
    }
    throw malformed("The metadata (Z_PLIST in Z_METADATA) are not a dictionary.", path)
  }

  private static func absent(_ path: String?) -> PersistenceError {
    PersistenceError(
      .fileMalformed,
      "The database has no metadata of a store (in the table Z_METADATA), so Core Data has not made it.",
      recovery:
        "If another program has made it, export its tables as CSV files, as with sqlite3 -header -csv, and read these with heartwood import.",
      context: .init(path: path, storeType: .sqlite)
    )
  }

  private static func malformed(_ message: String, _ path: String?) -> PersistenceError {
    PersistenceError(.fileMalformed, message, context: .init(path: path, storeType: .sqlite))
  }
}

// MARK: Writing

extension SQLiteMetadata {
  /// Writes the metadata of a store whose records are of `model`. The caller must have begun a transaction.
  ///
  /// - Throws: ``PersistenceError/Code/valueUnsupported``, as ``list(of:)`` does.
  func write(to db: Database, model: ManagedObjectModel) throws {
    let list = Data(try list(of: model))
    let identifier = metadata.identifier.uuidString
    try db.execute(
      sql: "UPDATE Z_METADATA SET Z_UUID = ?, Z_PLIST = ? WHERE Z_VERSION = (SELECT min(Z_VERSION) FROM Z_METADATA)",
      arguments: [identifier, list]
    )
    guard db.changesCount == 0 else { return }
    try db.execute(
      sql: "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)",
      arguments: [identifier, list]
    )
  }

  /// Returns the property list of a store whose records are of `model`. The digest and the checksum of the hashes are
  /// computed again if the file has them.
  ///
  /// - Throws: ``PersistenceError/Code/valueUnsupported`` if the application uses a key that could be one of Core
  ///   Data's, or if the list could not be read again: a file whose metadata cannot be read does not open.
  func list(of model: ManagedObjectModel) throws -> [UInt8] {
    try Self.validate(metadata.userInfo)
    let members = try CoreDataMetadata.members(of: written, model: model, form: form)
    let list = try PropertyListData.binary(.dictionary(CoreDataMetadata.noting(.sqlite, in: members)))
    guard list.count <= Self.greatestLength else {
      throw PersistenceError(
        .valueUnsupported,
        "The metadata could not be read again, because they take more than \(Self.greatestLength) bytes.",
        recovery: "Keep less in them.",
        context: .init(storeType: .sqlite)
      )
    }
    return list
  }
}

// MARK: SQLiteCells

/// Reads the two cells of a file whose bytes have a format of their own, for trials with damaged bytes.
@_spi(Trials)
public enum SQLiteCells {
  /// Reads the metadata of a store, as they are in `Z_PLIST`.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed``.
  public static func readMetadata(_ bytes: [UInt8], path: String) throws {
    _ = try SQLiteMetadata(list: bytes, identifier: UUID(), path: path)
  }

  /// Reads the model of a store, as it is in `Z_CONTENT`.
  ///
  /// - Throws: ``PersistenceError/Code/fileMalformed``.
  public static func readModel(_ bytes: [UInt8], path: String) throws {
    _ = try SQLiteModelCache.model(bytes, path: path)
  }
}
