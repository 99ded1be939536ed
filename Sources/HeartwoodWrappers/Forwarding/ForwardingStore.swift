public import HeartwoodModel
public import HeartwoodStore

/// A store that wraps another one and does not change its file. It has the description of the inner store, with another
/// type string.
///
/// A wrapper does its work in `load`, `validate` and `save`. Functions that read a file without opening it are
/// forwarded to the inner store.
public protocol ForwardingStore: AtomicStore, StoreClass {
  /// The inner store.
  associatedtype Base: AtomicStore & StoreClass

  /// The prefix for the type string of the inner store: `"Logging"` makes `"LoggingCSV"`.
  static var name: String { get }

  /// The prefix for the display name of the inner store.
  static var displayName: String { get }
}

extension ForwardingStore {
  /// The description of the inner store, with another type string and display name.
  public static var typeDescription: StoreTypeDescription {
    let base = Base.typeDescription
    return StoreTypeDescription(
      type: StoreType(name + base.type.rawValue),
      displayName: "\(displayName) \(base.displayName)",
      fileExtensions: base.fileExtensions,
      mimeTypes: base.mimeTypes,
      capabilities: base.capabilities
    )
  }

  /// Returns whether the inner store recognizes the file.
  public static func recognizes(prefix: [UInt8]) -> Bool { Base.recognizes(prefix: prefix) }

  /// Whether files of the inner store are never written.
  public static var isReadOnly: Bool { Base.isReadOnly }

  /// Reads the metadata with the inner store, and replaces the type.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    var metadata = try Base.readMetadata(from: file, options: options)
    metadata.storeType = typeDescription.type
    return metadata
  }

  /// Reads the model with the inner store.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try Base.readModel(from: file, options: options)
  }

  /// Makes a model from the records with the inner store.
  public static func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try Base.inferModel(from: file, options: options)
  }

  /// Reads the format version with the inner store.
  public static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? {
    try Base.readFormatVersion(from: file, options: options)
  }
}

// MARK: Form

extension ForwardingStore {
  /// Returns the inner store's options, if its files have several forms.
  public static func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions {
    try Base.options(options, keepingFormOf: file, setup)
  }
}

// MARK: ReadOnlyStore

/// Wraps an atomic store whose files are never written, replaced or removed, such as files of another program.
///
/// Unlike the option ``StoreOptionKey/isReadOnly``, which a caller may leave out, this applies wherever the type is
/// used. A caller that uses the type of the inner store can write the file.
public final class ReadOnlyStore<Base: AtomicStore & StoreClass>: ForwardingStore {
  /// `ReadOnly`.
  public static var name: String { "ReadOnly" }
  /// `Read-only`.
  public static var displayName: String { "Read-only" }
  /// True: the files are never written.
  public static var isReadOnly: Bool { true }

  private let base: Base
  private let path: String?

  /// Makes the inner store.
  public init(_ setup: StoreSetup) throws {
    base = try Base(setup)
    path = setup.path
  }

  /// Makes the inner store load the file.
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    try base.load(file, into: loader)
    loader.metadata.storeType = Self.typeDescription.type
  }

  /// Throws, because nothing is ever written.
  ///
  /// - Throws: ``PersistenceError/Code/storeReadOnly``.
  public func validate(_ contents: StoreContents) throws {
    throw PersistenceError(
      .storeReadOnly,
      "Stores of this type are never written.",
      recovery: "Open the file as \(Base.typeDescription.type) to change it.",
      context: .init(path: path, storeType: Self.typeDescription.type)
    )
  }

  /// Throws as ``validate(_:)`` does.
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    try validate(contents)
  }
}

extension ReadOnlyStore: SalvagingStore {
  /// Makes the inner store read the undamaged records.
  public func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
    try salvage.read(base, from: file, options: StoreOptions())
  }
}
