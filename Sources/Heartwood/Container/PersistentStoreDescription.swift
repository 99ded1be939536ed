public import HeartwoodFoundation
public import HeartwoodStore

/// What a ``PersistentContainer`` opens: where a store is, of which type, and how.
///
///     PersistentStoreDescription()                        // the container's name, in its folder, as a binary file
///     PersistentStoreDescription(fileName: "list.csv")    // in its folder, of the type that the name tells
///     PersistentStoreDescription(url: url)
///     .inMemory
///
/// A store of an older version of the model is migrated when it is opened, unless ``shouldMigrateStoreAutomatically`` is set to false.
public struct PersistentStoreDescription: Sendable {
  /// The registered type; nil means that the file's name or content tells it, and where the name has no extension of a registered type, a
  /// binary store. So register ``StoreType/sqlite``'s store before `Notes.sqlite` is to be one, or give the type, which throws where it is not.
  public var type: StoreType?
  /// The file; nil for one called ``fileName`` in the container's folder, or for a store of a type without files.
  public var url: URL?
  /// What the file in the container's folder is called; nil means as the container. Without an extension of a registered type it gets that of
  /// its own.
  public var fileName: String?
  /// Where earlier versions of the application kept the file. The first that has it is where it stays, if the container's folder has
  /// none. `~/.<application>` is the last to be looked in, whether it is listed or not, unless the container was given a folder.
  public var formerDirectories: [URL] = []
  /// The configuration whose entities the store keeps; nil means all.
  public var configuration: String?
  /// How the store is opened.
  public var options: StoreOptions
  /// Whether a store that does not fit the model, and cannot be migrated to it, is deleted with all that it keeps, and a new one made.
  /// Off by default: the error tells.
  ///
  /// This is for caches that are filled anew. A damaged file is not deleted, nor one that does not tell its model, nor one that is only to be
  /// read, be it by the options or by its type.
  public var losesAllDataOnModelMismatch = false

  /// Describes a store.
  ///
  /// - Parameters:
  ///   - type: the registered type; nil means what the file tells, and a binary store where its name has no extension of a registered type.
  ///   - url: the file; nil for one in the container's folder, or for a store of a type without files.
  ///   - configuration: the configuration whose entities the store keeps; nil means all.
  ///   - options: how the store is opened. ``StoreOptionKey/shouldMigrateStoreAutomatically`` is on where they do not say otherwise.
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

  /// Describes a store whose file has a name of its own in the container's folder; its extension tells the type.
  public init(fileName: String, type: StoreType? = nil, configuration: String? = nil) {
    self.init(type: type, configuration: configuration)
    self.fileName = fileName
  }

  /// A store that lives as long as its container: for tests, and for what need not be kept.
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

  /// Whether that migration may be inferred where no mapping model is given for it. On by default.
  public var shouldInferMappingModelAutomatically: Bool {
    get { options[.shouldInferMappingModelAutomatically] }
    set { options[.shouldInferMappingModelAutomatically] = newValue }
  }

  /// Where a migration keeps the old file; nothing must stand there yet, but for a copy of just that file. Nil, which is the default, means
  /// nowhere.
  public var migrationBackupURL: URL? {
    get { options[.migrationBackupPath].map { URL(filePath: $0) } }
    set { options[.migrationBackupPath] = newValue?.path }
  }
}
