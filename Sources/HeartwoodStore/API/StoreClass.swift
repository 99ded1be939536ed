public import HeartwoodModel

/// What every kind of store tells about itself before one is open. It is registered in a ``StoreRegistry``.
///
/// A store is written against one of the two protocols that refine this: ``AtomicStore`` or ``IncrementalStore``.
public protocol StoreClass: AnyObject, Sendable {
  /// The type string, the names of files, and what the store can do.
  static var typeDescription: StoreTypeDescription { get }

  /// Whether a file that begins with `prefix` (up to 512 bytes) is one of these. Asked when the name of a file does not tell.
  static func recognizes(prefix: [UInt8]) -> Bool

  /// Reads the metadata without the records.
  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata

  /// The model that is kept in the file, or nil where there is none.
  static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel?

  /// A model that the records of a file without one would fit, made of what the file tells, or nil where it does not tell enough. Names
  /// and types may differ from those of the model that the file was written with.
  static func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel?

  /// The version of the file's format, as people call it, or nil where the format has no versions.
  static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String?

  /// Whether files of this type belong to somebody else: none is ever written, replaced or removed, whatever the options say.
  static var isReadOnly: Bool { get }

  /// Makes a store that will keep the entities of `setup`.
  ///
  /// - Throws: an error that says why such a model cannot be kept.
  init(_ setup: StoreSetup) throws
}

extension StoreClass {
  /// False: only the name of a file tells.
  public static func recognizes(prefix: [UInt8]) -> Bool { false }

  /// Nil: files of this type hold no model.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? { nil }

  /// Nil: the file does not tell enough.
  public static func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? { nil }

  /// Nil: the format has no versions.
  public static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? { nil }

  /// False: the options tell whether a file is only to be read.
  public static var isReadOnly: Bool { false }
}

/// What a store is made for.
public struct StoreSetup: Sendable {
  /// The model whose records the store keeps.
  public let model: ManagedObjectModel
  /// The configuration whose entities the store keeps; nil means all.
  public let configurationName: String?
  /// The entities of the configuration, in the order of the model.
  public let entities: [EntityDescription]
  /// The path of the store's file, or nil for one without.
  public let path: String?
  /// The settings that the store is opened with.
  public let options: StoreOptions

  package init(
    model: ManagedObjectModel,
    configurationName: String?,
    entities: [EntityDescription],
    path: String?,
    options: StoreOptions
  ) {
    self.model = model
    self.configurationName = configurationName
    self.entities = entities
    self.path = path
    self.options = options
  }
}

// MARK: StoreFileState

/// What has become of a store's file since the store was opened or last saved: ``PersistentStore/fileState()``.
public enum StoreFileState: Sendable, Hashable {
  /// There is no file yet: the first save makes it. Stores without files are always so.
  case absent
  /// The file is as it was.
  case unchanged
  /// Somebody else has written the file, or another file stands in its place. Saving throws
  /// ``PersistenceError/Code/fileChangedOnDisk``: open it again, or save somewhere else.
  case changed
  /// The file has another name now. Saving throws ``PersistenceError/Code/fileChangedOnDisk`` until the store is told the new place,
  /// as `PersistentStoreCoordinator.setURL(_:for:)` does.
  case moved(path: String)
  /// The file is gone. Saving throws ``PersistenceError/Code/fileChangedOnDisk``: it does not come back by itself.
  case removed
}
