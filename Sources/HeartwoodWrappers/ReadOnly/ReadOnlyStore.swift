public import HeartwoodModel
public import HeartwoodStore

/// Any atomic store, of which no file is ever written: for files that belong to somebody else.
///
/// Unlike the option ``StoreOptionKey/isReadOnly``, which whoever opens a store may leave out, this holds wherever the type is
/// used.
public final class ReadOnlyStore<Base: AtomicStore>: AtomicStore {
  /// What the store inside says, under a type string of its own: `"ReadOnlyCSV"`.
  public static var typeDescription: StoreTypeDescription {
    let base = Base.typeDescription
    return StoreTypeDescription(
      type: StoreType("ReadOnly" + base.type.rawValue),
      displayName: "Read-only \(base.displayName)",
      fileExtensions: base.fileExtensions,
      mimeTypes: base.mimeTypes,
      capabilities: base.capabilities
    )
  }

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
      "Stores of this type are never written. Open the file as \(Base.typeDescription.type) to change it.",
      context: .init(path: path, storeType: Self.typeDescription.type)
    )
  }

  /// Refuses as ``validate(_:)`` does.
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    try validate(contents)
  }
}

extension ReadOnlyStore {
  /// Asks the store inside.
  public static func recognizes(prefix: [UInt8]) -> Bool { Base.recognizes(prefix: prefix) }

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
  public static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? {
    try Base.readFormatVersion(from: file, options: options)
  }
}
