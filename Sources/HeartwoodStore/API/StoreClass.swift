public import HeartwoodModel

/// A class of stores that is registered without a separate format, for stores that need nothing but their options. It
/// implements the methods of ``FileFormat`` as static members.
///
///     final class JSONLinesStore: AtomicStore, StoreClass {
///       static let typeDescription = StoreTypeDescription(type: "JSONLines", …)
///       init(_ setup: StoreSetup) { … }
///       static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata { … }
///       …
///     }
///
///     try StoreRegistry.default.register(JSONLinesStore.self)
///
/// The class also conforms to ``AtomicStore`` or ``IncrementalStore``; registering it throws if it conforms to neither.
/// Only the description, the initializer and `readMetadata` have no defaults.
///
/// Stores of such a class are files, or have no place. If stores share a client, keys or anything else from the
/// application, or if they have other URLs, write a ``StoreFormat`` instead.
public protocol StoreClass: AnyObject, Sendable {
  /// The type string, the file names, and what the store can do. It must always return the same value.
  static var typeDescription: StoreTypeDescription { get }

  /// Creates a store for the entities of `setup`. It must not read a file yet. Before the call, the framework has
  /// checked the entities against the ``StoreCapabilities``.
  ///
  /// - Throws: an error that says why the store cannot keep this model.
  init(_ setup: StoreSetup) throws

  /// Whether stores of this class are never written: see ``StoreFormat/isReadOnly``.
  static var isReadOnly: Bool { get }

  /// Returns whether a file that begins with `prefix` is of this type: see ``FileFormat/recognizes(prefix:)``.
  static func recognizes(prefix: [UInt8]) -> Bool

  /// Reads the metadata without the records: see ``FileFormat/readMetadata(from:options:)``.
  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata

  /// Reads the model that the file contains: see ``FileFormat/readModel(from:options:)``.
  static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel?

  /// Returns the model in a file that may be damaged: see ``FileFormat/salvageModel(from:options:)``.
  static func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel?

  /// Infers a model for the records of a file: see ``FileFormat/inferModel(from:options:)``.
  static func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel?

  /// Reads the version of the file's format: see ``FileFormat/readFormatVersion(from:options:)``.
  static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String?

  /// Moves the contents of side files into the store's file: see ``FileFormat/checkpoint(storeAt:)``.
  static func checkpoint(storeAt path: String) throws

  /// Returns the paths of files that may be beside the store's file: see ``FileFormat/sideFiles(ofStoreAt:)``.
  static func sideFiles(ofStoreAt path: String) -> [String]

  /// Returns the path of the folder with further files of the store: see ``FileFormat/supportFolder(ofStoreAt:)``.
  static func supportFolder(ofStoreAt path: String) -> String?

  /// Copies a store as it is at one moment: see ``FileFormat/copyStore(at:to:)``.
  static func copyStore(at source: String, to path: String) throws

  /// Returns patches that set the metadata of a file: see ``AtomicStoreFormat/metadataPatches(_:in:options:)``.
  static func metadataPatches(
    _ metadata: StoreMetadata,
    in file: StoreInput,
    options: StoreOptions
  ) throws -> [FilePatch]?

  /// Returns options with which a new file gets the form of `file`: see ``FileFormat/options(_:keepingFormOf:_:)``.
  static func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions

  /// Returns what another program keeps in the file: see ``FileFormat/foreignContents(ofStoreAt:options:)``.
  static func foreignContents(ofStoreAt path: String, options: StoreOptions) throws -> ForeignContents

  /// Counts the records of a file without a model: see ``FileFormat/recordCounts(ofStoreAt:options:)``.
  static func recordCounts(ofStoreAt path: String, options: StoreOptions) throws -> RecordCounts?

  /// Whether models can be recovered from files: see ``FileFormat/recoversModels``.
  static var recoversModels: Bool { get }

  /// Makes a model from a file alone: see ``FileFormat/recoverModel(ofStoreAt:options:)``.
  static func recoverModel(ofStoreAt path: String, options: StoreOptions) throws -> RecoveredModel?

  /// Throws an error if a new store would lose some of `contents`: see ``IncrementalStoreFormat/check(_:for:)``.
  static func check(_ contents: StoreContents, for setup: StoreSetup) throws

  /// Whether a store can migrate its records itself: see ``IncrementalStoreFormat/migratesStores``.
  static var migratesStores: Bool { get }

  /// Creates a store of another model from a store: see ``IncrementalStoreFormat/migrateStore(_:from:to:)``.
  static func migrateStore(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport

  /// Returns what a migration would report: see ``IncrementalStoreFormat/foreseeMigration(_:from:to:)``.
  static func foreseeMigration(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport
}

extension StoreClass {
  /// Returns false: the option ``StoreOptionKey/isReadOnly`` decides whether a file can be written.
  public static var isReadOnly: Bool { false }

  /// Returns false: only the name of a file determines that it is of this type.
  public static func recognizes(prefix: [UInt8]) -> Bool { false }

  /// Returns nil: files of this type contain no model.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? { nil }

  /// Returns the result of `readModel(from:options:)`, and nil if that throws.
  public static func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel? {
    // try?: a model that cannot be read is not a sound one.
    try? readModel(from: file, options: options)
  }

  /// Returns nil: no model can be inferred.
  public static func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? { nil }

  /// Returns nil: the format has no versions.
  public static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? { nil }

  /// Does nothing: a store has one file only.
  public static func checkpoint(storeAt path: String) throws {}

  /// Returns no paths: a store has one file only.
  public static func sideFiles(ofStoreAt path: String) -> [String] { [] }

  /// Returns nil: a store has one file only.
  public static func supportFolder(ofStoreAt path: String) -> String? { nil }

  /// Copies the files of the support folder, and then the file. The copy is right only if no process saves meanwhile.
  public static func copyStore(at source: String, to path: String) throws {
    try SupportFolder.copyStore(at: source, to: path, supportFolder: supportFolder(ofStoreAt:))
  }

  /// Returns nil: the file is written as a whole.
  public static func metadataPatches(
    _ metadata: StoreMetadata,
    in file: StoreInput,
    options: StoreOptions
  ) throws -> [FilePatch]? { nil }

  /// Returns `options` unchanged: files have one form only.
  public static func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions { options }

  /// Returns empty contents: no other program uses the format.
  public static func foreignContents(ofStoreAt path: String, options: StoreOptions) throws -> ForeignContents {
    ForeignContents()
  }

  /// Returns nil: records cannot be counted without a model.
  public static func recordCounts(ofStoreAt path: String, options: StoreOptions) throws -> RecordCounts? { nil }

  /// Returns false: no model can be recovered.
  public static var recoversModels: Bool { false }

  /// Returns nil: no model can be recovered.
  public static func recoverModel(ofStoreAt path: String, options: StoreOptions) throws -> RecoveredModel? { nil }

  /// Accepts everything.
  public static func check(_ contents: StoreContents, for setup: StoreSetup) throws {}

  /// Returns false: records are migrated through memory.
  public static var migratesStores: Bool { false }

  /// Throws ``InStoreMigration/Obstacle``: records are migrated through memory.
  public static func migrateStore(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport { throw InStoreMigration.Obstacle.unsupported }

  /// Throws ``InStoreMigration/Obstacle``: records are migrated through memory.
  public static func foreseeMigration(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport { throw InStoreMigration.Obstacle.unsupported }
}

// MARK: ClassFormat

/// The format of a registered class: it forwards each call to the static members of the class.
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

extension StoreClass where Self: AtomicStore {
  /// The format of the class, for what takes a format instead of a class.
  public static var format: any AtomicStoreFormat { AtomicClassFormat(Self.self) }
}

extension StoreClass where Self: IncrementalStore {
  /// The format of the class, for what takes a format instead of a class, such as ``StorePlacement``.
  public static var format: any FileFormat & IncrementalStoreFormat { IncrementalClassFormat(Self.self) }
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
