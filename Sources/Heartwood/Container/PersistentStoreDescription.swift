public import HeartwoodFoundation
public import HeartwoodStore

/// Describes a store for a ``PersistentContainer``: its place, its type and the options to open it with.
///
///     PersistentStoreDescription()                        // the container's name, in its folder, as a binary file
///     PersistentStoreDescription(fileName: "list.csv")    // in its folder, of the type of its extension
///     PersistentStoreDescription(url: url)
///     .inMemory
///
/// A store of an older version of the model is migrated when it is opened, unless ``shouldMigrateStoreAutomatically``
/// is set to false.
public struct PersistentStoreDescription: Sendable {
  /// The registered type. Nil means that the file's name or content determines it, or a binary store if the name has no
  /// extension of a registered type. So register the store of ``StoreType/sqlite`` before you open `Notes.sqlite`, or
  /// set the type: opening a store of a type that is not registered throws.
  public var type: StoreType?
  /// The file. Nil means the file called ``fileName`` in the container's folder, or a store of a type without files.
  public var url: URL?
  /// The name of the file in the container's folder; nil means the name of the container. If the name has no extension
  /// of a registered type, the extension of the store's type is added.
  public var fileName: String?
  /// The folders in which earlier versions of the application kept the file. If the container's folder does not have
  /// the file, the first of these that has it is used, and the file stays there. Unless the container was given a
  /// folder, `~/.<application>` is searched last, whether it is listed or not.
  public var formerDirectories: [URL] = []
  /// The configuration whose entities the store keeps; nil means all entities.
  public var configuration: String?
  /// How the store is opened.
  public var options: StoreOptions
  /// Whether a store that does not fit the model and cannot be migrated is deleted with all its records and replaced by
  /// a new one. Off by default, so that opening such a store throws.
  ///
  /// Turn it on for caches that can be filled again. A file is never deleted if it is damaged, if it does not say which
  /// model it was written with, or if it is opened for reading only, because of the options or of its type.
  public var losesAllDataOnModelMismatch = false

  /// Describes a store.
  ///
  /// - Parameters:
  ///   - type: the registered type. Nil means that the file determines it, or a binary store if the file's name has no
  ///     extension of a registered type.
  ///   - url: the file. Nil means a file in the container's folder, or a store of a type without files.
  ///   - configuration: the configuration whose entities the store keeps; nil means all entities.
  ///   - options: the options to open the store with. ``StoreOptionKey/shouldMigrateStoreAutomatically`` is on unless
  ///     they set it.
  public init(
    type: StoreType? = nil,
    url: URL? = nil,
    configuration: String? = nil,
    options: StoreOptions = StoreOptions()
  ) {
    self.type = type
    self.url = url
    self.configuration = configuration
    self.options = options
    if !options.isSet(.shouldMigrateStoreAutomatically) { self.options[.shouldMigrateStoreAutomatically] = true }
  }

  /// Describes a store whose file in the container's folder is called `fileName`. If `type` is nil, the extension
  /// determines the type.
  public init(fileName: String, type: StoreType? = nil, configuration: String? = nil) {
    self.init(type: type, configuration: configuration)
    self.fileName = fileName
  }

  /// A store in memory that lives as long as its container: for tests, and for objects that need not be kept.
  public static var inMemory: PersistentStoreDescription { PersistentStoreDescription(type: .inMemory) }
}

extension PersistentStoreDescription {
  /// Whether the store is opened for reading only.
  public var isReadOnly: Bool {
    get { options[.isReadOnly] }
    set { options[.isReadOnly] = newValue }
  }

  /// Whether a store of another version of the model is migrated when it is opened. On by default.
  public var shouldMigrateStoreAutomatically: Bool {
    get { options[.shouldMigrateStoreAutomatically] }
    set { options[.shouldMigrateStoreAutomatically] = newValue }
  }

  /// Whether a migration is inferred if no mapping model is given for it. On by default.
  public var shouldInferMappingModelAutomatically: Bool {
    get { options[.shouldInferMappingModelAutomatically] }
    set { options[.shouldInferMappingModelAutomatically] = newValue }
  }

  /// The place where a migration keeps a copy of the old file. No other file may exist there, except a copy of the same
  /// file. Nil, the default, keeps no copy.
  public var migrationBackupURL: URL? {
    get { options[.migrationBackupPath].map { URL(filePath: $0) } }
    set { options[.migrationBackupPath] = newValue?.path }
  }
}
