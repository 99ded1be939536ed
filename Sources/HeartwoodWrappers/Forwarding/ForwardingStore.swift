public import HeartwoodModel
public import HeartwoodStore

/// A store around another one, whose file it leaves as it is: it is told by what the store inside says, under a type string of its
/// own.
///
/// What a wrapper adds, it does in `load`, `validate` and `save`; all that is read without opening goes to the store inside.
public protocol ForwardingStore: AtomicStore, StoreClass {
  /// The store inside.
  associatedtype Base: AtomicStore & StoreClass

  /// What goes before the type string of the store inside: `"Logging"` makes `"LoggingCSV"`.
  static var name: String { get }

  /// What goes before the display name of the store inside.
  static var displayName: String { get }
}

extension ForwardingStore {
  /// What the store inside says, under a type string and a display name of its own.
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

  /// Asks the store inside.
  public static func recognizes(prefix: [UInt8]) -> Bool { Base.recognizes(prefix: prefix) }

  /// Asks the store inside.
  public static var isReadOnly: Bool { Base.isReadOnly }

  /// Asks the store inside.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    var metadata = try Base.readMetadata(from: file, options: options)
    metadata.storeType = typeDescription.type
    return metadata
  }

  /// Asks the store inside.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try Base.readModel(from: file, options: options)
  }

  /// Asks the store inside.
  public static func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try Base.inferModel(from: file, options: options)
  }

  /// Asks the store inside.
  public static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? {
    try Base.readFormatVersion(from: file, options: options)
  }
}

// MARK: Form

extension ForwardingStore {
  /// Asks the store inside, if its files have several forms.
  public static func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions {
    try Base.options(options, keepingFormOf: file, setup)
  }
}

// MARK: ReadOnlyStore

/// Any atomic store, of which no file is ever written, replaced or removed: for files that belong to somebody else.
///
/// Unlike the option ``StoreOptionKey/isReadOnly``, which whoever opens a store may leave out, this holds wherever the type is
/// used. Whoever names the type of the store inside may write the file.
public final class ReadOnlyStore<Base: AtomicStore & StoreClass>: ForwardingStore {
  /// `ReadOnly`.
  public static var name: String { "ReadOnly" }
  /// `Read-only`.
  public static var displayName: String { "Read-only" }
  /// True: the files belong to somebody else.
  public static var isReadOnly: Bool { true }

  private let base: Base
  private let path: String?

  /// Makes the store inside.
  public init(_ setup: StoreSetup) throws {
    base = try Base(setup)
    path = setup.path
  }

  /// Lets the store inside load the file.
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    try base.load(file, into: loader)
    loader.metadata.storeType = Self.typeDescription.type
  }

  /// Refuses: nothing is ever written.
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

  /// Refuses as ``validate(_:)`` does.
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    try validate(contents)
  }
}

extension ReadOnlyStore: SalvagingStore {
  /// Lets the store inside read what is sound.
  public func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
    try salvage.read(base, from: file, options: StoreOptions())
  }
}
