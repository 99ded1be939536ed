public import HeartwoodModel

/// A class of stores that is registered by itself, for stores that need nothing but their options: what a ``FileFormat`` tells, it tells by
/// static members.
///
///     final class JSONLinesStore: AtomicStore, StoreClass { … }
///
///     try StoreRegistry.default.register(JSONLinesStore.self)
///
/// Stores of such a class are files, or without a place. If they share a client, keys or anything else that an application gives them, or
/// are at other URLs, write a ``StoreFormat``.
public protocol StoreClass: AnyObject, Sendable {
  /// The type string, the names of files, and what the store can do.
  static var typeDescription: StoreTypeDescription { get }

  /// Makes a store that will keep the entities of `setup`.
  ///
  /// - Throws: an error that says why such a model cannot be kept.
  init(_ setup: StoreSetup) throws

  /// ``StoreFormat/isReadOnly``.
  static var isReadOnly: Bool { get }

  /// ``FileFormat/recognizes(prefix:)``.
  static func recognizes(prefix: [UInt8]) -> Bool

  /// ``FileFormat/readMetadata(from:options:)``.
  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata

  /// ``FileFormat/readModel(from:options:)``.
  static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel?

  /// ``FileFormat/salvageModel(from:options:)``.
  static func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel?

  /// ``FileFormat/inferModel(from:options:)``.
  static func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel?

  /// ``FileFormat/readFormatVersion(from:options:)``.
  static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String?

  /// ``FileFormat/checkpoint(storeAt:)``.
  static func checkpoint(storeAt path: String) throws

  /// ``FileFormat/sideFiles(ofStoreAt:)``.
  static func sideFiles(ofStoreAt path: String) -> [String]

  /// ``FileFormat/supportFolder(ofStoreAt:)``.
  static func supportFolder(ofStoreAt path: String) -> String?

  /// ``FileFormat/copyStore(at:to:)``.
  static func copyStore(at source: String, to path: String) throws

  /// ``AtomicStoreFormat/metadataPatches(_:in:options:)``.
  static func metadataPatches(
    _ metadata: StoreMetadata,
    in file: StoreInput,
    options: StoreOptions
  ) throws -> [FilePatch]?

  /// ``FileFormat/options(_:keepingFormOf:_:)``.
  static func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions

  /// ``FileFormat/foreignContents(ofStoreAt:options:)``.
  static func foreignContents(ofStoreAt path: String, options: StoreOptions) throws -> ForeignContents

  /// ``FileFormat/recordCounts(ofStoreAt:options:)``.
  static func recordCounts(ofStoreAt path: String, options: StoreOptions) throws -> RecordCounts?

  /// ``FileFormat/recoversModels``.
  static var recoversModels: Bool { get }

  /// ``FileFormat/recoverModel(ofStoreAt:options:)``.
  static func recoverModel(ofStoreAt path: String, options: StoreOptions) throws -> RecoveredModel?

  /// ``IncrementalStoreFormat/check(_:for:)``.
  static func check(_ contents: StoreContents, for setup: StoreSetup) throws

  /// ``IncrementalStoreFormat/migratesStores``.
  static var migratesStores: Bool { get }

  /// ``IncrementalStoreFormat/migrateStore(_:from:to:)``.
  static func migrateStore(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport

  /// ``IncrementalStoreFormat/foreseeMigration(_:from:to:)``.
  static func foreseeMigration(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport
}

extension StoreClass {
  /// False: the options tell whether a file is only to be read.
  public static var isReadOnly: Bool { false }

  /// False: only the name of a file tells.
  public static func recognizes(prefix: [UInt8]) -> Bool { false }

  /// Nil: files of this type hold no model.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? { nil }

  /// What the file's model is, if it can be read.
  public static func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel? {
    // try?: a model that cannot be read is not a sound one.
    try? readModel(from: file, options: options)
  }

  /// Nil: the file does not tell enough.
  public static func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? { nil }

  /// Nil: the format has no versions.
  public static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? { nil }

  /// Does nothing: the file alone is the store.
  public static func checkpoint(storeAt path: String) throws {}

  /// None: the file alone is the store.
  public static func sideFiles(ofStoreAt path: String) -> [String] { [] }

  /// Nil: the file alone is the store.
  public static func supportFolder(ofStoreAt path: String) -> String? { nil }

  /// Copies the support folder's files and then the file, which is right if nobody saves meanwhile.
  public static func copyStore(at source: String, to path: String) throws {
    try SupportFolder.copyStore(at: source, to: path, supportFolder: supportFolder(ofStoreAt:))
  }

  /// Nil: the file is written as a whole.
  public static func metadataPatches(
    _ metadata: StoreMetadata,
    in file: StoreInput,
    options: StoreOptions
  ) throws -> [FilePatch]? { nil }

  /// The options as they are: files have one form.
  public static func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions { options }

  /// Nothing: the format is nobody else's.
  public static func foreignContents(ofStoreAt path: String, options: StoreOptions) throws -> ForeignContents {
    ForeignContents()
  }

  /// Nil: counting takes a model.
  public static func recordCounts(ofStoreAt path: String, options: StoreOptions) throws -> RecordCounts? { nil }

  /// False: files do not tell enough.
  public static var recoversModels: Bool { false }

  /// Nil: files do not tell enough.
  public static func recoverModel(ofStoreAt path: String, options: StoreOptions) throws -> RecoveredModel? { nil }

  /// Accepts everything.
  public static func check(_ contents: StoreContents, for setup: StoreSetup) throws {}

  /// False: records are migrated through memory.
  public static var migratesStores: Bool { false }

  /// Throws: records are migrated through memory.
  public static func migrateStore(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport { throw InStoreMigration.Obstacle.unsupported }

  /// Throws: records are migrated through memory.
  public static func foreseeMigration(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport { throw InStoreMigration.Obstacle.unsupported }
}

// MARK: ClassFormat

/// The format that a class is by itself.
package protocol ClassFormat: FileFormat {
  var registeredClass: any StoreClass.Type { get }
}

extension ClassFormat {
  package var typeDescription: StoreTypeDescription { registeredClass.typeDescription }
  package var isReadOnly: Bool { registeredClass.isReadOnly }

  package func recognizes(prefix: [UInt8]) -> Bool { registeredClass.recognizes(prefix: prefix) }

  package func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try registeredClass.readMetadata(from: file, options: options)
  }

  package func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try registeredClass.readModel(from: file, options: options)
  }

  package func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel? {
    registeredClass.salvageModel(from: file, options: options)
  }

  package func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try registeredClass.inferModel(from: file, options: options)
  }

  package func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? {
    try registeredClass.readFormatVersion(from: file, options: options)
  }

  package func checkpoint(storeAt path: String) throws { try registeredClass.checkpoint(storeAt: path) }
  package func sideFiles(ofStoreAt path: String) -> [String] { registeredClass.sideFiles(ofStoreAt: path) }
  package func supportFolder(ofStoreAt path: String) -> String? { registeredClass.supportFolder(ofStoreAt: path) }
  package func copyStore(at source: String, to path: String) throws {
    try registeredClass.copyStore(at: source, to: path)
  }

  package func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions {
    try registeredClass.options(options, keepingFormOf: file, setup)
  }

  package func foreignContents(ofStoreAt path: String, options: StoreOptions) throws -> ForeignContents {
    try registeredClass.foreignContents(ofStoreAt: path, options: options)
  }

  package func recordCounts(ofStoreAt path: String, options: StoreOptions) throws -> RecordCounts? {
    try registeredClass.recordCounts(ofStoreAt: path, options: options)
  }

  package var recoversModels: Bool { registeredClass.recoversModels }
  package func recoverModel(ofStoreAt path: String, options: StoreOptions) throws -> RecoveredModel? {
    try registeredClass.recoverModel(ofStoreAt: path, options: options)
  }
}

/// The format of a class of atomic stores.
package struct AtomicClassFormat: AtomicStoreFormat, ClassFormat {
  private let atomicClass: any (AtomicStore & StoreClass).Type
  package var registeredClass: any StoreClass.Type { atomicClass }

  package init(_ storeClass: any (AtomicStore & StoreClass).Type) {
    atomicClass = storeClass
  }

  package func makeStore(_ setup: StoreSetup) throws -> any AtomicStore { try atomicClass.init(setup) }

  package func metadataPatches(
    _ metadata: StoreMetadata,
    in file: StoreInput,
    options: StoreOptions
  ) throws -> [FilePatch]? {
    try atomicClass.metadataPatches(metadata, in: file, options: options)
  }
}

/// The format of a class of incremental stores.
package struct IncrementalClassFormat: IncrementalStoreFormat, ClassFormat {
  private let incrementalClass: any (IncrementalStore & StoreClass).Type
  package var registeredClass: any StoreClass.Type { incrementalClass }

  package init(_ storeClass: any (IncrementalStore & StoreClass).Type) {
    incrementalClass = storeClass
  }

  package func makeStore(_ setup: StoreSetup) throws -> any IncrementalStore { try incrementalClass.init(setup) }

  package func check(_ contents: StoreContents, for setup: StoreSetup) throws {
    try incrementalClass.check(contents, for: setup)
  }

  package var migratesStores: Bool { incrementalClass.migratesStores }

  package func migrateStore(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport {
    try incrementalClass.migrateStore(migration, from: source, to: destination)
  }

  package func foreseeMigration(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport {
    try incrementalClass.foreseeMigration(migration, from: source, to: destination)
  }
}

extension StoreFormat {
  /// The class that is its own format; nil for another format.
  package var storeClass: (any StoreClass.Type)? { (self as? any ClassFormat)?.registeredClass }
}
