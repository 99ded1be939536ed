public import HeartwoodModel
public import HeartwoodStore

/// A store around another one, whose file it leaves as it is: it is told by what the store inside says, under a type string of its
/// own.
///
/// What a wrapper adds, it does in `load`, `validate` and `save`; all that is read without opening goes to the store inside.
public protocol ForwardingStore: AtomicStore {
  /// The store inside.
  associatedtype Base: AtomicStore

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
