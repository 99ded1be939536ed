public import HeartwoodModel
public import HeartwoodStore

/// The store whose file is columns of values, used as they lie: `Formats/Binary` specifies it.
///
/// Opening maps the file and reads its directory, so it costs the same for any number of records; the records of an entity are
/// checked as a whole before the first one is read. A save writes the whole file; metadata that are set without opening it are
/// written where they stand. The file must not be written in place by others while it is open; replacing it is safe.
public final class BinaryStore: AtomicStore {
  /// What the store can do: everything that an atomic store can.
  public static let typeDescription = StoreTypeDescription(
    type: .binary,
    displayName: "Heartwood binary store",
    fileExtensions: ["heartwood", "binary", "bin"],
    mimeTypes: ["application/vnd.heartwood.binary"],
    capabilities: StoreCapabilities(
      kind: .atomic,
      isPersistent: true,
      maximumEntityCount: nil,
      attributeTypes: Set(AttributeType.allCases),
      supportsRelationships: true,
      referenceKinds: [.uuid, .integer, .string],
      supportsUserMetadata: true,
      embedsModel: true,
      supportsHistory: true
    )
  )

  private let path: String

  /// Makes a store for the file of `setup`.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` where there is no file.
  public init(_ setup: StoreSetup) throws {
    guard let path = setup.path else {
      throw PersistenceError(
        .capabilityMissing,
        "A binary store needs a file.",
        recovery: "Give it a location, or add a store of type \(StoreType.inMemory).",
        context: .init(storeType: .binary)
      )
    }
    self.path = path
  }

  /// Maps the file and makes tables that lie in it.
  ///
  /// - Throws: ``PersistenceError/Code/fileCorrupt`` with the offset of what is wrong,
  ///   ``PersistenceError/Code/fileFormatUnsupported``, ``PersistenceError/Code/modelIncompatible``. What is wrong with records
  ///   shows when their table is verified.
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    let file = try BinaryFile(file)
    loader.metadata = try file.metadata()
    var (tables, memory) = try BinaryReader(file, model: loader.model, entities: loader.entities).read()
    for table in tables { loader.setTable(table) }
    loader.history = try file.history()
    memory.note(loader.history, in: file)
    loader.attachment = memory
  }

  /// Writes the whole file, with columns straight from memory. It is of format version 3; files of versions 1 and 2 are read.
  ///
  /// - Throws: ``PersistenceError/Code/valueUnsupported`` where a value could not be read back.
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    let memory = contents.attachment as? BinarySaveMemory ?? BinarySaveMemory()
    contents.attachment = try BinaryWriter(contents, memory: memory, path: path).write(to: output)
  }
}

// MARK: Without opening

extension BinaryStore {
  /// Whether a file that begins with `prefix` is a binary store, be it one of Core Data's, which is then refused as such.
  public static func recognizes(prefix: [UInt8]) -> Bool {
    prefix.starts(with: BinaryFormat.magic) || prefix.starts(with: BinaryFormat.coreDataMagic)
  }

  /// Reads the metadata. It costs the same for any number of records.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    try BinaryFile(file).metadata()
  }

  /// What to write over the metadata: they are there twice, and one of them is whole at every time. Nil where the identifier changes, where
  /// the new metadata are of another order of length, and for files of versions 1 and 2: these are written anew.
  public static func metadataPatches(
    _ metadata: StoreMetadata,
    in file: StoreInput,
    options: StoreOptions
  ) throws -> [FilePatch]? {
    let binary = try BinaryFile(file)
    guard let area = binary.metadataArea, metadata.identifier == binary.header.storeIdentifier else { return nil }
    return area.patches(try metadata.binaryJSON(path: file.path))
  }

  /// Reads the model that the records were written with.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try BinaryFile(file).model()
  }

  /// Reads the version of the format, a whole number, from the header.
  public static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? {
    let prefix = try file.bytes(from: 0, count: BinaryFormat.headerLength)
    let header = try prefix.withUnsafeBytes { try BinaryHeader($0, fault: BinaryFault(path: file.path)) }
    return String(header.formatVersion)
  }
}
