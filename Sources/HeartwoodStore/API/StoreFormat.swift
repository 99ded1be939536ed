public import HeartwoodFoundation
public import HeartwoodModel

/// A store type: a value that an application creates with everything that its stores share, such as a client, keys or a
/// logger, and registers.
///
///     try StoreRegistry.default.register(RecordServiceFormat(client: client))
///
/// A format conforms to one of the two protocols that refine this one: ``AtomicStoreFormat`` if stores are loaded and
/// saved as whole files, ``IncrementalStoreFormat`` if single records are read and saved. A class whose stores need
/// nothing but their options can be registered without a format: ``StoreClass``.
public protocol StoreFormat: Sendable {
  /// The type string, the file names, the URL schemes, and what a store can do. It must always return the same value.
  var typeDescription: StoreTypeDescription { get }

  /// Whether stores of this type belong to another program. If true, no store is ever written, replaced or removed,
  /// whatever the options are.
  var isReadOnly: Bool { get }
}

extension StoreFormat {
  /// Returns false: the option ``StoreOptionKey/isReadOnly`` decides whether a store can be written.
  public var isReadOnly: Bool { false }
}

// MARK: FileFormat

/// A store type whose stores are files: what can be found out about a file without opening it as a store.
///
/// The methods that get a file read only what they need of it. They may be called on any thread.
public protocol FileFormat: StoreFormat {
  /// Returns whether a file that begins with `prefix` (up to 512 bytes) is of this type. It is called if the name of a
  /// file does not determine its type.
  func recognizes(prefix: [UInt8]) -> Bool

  /// Reads the metadata without the records. It is called each time that an atomic store is opened, before its records
  /// are loaded.
  ///
  /// - Throws: any error. When a store is opened, a ``PersistenceError`` without a path gets that of the file, and
  ///   another error is reported as ``PersistenceError/Code/fileMalformed``.
  func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata

  /// Reads the model that the file contains; returns nil if it contains none.
  func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel?

  /// Returns the model in a file that may be damaged; nil if the file has none, or if it cannot be read. By default,
  /// this is the result of ``readModel(from:options:)``, and nil if that throws.
  func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel?

  /// Infers a model for the records of a file that contains no model; returns nil if the file does not say enough.
  /// Names and types may differ from those of the model that the file was written with.
  func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel?

  /// Reads the version of the file's format, as people write it; returns nil if the format has no versions.
  func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String?

  /// Moves the contents of the side files of the store at `path` into the store's file, so that the file can be removed
  /// or replaced. The store is not open in this process.
  ///
  /// - Throws: an error if another process has the store open.
  func checkpoint(storeAt path: String) throws

  /// Returns the paths of files that may be beside the store's file at `path` while it is in use. They are moved and
  /// removed together with it.
  func sideFiles(ofStoreAt path: String) -> [String]

  /// Returns the path of the folder with further files of the store whose file is at `path`, whether or not the folder
  /// exists; nil if stores of this type have none.
  ///
  /// A file in the folder must never change, and must have a name that no other file gets. The framework can therefore
  /// add the files of a copy, or of a successor, to those that exist; it then removes the files that only the old store
  /// had.
  func supportFolder(ofStoreAt path: String) -> String?

  /// Copies the store at `source` as it is at one moment, byte by byte as far as possible, to a new store at `path`:
  /// the file and the support folder. All files get the permissions of the original, and are on the disk when the call
  /// returns. Other processes may use the store meanwhile.
  func copyStore(at source: String, to path: String) throws

  /// Returns options with which a new file gets the form of `file`, for formats whose files have several forms.
  /// Settings of the form in `options` are kept, unless a save over the file would follow the file.
  ///
  /// - Parameter setup: the setup with which `file` is opened.
  func options(_ options: StoreOptions, keepingFormOf file: StoreInput, _ setup: StoreSetup) throws -> StoreOptions

  /// Returns what another program keeps in the store's file at `path` for itself, and what would be lost if the file
  /// were replaced, for example by a migration in place.
  func foreignContents(ofStoreAt path: String, options: StoreOptions) throws -> ForeignContents

  /// Counts the records in the file at `path` without a model; returns nil if the format needs a model for that.
  /// O(rows).
  func recordCounts(ofStoreAt path: String, options: StoreOptions) throws -> RecordCounts?

  /// Whether ``recoverModel(ofStoreAt:options:)`` can return models. If true, a store can be opened with such a model
  /// (`ManagedObjectModel.isRecovered`) although its version hashes differ. The store must then refuse all changes.
  var recoversModels: Bool { get }

  /// Makes a model for the records in the file at `path` from the file alone; returns nil if the format cannot do that.
  /// It reads the whole file. O(records).
  func recoverModel(ofStoreAt path: String, options: StoreOptions) throws -> RecoveredModel?
}

extension FileFormat {
  /// Returns false: only the name of a file determines that it is of this type.
  public func recognizes(prefix: [UInt8]) -> Bool { false }

  /// Returns nil: files of this type contain no model.
  public func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? { nil }

  /// Returns the result of `readModel(from:options:)`, and nil if that throws.
  public func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel? {
    // try?: a model that cannot be read is not a sound one.
    try? readModel(from: file, options: options)
  }

  /// Returns nil: no model can be inferred.
  public func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? { nil }

  /// Returns nil: the format has no versions.
  public func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? { nil }

  /// Does nothing: a store has one file only.
  public func checkpoint(storeAt path: String) throws {}

  /// Returns no paths: a store has one file only.
  public func sideFiles(ofStoreAt path: String) -> [String] { [] }

  /// Returns nil: a store has one file only.
  public func supportFolder(ofStoreAt path: String) -> String? { nil }

  /// Copies the files of the support folder, and then the file. The copy is right only if no process saves meanwhile.
  public func copyStore(at source: String, to path: String) throws {
    try SupportFolder.copyStore(at: source, to: path, supportFolder: supportFolder(ofStoreAt:))
  }

  /// Returns `options` unchanged: files have one form only.
  public func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions { options }

  /// Returns empty contents: no other program uses the format.
  public func foreignContents(ofStoreAt path: String, options: StoreOptions) throws -> ForeignContents {
    ForeignContents()
  }

  /// Returns nil: records cannot be counted without a model.
  public func recordCounts(ofStoreAt path: String, options: StoreOptions) throws -> RecordCounts? { nil }

  /// Returns false: no model can be recovered.
  public var recoversModels: Bool { false }

  /// Returns nil: no model can be recovered.
  public func recoverModel(ofStoreAt path: String, options: StoreOptions) throws -> RecoveredModel? { nil }
}

/// What another program keeps in a store's file, and the framework does not read.
public struct ForeignContents: Sendable {
  /// The number of transactions in the other program's history.
  public let transactionCount: Int
  /// The reasons why the file must not be replaced by what the framework has read of it, in sentences; empty if it may
  /// be replaced.
  public let refusals: [String]

  /// Creates a description of what another program keeps in a file.
  public init(transactionCount: Int = 0, refusals: [String] = []) {
    self.transactionCount = transactionCount
    self.refusals = refusals
  }
}

/// The numbers of records in a store's file, counted without a model.
public struct RecordCounts: Sendable {
  /// The entities in the order of the file, with their numbers of records. A count is nil if the entity's table is
  /// missing.
  public var entities: [(name: String, count: Int?)] = []
  /// The number of rows whose entity the file does not list.
  public var strayCount = 0

  /// Creates counts without entities.
  public init() {}
}

/// A model that was made from the contents of a store's file.
public struct RecoveredModel: Sendable {
  /// The model. ``ManagedObjectModel/isRecovered`` is true.
  public let model: ManagedObjectModel
  /// What was guessed, and what could not be found out from the file, in sentences.
  public let notes: [String]

  /// Creates a recovered model.
  public init(model: ManagedObjectModel, notes: [String]) {
    self.model = model
    self.notes = notes
  }
}

// MARK: AtomicStoreFormat

/// A store type whose stores are loaded and saved as whole files. It creates each ``AtomicStore``.
///
///     struct SealedFormat: AtomicStoreFormat {
///       let keys: KeyRing
///       let typeDescription = StoreTypeDescription(type: "Sealed", …)
///
///       func makeStore(_ setup: StoreSetup) throws -> any AtomicStore { SealedStore(keys) }
///
///       func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata { … }
///     }
///
/// Only these members have no defaults.
public protocol AtomicStoreFormat: FileFormat {
  /// Creates a store for the entities of `setup`. It must not read the file yet. Before the call, the framework has
  /// checked the entities against the ``StoreCapabilities``.
  ///
  /// - Throws: an error that says why the store cannot keep this model.
  func makeStore(_ setup: StoreSetup) throws -> any AtomicStore

  /// Returns patches of a file that set its metadata to `metadata` and leave all else as it is; nil if that takes a new
  /// file.
  ///
  /// The framework writes the patches one after the other, each to the disk before the next, while it holds the file's
  /// lock. The process may end after any of them, or after a part of one has been written. A reader of the file must
  /// then find either the old metadata or the new metadata; the reader may be a store that has had the file open, and
  /// mapped, for a long time. A format that cannot guarantee this returns nil, as the default does: the file is then
  /// loaded and saved as a whole.
  func metadataPatches(
    _ metadata: StoreMetadata,
    in file: StoreInput,
    options: StoreOptions
  ) throws -> [FilePatch]?
}

extension AtomicStoreFormat {
  /// Returns nil: the file is written as a whole.
  public func metadataPatches(
    _ metadata: StoreMetadata,
    in file: StoreInput,
    options: StoreOptions
  ) throws -> [FilePatch]? { nil }
}

// MARK: IncrementalStoreFormat

/// A store type whose stores read and save single records. It creates each ``IncrementalStore``.
///
/// If its stores are files, it conforms to ``FileFormat``, too. If its stores have other URLs, with the schemes in
/// ``StoreTypeDescription/urlSchemes``, it may implement methods that describe, remove and replace a store without
/// opening it. If it does not, the framework opens the store to find out what it needs, or refuses the operation.
///
///     struct RecordServiceFormat: IncrementalStoreFormat {
///       let client: HTTPClient
///       let typeDescription = StoreTypeDescription(type: "RecordService", …, urlSchemes: ["https"], …)
///
///       func makeStore(_ setup: StoreSetup) throws -> any IncrementalStore { try RecordServiceStore(setup, client) }
///     }
///
/// Only these two members have no defaults.
public protocol IncrementalStoreFormat: StoreFormat {
  /// Creates a store for the entities of `setup`. It must not connect to anything yet. Before the call, the framework
  /// has checked the entities and the place against the ``StoreTypeDescription``.
  ///
  /// - Throws: an error that says why the store cannot keep this model, or what is wrong with the place.
  func makeStore(_ setup: StoreSetup) throws -> any IncrementalStore

  /// Reads the metadata of the store at a URL; returns nil if there is no store.
  ///
  /// - Throws: an error if the server does not answer. The default throws ``PersistenceError/Code/capabilityMissing``,
  ///   which means that the metadata can be read only from an open store.
  func readMetadata(at url: URL, options: StoreOptions) throws -> StoreMetadata?

  /// Reads the model that is kept with the store at a URL; returns nil if there is none. The default returns nil.
  func readModel(at url: URL, options: StoreOptions) throws -> ManagedObjectModel?

  /// Removes the store at a URL with all its records, completely or not at all.
  ///
  /// - Throws: an error if the store cannot be removed. The default throws ``PersistenceError/Code/capabilityMissing``,
  ///   which means that stores of this type cannot be removed by this program.
  func removeStore(at url: URL, options: StoreOptions) throws

  /// Returns a URL for a new store that will replace the one at `url`; nil if a store cannot replace another. The
  /// default returns nil. Each call must return another URL.
  func temporaryURL(for url: URL) throws -> URL?

  /// Moves the store at `temporary` to `url` in one step, and removes the store that was there.
  ///
  /// - Parameter replacing: whether there may be a store at `url`.
  /// - Throws: ``PersistenceError/Code/fileExists`` if there is a store at `url` and `replacing` is false. Both stores
  ///   are then unchanged. The default throws ``PersistenceError/Code/capabilityMissing``.
  func moveStore(at temporary: URL, to url: URL, replacing: Bool, options: StoreOptions) throws

  /// Throws an error if a new store of `setup` would lose some of `contents`. Nothing has been written yet, and the
  /// records have the references from the store that they come from. The default accepts everything.
  func check(_ contents: StoreContents, for setup: StoreSetup) throws

  /// Whether a store of this type can migrate its records to another model itself, without loading them into memory.
  var migratesStores: Bool { get }

  /// Creates the store of `destination`, which does not exist yet, from the records of `source`, which must not change.
  ///
  /// The new store must be the one that ``InStoreMigration/plan`` describes. If the store cannot create exactly that,
  /// or if records stand in the way, it throws ``InStoreMigration/Obstacle``. The framework then removes what was
  /// written and migrates the records through memory, which also counts all records that stand in the way.
  func migrateStore(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport

  /// Returns what ``migrateStore(_:from:to:)`` would report, or throws for the same reasons, and writes nothing.
  func foreseeMigration(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport
}

extension IncrementalStoreFormat {
  /// Returns false: records are migrated through memory.
  public var migratesStores: Bool { false }

  /// Throws ``InStoreMigration/Obstacle``: records are migrated through memory.
  public func migrateStore(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport { throw InStoreMigration.Obstacle.unsupported }

  /// Throws ``InStoreMigration/Obstacle``: records are migrated through memory.
  public func foreseeMigration(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport { throw InStoreMigration.Obstacle.unsupported }

  /// Throws ``PersistenceError/Code/capabilityMissing``: the metadata can be read only from an open store.
  public func readMetadata(at url: URL, options: StoreOptions) throws -> StoreMetadata? {
    throw lacks(
      "returns its metadata only when it is open",
      url,
      recovery: "Add it to a coordinator, and ask the store."
    )
  }

  /// Returns nil: no model is kept with the store.
  public func readModel(at url: URL, options: StoreOptions) throws -> ManagedObjectModel? { nil }

  /// Throws ``PersistenceError/Code/capabilityMissing``: stores of this type cannot be removed by this program.
  public func removeStore(at url: URL, options: StoreOptions) throws {
    throw lacks("is not removed by this program", url, recovery: "Remove it where it is kept.")
  }

  /// Returns nil: a store cannot replace another.
  public func temporaryURL(for url: URL) throws -> URL? { nil }

  /// Throws ``PersistenceError/Code/capabilityMissing``: a store cannot replace another.
  public func moveStore(at temporary: URL, to url: URL, replacing: Bool, options: StoreOptions) throws {
    throw lacks("cannot replace another store", url, recovery: "Choose another URL.")
  }

  /// Accepts everything.
  public func check(_ contents: StoreContents, for setup: StoreSetup) throws {}

  private func lacks(_ what: String, _ url: URL, recovery: PersistenceError.Recovery) -> PersistenceError {
    PersistenceError(
      .capabilityMissing,
      "A store of type \(typeDescription.type) \(what).",
      recovery: recovery,
      context: .init(path: StorePlace(url).description, storeType: typeDescription.type)
    )
  }
}
