public import HeartwoodModel
public import HeartwoodStore

/// Wraps an atomic store, and transforms its file on the way to the disk, such as by encryption or compression.
///
/// It supports what the inner store supports. Register it like any other store:
///
///     try StoreRegistry.default.register(EncryptedStore<CSVStore>.self)
///
/// The bytes of the inner file are kept in memory while the store is open.
public final class TransformedStore<Base: AtomicStore & StoreClass, Transform: FileTransform>: AtomicStore, StoreClass {
  /// The description of the inner store, with another type string and other names.
  public static var typeDescription: StoreTypeDescription {
    let base = Base.typeDescription
    return StoreTypeDescription(
      type: StoreType(Transform.name + base.type.rawValue),
      displayName: "\(Transform.displayName) \(base.displayName)",
      fileExtensions: Transform.fileExtensions,
      mimeTypes: Transform.mimeTypes,
      capabilities: base.capabilities
    )
  }

  private let base: Base
  private let transform: Transform
  private let options: StoreOptions

  /// Makes the inner store and its transform.
  ///
  /// - Throws: the errors of either initializer.
  public init(_ setup: StoreSetup) throws {
    base = try Base(setup)
    transform = try Transform(options: setup.options)
    options = setup.options
  }

  /// Decodes the file and makes the inner store load it.
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    let bytes = try Self.plainBytes(file, transform)
    loader.metadata.storeType = Base.typeDescription.type
    try base.load(try StoreInput(DecodedFile(bytes, of: file)), into: loader)
    loader.metadata.storeType = Self.typeDescription.type
    loader.attachment = Attachment(base: loader.attachment, bytes: bytes)
  }

  /// Validates the contents with the inner store.
  public func validate(_ contents: StoreContents) throws {
    try base.validate(Self.inner(contents))
  }

  /// Makes the inner store write its file to memory, and writes the transformed bytes.
  public func save(_ contents: inout StoreContents, over previous: PreviousSave?, to output: StoreOutput) throws {
    var inner = Self.inner(contents)
    let file = CollectingFile(path: previous?.file.path ?? "")
    let memory = StoreOutput(file)
    try base.save(&inner, over: previous.flatMap(Self.inner), to: memory)
    try memory.flush()
    let bytes = file.takeBytes()
    try transform.encode(FileBytes(bytes.region), of: Base.typeDescription.type, contents.metadata, to: output)
    contents.attachment = Attachment(base: inner.attachment, bytes: bytes)
  }
}

// MARK: Without opening

extension TransformedStore {
  /// Returns whether the transform recognizes the file, with an inner file of the base type.
  public static func recognizes(prefix: [UInt8]) -> Bool {
    Transform.recognizes(prefix: prefix, base: Base.self)
  }

  /// Whether files of the inner store are never written.
  public static var isReadOnly: Bool { Base.isReadOnly }

  /// Reads the metadata. If the transform keeps them separately, the rest of the file is not read.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    var metadata =
      try Transform.readMetadata(from: file, options: options)
      ?? Base.readMetadata(from: plain(file, Transform(options: options)), options: options)
    metadata.storeType = typeDescription.type
    return metadata
  }

  /// Reads the model of the inner file.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    guard Base.typeDescription.capabilities.supports(.embeddedModel) else { return nil }
    return try Base.readModel(from: plain(file, Transform(options: options)), options: options)
  }

  /// Makes a model from the records of the inner file.
  public static func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try Base.inferModel(from: plain(file, Transform(options: options)), options: options)
  }

  /// Reads the format version of the inner file.
  public static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? {
    try Base.readFormatVersion(from: plain(file, Transform(options: options)), options: options)
  }
}

extension TransformedStore {
  /// Returns the inner store's options, if its files have several forms.
  public static func options(
    _ options: StoreOptions,
    keepingFormOf file: StoreInput,
    _ setup: StoreSetup
  ) throws -> StoreOptions {
    try Base.options(options, keepingFormOf: try plain(file, Transform(options: options)), setup)
  }
}

// MARK: The file inside

extension TransformedStore {
  /// What the inner store remembers of its file, and the file.
  private struct Attachment: Sendable {
    let base: (any Sendable)?
    let bytes: ByteSlice
  }

  /// The bytes of the inner file, and the transform that decoded them.
  private struct Decoded: Sendable {
    let transform: Transform
    let bytes: ByteSlice
  }

  private static func plain(_ file: StoreInput, _ transform: Transform) throws -> StoreInput {
    try StoreInput(DecodedFile(plainBytes(file, transform), of: file))
  }

  /// Returns the bytes of the inner file, which are decoded once for each open file.
  private static func plainBytes(_ file: StoreInput, _ transform: Transform) throws -> ByteSlice {
    if let known = file.memo.value as? Decoded, known.transform == transform { return known.bytes }
    let bytes = ByteSlice(try transform.decode(file).region)
    file.memo.value = Decoded(transform: transform, bytes: bytes)
    return bytes
  }

  /// Returns the contents as the inner store knows them.
  private static func inner(_ contents: StoreContents) -> StoreContents {
    var inner = contents
    inner.metadata.storeType = Base.typeDescription.type
    inner.attachment = (contents.attachment as? Attachment)?.base
    return inner
  }

  /// Returns the previous save as the inner store knows it.
  private static func inner(_ previous: PreviousSave) -> PreviousSave? {
    guard let attachment = previous.contents.attachment as? Attachment,
      // try?: without the previous save the inner store writes everything again.
      let file = try? StoreInput(DecodedFile(attachment.bytes, of: previous.file))
    else { return nil }
    return PreviousSave(contents: inner(previous.contents), file: file)
  }
}

// MARK: Damaged files

extension TransformedStore: SalvagingStore {
  /// Decodes the undamaged parts, and makes the inner store read the sound records in them.
  public func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
    let sound = try transform.decodeSound(file)
    for loss in sound.losses { salvage.note(loss) }
    try salvage.read(
      base,
      from: try Self.input(sound, file),
      options: options,
      unsoundRanges: sound.unsoundRanges
    )
    // The separate metadata before the damage are intact.
    // try?: if they are not, the metadata of the inner file are used.
    guard !sound.losses.isEmpty, let metadata = try? Transform.readMetadata(from: file, options: options) else {
      return
    }
    salvage.loader.metadata = metadata
  }

  /// Returns the model of the inner file, if that can be decoded.
  public static func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel? {
    // try?: a file that cannot be decoded has no model, and the salvage that follows reports why.
    guard Base.typeDescription.capabilities.supports(.embeddedModel), let transform = try? Transform(options: options),
      let sound = try? transform.decodeSound(file), let plain = try? input(sound, file)
    else { return nil }
    if Base.self is any SalvagingStore.Type { return Base.salvageModel(from: plain, options: options) }
    // try?: as above.
    return try? Base.readModel(from: plain, options: options)
  }

  private static func input(_ sound: SoundBytes, _ file: StoreInput) throws -> StoreInput {
    try StoreInput(DecodedFile(ByteSlice(sound.bytes.region), of: file))
  }
}

// MARK: FileTransform

/// Transforms the bytes of a store's file on the way to the disk and back, such as by encryption.
///
/// A ``TransformedStore`` applies it to the file of any atomic store. Equal transforms must decode a file to the same
/// bytes, or fail in the same way: a file is decoded only once for equal transforms.
public protocol FileTransform: Sendable, Equatable {
  /// The prefix for the type string of the inner store: `"Encrypted"` makes `"EncryptedCSV"`.
  static var name: String { get }

  /// The prefix for the display name of the inner store.
  static var displayName: String { get }

  /// The extensions of transformed files, without a dot.
  static var fileExtensions: [String] { get }

  /// The MIME types of transformed files.
  static var mimeTypes: [String] { get }

  /// Returns whether a file that begins with `prefix` (up to 512 bytes) is transformed, and holds a file of the `base`
  /// type.
  static func recognizes(prefix: [UInt8], base: any StoreClass.Type) -> Bool

  /// Makes the transform from the options of a store.
  ///
  /// - Throws: an error that says which option is missing or wrong.
  init(options: StoreOptions) throws

  /// Returns the bytes of the inner file. Check everything in the file before you use it.
  func decode(_ file: StoreInput) throws -> FileBytes

  /// Returns the undamaged bytes of the inner file of a damaged file. By default it returns the whole file, or throws
  /// the error of ``decode(_:)``.
  ///
  /// - Throws: an error if no byte can be trusted.
  func decodeSound(_ file: StoreInput) throws -> SoundBytes

  /// Transforms `bytes`, and writes the result.
  ///
  /// - Parameters:
  ///   - base: the type of the inner file.
  ///   - metadata: the metadata of the store, for transforms that also keep them separately.
  func encode(_ bytes: FileBytes, of base: StoreType, _ metadata: StoreMetadata, to output: StoreOutput) throws

  /// Returns the metadata if they can be read without the whole file, and nil otherwise.
  ///
  /// - Parameter options: the options of the call, which need not be enough to read the records.
  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata?
}

extension FileTransform {
  /// Returns the whole file, or throws the error of ``decode(_:)``.
  public func decodeSound(_ file: StoreInput) throws -> SoundBytes { SoundBytes(try decode(file)) }

  /// Returns nil: the inner file has to be decoded.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata? { nil }
}

/// The bytes of the inner file of a damaged file, each at its place.
public struct SoundBytes: Sendable {
  /// The bytes, with arbitrary bytes in place of missing ones. Bytes that are missing at the end are left out.
  public var bytes: FileBytes
  /// The ranges of bytes that must not be trusted, in order.
  public var unsoundRanges: [Range<Int>]
  /// The losses, with their places in the file on the disk.
  public var losses: [SalvageReport.Loss]

  /// Makes the bytes of a file with missing parts.
  public init(_ bytes: FileBytes, unsoundRanges: [Range<Int>] = [], losses: [SalvageReport.Loss] = []) {
    self.bytes = bytes
    self.unsoundRanges = unsoundRanges
    self.losses = losses
  }
}
