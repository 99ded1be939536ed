public import HeartwoodFoundation
public import HeartwoodModel

/// A kind of store: a value that an application makes, with all that its stores share, such as a client, keys or a logger, and registers.
///
///     try StoreRegistry.default.register(RecordServiceFormat(client: client))
///
/// A format conforms to one of the two protocols that refine this: ``AtomicStoreFormat``, if the whole file is loaded and saved, or
/// ``IncrementalStoreFormat``, if records are. A class whose stores need nothing but their options can be its own format: ``StoreClass``.
public protocol StoreFormat: Sendable {
  /// The type string, the names of files, the schemes of URLs, and what a store can do. It stays the same.
  var typeDescription: StoreTypeDescription { get }

  /// Whether stores of this type belong to somebody else: none is ever written, replaced or removed, whatever the options say.
  var isReadOnly: Bool { get }
}

extension StoreFormat {
  /// False: the options tell whether a store is only to be read.
  public var isReadOnly: Bool { false }
}

// MARK: FileFormat

/// A kind of store that is a file: what can be told of a file without opening it as a store.
///
/// Methods that are asked about a file read from it as they need, and are called on whatever thread.
public protocol FileFormat: StoreFormat {
  /// Whether a file that begins with `prefix` (up to 512 bytes) is one of these. Asked if the name of a file does not tell.
  func recognizes(prefix: [UInt8]) -> Bool

  /// Reads the metadata without the records.
  func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata

  /// The model that is kept in the file, or nil if there is none.
  func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel?

  /// The model in a file that may be damaged, or nil if the file has none, or not a sound one. By default it is what
  /// ``readModel(from:options:)`` returns, and nil if that throws.
  func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel?

  /// A model that the records of a file without one would fit, made of what the file tells, or nil if it does not tell enough. Names
  /// and types may differ from those of the model that the file was written with.
  func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel?

  /// The version of the file's format, as people call it, or nil if the format has no versions.
  func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String?

  /// Brings what lies beside the store's file at `path` into it, so that the file can be removed or replaced. The store is not open in this
  /// process.
  ///
  /// - Throws: an error if somebody else has it open.
  func checkpoint(storeAt path: String) throws

  /// The paths of files that may lie beside the store's file at `path` while it is in use: they go with it.
  func sideFiles(ofStoreAt path: String) -> [String]

  /// The path of the folder that holds more of the store whose file is at `path`, whether or not it is there; nil if stores of this
  /// type have none.
  ///
  /// A file in it never changes, and has a name that no other file gets. So the framework can bring the files of a copy, or of a
  /// successor, in beside those that are there; it removes those that only the old store had.
  func supportFolder(ofStoreAt path: String) -> String?

  /// Writes the store at `source` as it is at one moment, byte by byte as far as that can be, as a new store at `path`: the file, and the
  /// support folder. All of it has the permissions of the original, and is on the disk when the call returns. Others may use the store
  /// meanwhile.
  func copyStore(at source: String, to path: String) throws

  /// Returns the options with which a new file gets the form of `file`, for formats whose files have several forms. What `options` says of the
  /// form stays, unless a save over the file would follow the file.
  ///
  /// - Parameter setup: the setup with which `file` is opened.
  func options(_ options: StoreOptions, keepingFormOf file: StoreInput, _ setup: StoreSetup) throws -> StoreOptions

  /// Returns what another program keeps in the store's file at `path` for itself. A migration in place, and whatever else replaces the file,
  /// would lose it.
  func foreignContents(ofStoreAt path: String, options: StoreOptions) throws -> ForeignContents

  /// Returns the numbers of records in the file at `path`, counted without a model; nil if the format needs a model for that. O(rows).
  func recordCounts(ofStoreAt path: String, options: StoreOptions) throws -> RecordCounts?

  /// Whether ``recoverModel(ofStoreAt:options:)`` makes models. If true, a store can be opened with such a model
  /// (`ManagedObjectModel.isRecovered`) though its version hashes differ. It then has to refuse all changes.
  var recoversModels: Bool { get }

  /// Returns a model of the records in the file at `path`, made of what the file tells of them; nil if the format cannot. It reads the whole
  /// file. O(records).
  func recoverModel(ofStoreAt path: String, options: StoreOptions) throws -> RecoveredModel?
}

extension FileFormat {
  /// False: only the name of a file tells.
  public func recognizes(prefix: [UInt8]) -> Bool { false }

  /// Nil: files of this type hold no model.
  public func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? { nil }

  /// What the file's model is, if it can be read.
  public func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel? {
    // try?: a model that cannot be read is not a sound one.
    try? readModel(from: file, options: options)
  }

  /// Nil: the file does not tell enough.
  public func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? { nil }

  /// Nil: the format has no versions.
  public func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? { nil }

  /// Does nothing: the file alone is the store.
  public func checkpoint(storeAt path: String) throws {}

  /// None: the file alone is the store.
  public func sideFiles(ofStoreAt path: String) -> [String] { [] }

  /// Nil: the file alone is the store.
  public func supportFolder(ofStoreAt path: String) -> String? { nil }

  /// Copies the support folder's files and then the file, which is right if nobody saves meanwhile.
  public func copyStore(at source: String, to path: String) throws {
    try SupportFolder.copyStore(at: source, to: path, supportFolder: supportFolder(ofStoreAt:))
  }

  /// The options as they are: files have one form.
  public func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions { options }

  /// Nothing: the format is nobody else's.
  public func foreignContents(ofStoreAt path: String, options: StoreOptions) throws -> ForeignContents {
    ForeignContents()
  }

  /// Nil: counting takes a model.
  public func recordCounts(ofStoreAt path: String, options: StoreOptions) throws -> RecordCounts? { nil }

  /// False: files do not tell enough.
  public var recoversModels: Bool { false }

  /// Nil: files do not tell enough.
  public func recoverModel(ofStoreAt path: String, options: StoreOptions) throws -> RecoveredModel? { nil }
}

/// What another program keeps in a store's file that the framework does not read.
public struct ForeignContents: Sendable {
  /// The number of transactions in the other program's history.
  public let transactionCount: Int
  /// Why the file must not be replaced by what is read of it, in sentences; empty if it may be.
  public let refusals: [String]

  /// Describes what a file holds.
  public init(transactionCount: Int = 0, refusals: [String] = []) {
    self.transactionCount = transactionCount
    self.refusals = refusals
  }
}

/// The numbers of records in a store's file, counted without a model.
public struct RecordCounts: Sendable {
  /// The entities in the order of the file, with their numbers of records. A count is nil if the entity's table is missing.
  public var entities: [(name: String, count: Int?)] = []
  /// The number of rows whose entity the file does not list.
  public var strayCount = 0

  /// No entities.
  public init() {}
}

/// A model that was made of what a store's file tells of its records.
public struct RecoveredModel: Sendable {
  /// The model. ``ManagedObjectModel/isRecovered`` is true.
  public let model: ManagedObjectModel
  /// What was guessed, and what the file does not tell, in sentences.
  public let notes: [String]

  /// Makes a recovered model.
  public init(model: ManagedObjectModel, notes: [String]) {
    self.model = model
    self.notes = notes
  }
}

// MARK: AtomicStoreFormat

/// A kind of store whose whole file is loaded and saved. It makes each ``AtomicStore``.
public protocol AtomicStoreFormat: FileFormat {
  /// Makes a store that will keep the entities of `setup`. The file is not read yet.
  ///
  /// - Throws: an error that says why such a model cannot be kept.
  func makeStore(_ setup: StoreSetup) throws -> any AtomicStore

  /// What to write over parts of a file so that it tells `metadata` and all else stays as it is; nil if only a new file can.
  ///
  /// The framework writes one patch after the other, each on the disk before the next, while it holds the file's lock. The process may end
  /// after any of them, or when a part of one has been written: whoever reads the file then must find the old metadata or the new ones,
  /// and may be a store that has the file open, and mapped, for long. A format that cannot promise that returns nil, as the default does,
  /// and the file is loaded and saved as a whole.
  func metadataPatches(
    _ metadata: StoreMetadata,
    in file: StoreInput,
    options: StoreOptions
  ) throws -> [FilePatch]?
}

extension AtomicStoreFormat {
  /// Nil: the file is written as a whole.
  public func metadataPatches(
    _ metadata: StoreMetadata,
    in file: StoreInput,
    options: StoreOptions
  ) throws -> [FilePatch]? { nil }
}

// MARK: IncrementalStoreFormat

/// A kind of store whose records are read and saved piecemeal. It makes each ``IncrementalStore``.
///
/// If its stores are files, it is a ``FileFormat`` too. If they are at other URLs, whose schemes ``StoreTypeDescription/urlSchemes`` names, it
/// may tell of such a store without opening it, and put one in the place of another. What it does not tell, the framework learns by opening
/// the store; what it cannot do is refused.
public protocol IncrementalStoreFormat: StoreFormat {
  /// Makes a store that will keep the entities of `setup`. It connects to nothing yet.
  ///
  /// - Throws: an error that says why such a model cannot be kept, or what is wrong with the place.
  func makeStore(_ setup: StoreSetup) throws -> any IncrementalStore

  /// Reads the metadata of the store at a URL; nil if there is no store.
  ///
  /// - Throws: an error if nobody answers there, and, as the default does, ``PersistenceError/Code/capabilityMissing`` if only an open store
  ///   tells.
  func readMetadata(at url: URL, options: StoreOptions) throws -> StoreMetadata?

  /// The model that is kept with the store at a URL; nil, as by default, if there is none.
  func readModel(at url: URL, options: StoreOptions) throws -> ManagedObjectModel?

  /// Removes the store at a URL, with all its records, at once or not at all.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing``, as the default does, if stores of the type are not removed from here.
  func removeStore(at url: URL, options: StoreOptions) throws

  /// A URL at which a store can be made that is to take the place of the one at `url`; nil, as by default, if no store can take the place of
  /// another. Each call returns another one.
  func temporaryURL(for url: URL) throws -> URL?

  /// Gives the store at `temporary` the place at `url`, in one step, and removes the one that was there.
  ///
  /// - Parameter replacing: whether there may be a store at `url`. If there is one and there must be none, it throws
  ///   ``PersistenceError/Code/fileExists``, and both stores are as they were.
  func moveStore(at temporary: URL, to url: URL, replacing: Bool, options: StoreOptions) throws

  /// Refuses `contents` if a new store of `setup` would lose some of it. Nothing has been written yet, and the records have the references
  /// that they had in the store that they come from.
  func check(_ contents: StoreContents, for setup: StoreSetup) throws

  /// Whether a store of this type can make its successor of another model itself, so that its records do not go through memory.
  var migratesStores: Bool { get }

  /// Makes the store of `destination`, where nothing is yet, of the records of `source`, which stays as it is.
  ///
  /// The new store has to be the one that ``InStoreMigration/plan`` describes. If the store cannot make just that, or if records stand in the
  /// way, it throws ``InStoreMigration/Obstacle``: what it has written is removed then, and the records are migrated through memory, which also
  /// counts what stands in the way.
  func migrateStore(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport

  /// Returns what ``migrateStore(_:from:to:)`` would report, or throws for the same reasons, and makes nothing.
  func foreseeMigration(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport
}

extension IncrementalStoreFormat {
  /// False: records are migrated through memory.
  public var migratesStores: Bool { false }

  /// Throws: records are migrated through memory.
  public func migrateStore(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport { throw InStoreMigration.Obstacle.unsupported }

  /// Throws: records are migrated through memory.
  public func foreseeMigration(
    _ migration: InStoreMigration,
    from source: StoreSetup,
    to destination: StoreSetup
  ) throws -> MigrationReport { throw InStoreMigration.Obstacle.unsupported }

  /// Throws: only an open store tells its metadata.
  public func readMetadata(at url: URL, options: StoreOptions) throws -> StoreMetadata? {
    throw lacks("tells its metadata only when it is open", url, recovery: "Add it to a coordinator, and ask the store.")
  }

  /// Nil: no model is kept with the store.
  public func readModel(at url: URL, options: StoreOptions) throws -> ManagedObjectModel? { nil }

  /// Throws: stores of this type are not removed from here.
  public func removeStore(at url: URL, options: StoreOptions) throws {
    throw lacks("is not removed by this program", url, recovery: "Remove it where it is kept.")
  }

  /// Nil: no store can take the place of another.
  public func temporaryURL(for url: URL) throws -> URL? { nil }

  /// Throws: no store can take the place of another.
  public func moveStore(at temporary: URL, to url: URL, replacing: Bool, options: StoreOptions) throws {
    throw lacks("cannot take the place of another", url, recovery: "Choose another URL.")
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
