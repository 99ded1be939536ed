public import HeartwoodModel
public import HeartwoodStore

/// Any atomic store, whose file is transformed on its way to the disk: encrypted or compressed.
///
/// It can do what the store inside can. Register it as any other:
///
///     try StoreRegistry.default.register(EncryptedStore<CSVStore>.self)
///
/// The bytes of the file inside are held in memory for as long as the store is open.
public final class TransformedStore<Base: AtomicStore & StoreClass, Transform: FileTransform>: AtomicStore, StoreClass {
  /// What the store inside says, under a type string and names of its own.
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

  /// Makes the store inside and its transform.
  ///
  /// - Throws: what either of them throws.
  public init(_ setup: StoreSetup) throws {
    base = try Base(setup)
    transform = try Transform(options: setup.options)
    options = setup.options
  }

  /// Decodes the file and lets the store inside load it.
  public func load(_ file: StoreInput, into loader: StoreLoader) throws {
    let bytes = try Self.plainBytes(file, transform)
    loader.metadata.storeType = Base.typeDescription.type
    try base.load(try StoreInput(DecodedFile(bytes, of: file)), into: loader)
    loader.metadata.storeType = Self.typeDescription.type
    loader.attachment = Attachment(base: loader.attachment, bytes: bytes)
  }

  /// Asks the store inside.
  public func validate(_ contents: StoreContents) throws {
    try base.validate(Self.inner(contents))
  }

  /// Lets the store inside write its file to memory, and writes that transformed.
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
  /// Asks the transform.
  public static func recognizes(prefix: [UInt8]) -> Bool {
    Transform.recognizes(prefix: prefix, base: Base.self)
  }

  /// Asks the store inside.
  public static var isReadOnly: Bool { Base.isReadOnly }

  /// Reads the metadata: where the transform keeps them apart, without the rest of the file.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata {
    var metadata =
      try Transform.readMetadata(from: file, options: options)
      ?? Base.readMetadata(from: plain(file, Transform(options: options)), options: options)
    metadata.storeType = typeDescription.type
    return metadata
  }

  /// Reads the model of the file inside.
  public static func readModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    guard Base.typeDescription.capabilities.supports(.embeddedModel) else { return nil }
    return try Base.readModel(from: plain(file, Transform(options: options)), options: options)
  }

  /// Makes a model of what the file inside tells.
  public static func inferModel(from file: StoreInput, options: StoreOptions) throws -> ManagedObjectModel? {
    try Base.inferModel(from: plain(file, Transform(options: options)), options: options)
  }

  /// Reads the version of the format of the file inside.
  public static func readFormatVersion(from file: StoreInput, options: StoreOptions) throws -> String? {
    try Base.readFormatVersion(from: plain(file, Transform(options: options)), options: options)
  }
}

extension TransformedStore {
  /// Asks the store inside, if its files have several forms.
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
  /// What the store inside remembers of its file, and what that file is.
  private struct Attachment: Sendable {
    let base: (any Sendable)?
    let bytes: ByteSlice
  }

  /// The bytes of the file inside, and by what they were decoded.
  private struct Decoded: Sendable {
    let transform: Transform
    let bytes: ByteSlice
  }

  private static func plain(_ file: StoreInput, _ transform: Transform) throws -> StoreInput {
    try StoreInput(DecodedFile(plainBytes(file, transform), of: file))
  }

  /// The bytes of the file inside, decoded once for all that is read of a file while it is open.
  private static func plainBytes(_ file: StoreInput, _ transform: Transform) throws -> ByteSlice {
    if let known = file.memo.value as? Decoded, known.transform == transform { return known.bytes }
    let bytes = ByteSlice(try transform.decode(file).region)
    file.memo.value = Decoded(transform: transform, bytes: bytes)
    return bytes
  }

  /// Contents as the store inside knows them.
  private static func inner(_ contents: StoreContents) -> StoreContents {
    var inner = contents
    inner.metadata.storeType = Base.typeDescription.type
    inner.attachment = (contents.attachment as? Attachment)?.base
    return inner
  }

  /// The previous save as the store inside knows it.
  private static func inner(_ previous: PreviousSave) -> PreviousSave? {
    guard let attachment = previous.contents.attachment as? Attachment,
      // try?: without the previous save the store inside writes all anew.
      let file = try? StoreInput(DecodedFile(attachment.bytes, of: previous.file))
    else { return nil }
    return PreviousSave(contents: inner(previous.contents), file: file)
  }
}

// MARK: Damaged files

extension TransformedStore: SalvagingStore {
  /// Decodes what can be decoded, and lets the store inside read what is sound of it.
  public func salvage(_ file: StoreInput, into salvage: StoreSalvage) throws {
    let sound = try transform.decodeSound(file)
    for loss in sound.losses { salvage.note(loss) }
    try salvage.read(
      base,
      from: try Self.input(sound, file),
      options: options,
      unsoundRanges: sound.unsoundRanges
    )
    // What stands before the damage, and is kept apart, is whole.
    // try?: if it is not, the metadata of the file inside stay.
    guard !sound.losses.isEmpty, let metadata = try? Transform.readMetadata(from: file, options: options) else {
      return
    }
    salvage.loader.metadata = metadata
  }

  /// The model of the file inside, as far as that can be decoded.
  public static func salvageModel(from file: StoreInput, options: StoreOptions) -> ManagedObjectModel? {
    // try?: what cannot be decoded tells no model, and the salvage that follows says why.
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

/// What happens to the bytes of a store's file on their way to the disk and back, such as encryption.
///
/// A ``TransformedStore`` puts one around any atomic store. Equal transforms must decode a file to the same bytes, or fail alike: a file is
/// decoded once for all that asks for it with equal ones.
public protocol FileTransform: Sendable, Equatable {
  /// What goes before the type string of the store inside: `"Encrypted"` makes `"EncryptedCSV"`.
  static var name: String { get }

  /// What goes before the display name of the store inside.
  static var displayName: String { get }

  /// The extensions of transformed files, without a dot.
  static var fileExtensions: [String] { get }

  /// The MIME types of transformed files.
  static var mimeTypes: [String] { get }

  /// Whether a file that begins with `prefix` (up to 512 bytes) is transformed, and holds a file of the `base` type.
  static func recognizes(prefix: [UInt8], base: any StoreClass.Type) -> Bool

  /// Takes what the transform needs from the options of a store.
  ///
  /// - Throws: an error that says which option is missing or wrong.
  init(options: StoreOptions) throws

  /// The bytes of the file inside. Everything that is there has to be checked before it is believed.
  func decode(_ file: StoreInput) throws -> FileBytes

  /// What is sound of a file inside of a damaged one. By default the whole of it, or the error of ``decode(_:)``.
  ///
  /// - Throws: an error if nothing of it can be believed.
  func decodeSound(_ file: StoreInput) throws -> SoundBytes

  /// Writes `bytes` transformed.
  ///
  /// - Parameters:
  ///   - base: the type of the file inside.
  ///   - metadata: the metadata of the store, for transforms that keep them where they can be read by themselves.
  func encode(_ bytes: FileBytes, of base: StoreType, _ metadata: StoreMetadata, to output: StoreOutput) throws

  /// The metadata, where they can be read without the whole file; nil where they cannot.
  ///
  /// - Parameter options: the options of the call, which need not be enough to read the records.
  static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata?
}

extension FileTransform {
  /// All of the file, or the error of ``decode(_:)``.
  public func decodeSound(_ file: StoreInput) throws -> SoundBytes { SoundBytes(try decode(file)) }

  /// Nil: the file inside has to be decoded.
  public static func readMetadata(from file: StoreInput, options: StoreOptions) throws -> StoreMetadata? { nil }
}

/// The bytes of a file inside of a damaged one, each at its place.
public struct SoundBytes: Sendable {
  /// The bytes, with any others in the place of those that are missing. What is missing at the end is left out.
  public var bytes: FileBytes
  /// Where they must not be believed, in order.
  public var unsoundRanges: [Range<Int>]
  /// What is wrong, with the places in the file on the disk.
  public var losses: [SalvageReport.Loss]

  /// Makes bytes of which parts are missing.
  public init(_ bytes: FileBytes, unsoundRanges: [Range<Int>] = [], losses: [SalvageReport.Loss] = []) {
    self.bytes = bytes
    self.unsoundRanges = unsoundRanges
    self.losses = losses
  }
}
