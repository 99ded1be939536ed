public import HeartwoodStore

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
