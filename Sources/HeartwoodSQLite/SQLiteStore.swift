public import HeartwoodModel
public import HeartwoodStore
import Synchronization

/// Core Data's own SQLite files: an application's files are opened, read, edited and saved as they are.
///
/// Changes are written row by row, in a transaction that is on the disk when the save returns. Other processes may have the file open at
/// the same time; what they save shows with the next fetch. A file that Core Data keeps a history in, mirrors to CloudKit, or keeps
/// derived attributes in by triggers, can be read, and is refused for writing with the reason.
///
/// `Formats/SQLite/README.md` in the repository says what is read and written.
public final class SQLiteStore: IncrementalStore {
  /// What is kept how: all attribute types, decimal numbers as long as a real holds them.
  public static let typeDescription = StoreTypeDescription(
    type: .sqlite,
    displayName: "SQLite",
    fileExtensions: ["sqlite", "sqlite3", "db"],
    mimeTypes: ["application/vnd.sqlite3"],
    capabilities: StoreCapabilities(
      kind: .incremental,
      isPersistent: true,
      maximumEntityCount: nil,
      attributeTypes: Set(AttributeType.allCases),
      supportsRelationships: true,
      referenceKinds: [.integer],
      supportsUserMetadata: true,
      embedsModel: true,
      supportsHistory: false
    )
  )

  let setup: StoreSetup
  let path: String
  let connection = Mutex<Connection?>(nil)
  /// The last number that a state was given which nobody can tell: far from those of SQLite, and each less than the one before.
  let leastUnknownMark = Atomic<UInt64>(.max)
  /// Keys that were taken from the file for records to come, by the number of the topmost entity.
  let reservedKeys = Mutex<[Int: Range<Int64>]>([:])
  /// The files with large data that saves have replaced, and that are still there.
  let replacedFiles = Mutex<[String: Int]>([:])
  /// The files with large data that could not be read.
  let missingFiles = MissingFiles()
  /// What the transaction that is under way does to the files with large data.
  let externals: ExternalChanges

  /// Makes a store that has a file.
  public init(_ setup: StoreSetup) throws {
    guard let path = setup.path else {
      throw PersistenceError(
        .fileNotFound,
        "An SQLite store has a file.",
        recovery: "Add it with a location.",
        context: .init(storeType: .sqlite)
      )
    }
    self.setup = setup
    self.path = path
    externals = ExternalChanges(ExternalFiles(ofStoreAt: path))
  }
}

// MARK: Without opening

extension SQLiteStore {
  /// True: the key of the record at one end, or a row of both keys, is all that there is.
  public static var keepsInversesTogether: Bool { true }

  /// Whether it is an SQLite database; whether it is Core Data's shows when it is read.
  public static func recognizes(prefix: [UInt8]) -> Bool { prefix.starts(with: Array("SQLite format 3\0".utf8)) }

  /// Reads the metadata without the records.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try SQLiteFile.inspect(atPath: file.path, options: options) { db in
      try SQLiteMetadata.read(from: db, path: file.path).metadata
    }
  }

  /// The model that Heartwood, or else Core Data, has put into the file.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try model(atPath: file.path, options: options)
  }

  /// The version of the framework that wrote the file, as it calls itself.
  public static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? {
    try SQLiteFile.inspect(atPath: file.path, options: options) { db in
      let members = try SQLiteMetadata.read(from: db, path: file.path).frameworkMembers
      guard case .integer(let version) = members["NSPersistenceFrameworkVersion"] else { return nil }
      return "Core Data \(version)"
    }
  }
}
