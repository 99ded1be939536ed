import Crypto
import CryptoExtras
public import HeartwoodFoundation
public import HeartwoodStore
import Synchronization

/// The key of an encrypted store, or a passphrase from which the key is derived.
///
///     options[.encryptionKey] = try EncryptionKey(passphrase: "correct horse battery staple")
///
/// It is never printed, so that it does not get into logs. Keys of bytes are equal if the bytes are equal; a key of a
/// passphrase is equal only to its copies.
public struct EncryptionKey: Sendable, Equatable {
  /// The number of bytes of a key.
  public static let byteCount = 32

  enum Secret: Sendable, Equatable {
    case key(SymmetricKey)
    case passphrase(Passphrase)

    static func == (left: Secret, right: Secret) -> Bool {
      switch (left, right) {
      case (.key(let a), .key(let b)): a == b
      case (.passphrase(let a), .passphrase(let b)): a === b
      default: false
      }
    }
  }

  let secret: Secret

  /// Makes a key of 32 bytes, which should be random.
  ///
  /// - Throws: ``PersistenceError/Code/encryptionKeyUnusable`` if there are more or fewer bytes.
  public init(bytes: Data) throws(PersistenceError) {
    guard bytes.count == Self.byteCount else {
      throw PersistenceError(
        .encryptionKeyUnusable,
        "The key has \(bytes.count) bytes; it needs \(Self.byteCount).",
        recovery: "Make a key of a passphrase with EncryptionKey(passphrase:)."
      )
    }
    secret = .key(SymmetricKey(data: bytes))
  }

  /// Makes a key from a passphrase. The key of each file is derived from it with scrypt (RFC 7914), which takes a few
  /// tenths of a second and 128 MiB of memory once for each file that is opened. Keep the value and reuse it, because
  /// it caches the derived keys.
  ///
  /// - Throws: ``PersistenceError/Code/encryptionKeyUnusable`` if the passphrase is empty.
  public init(passphrase: String) throws(PersistenceError) {
    guard !passphrase.isEmpty else { throw PersistenceError(.encryptionKeyUnusable, "The passphrase is empty.") }
    secret = .passphrase(Passphrase(passphrase))
  }
}

extension EncryptionKey: CustomStringConvertible, CustomReflectable {
  /// The name of the type, and nothing of the key.
  public var description: String { "EncryptionKey" }
  /// An empty mirror, so that the key is not printed.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension StoreOptionKey<EncryptionKey?> {
  /// The key of an encrypted store. It is needed to open the store and to read its model.
  public static let encryptionKey = StoreOptionKey("encryptionKey")
}

extension StoreOptionKey<Bool> {
  /// Whether an encrypted store leaves its metadata readable. Then anyone can read them without a key, and without a
  /// key it is not checked that they were not altered. Off by default, so that they are encrypted.
  public static let leavesMetadataReadable = StoreOptionKey("leavesMetadataReadable", default: false)
}

// MARK: Passphrase

/// The parameters of scrypt (RFC 7914) with which a key is derived from a passphrase, as they are written in a file.
struct KeyDerivation: Sendable, Hashable {
  static let saltLength = 16
  /// The greatest amount of memory that a file may require from a reader.
  private static let memoryLimit = 1 << 30
  private static let greatestParallelism = 16
  /// swift-crypto allows scrypt one page of memory beyond its table, which has no room for two larger blocks.
  private static let greatestBlockSize = 16

  var salt: [UInt8]
  /// The cost, as a power of two.
  var logarithmOfRounds: UInt8
  var blockSize: UInt8
  var parallelism: UInt8

  /// Returns a new salt, with parameters that make guessing expensive: 128 MiB and a few tenths of a second for each
  /// guess.
  static func fresh() -> KeyDerivation {
    KeyDerivation(salt: .random(count: saltLength), logarithmOfRounds: 17, blockSize: 8, parallelism: 1)
  }

  /// Whether the parameters are within the limits for a reader.
  var isReasonable: Bool {
    let (memory, overflow) = (128 * Int(blockSize)).multipliedReportingOverflow(by: rounds)
    // RFC 7914 requires fewer rounds than 2 to the power of 16 times the block size.
    guard (1...24).contains(logarithmOfRounds), Int(logarithmOfRounds) < 16 * Int(blockSize) else { return false }
    return !overflow && memory <= Self.memoryLimit && blockSize <= Self.greatestBlockSize
      && (1...Self.greatestParallelism).contains(Int(parallelism))
  }

  var rounds: Int { 1 << min(Int(logarithmOfRounds), 32) }
}

/// A passphrase, and the keys that were derived from it.
final class Passphrase: Sendable {
  private let text: String
  private let keys = Mutex<[KeyDerivation: SymmetricKey]>([:])
  /// The parameters for files that are written with this passphrase. Each file still has a new salt.
  let derivationForWriting = KeyDerivation.fresh()

  init(_ text: String) {
    self.text = text
  }

  /// Returns the key for `derivation`, whose parameters must be within the limits. It is derived once; other callers
  /// wait meanwhile, instead of using the same amount of memory again.
  func key(_ derivation: KeyDerivation) throws -> SymmetricKey {
    try keys.withLock { keys in
      if let key = keys[derivation] { return key }
      let key = try KDF.Scrypt.deriveKey(
        from: Data(text.utf8),
        salt: derivation.salt,
        outputByteCount: EncryptionKey.byteCount,
        rounds: derivation.rounds,
        blockSize: Int(derivation.blockSize),
        parallelism: Int(derivation.parallelism)
      )
      keys[derivation] = key
      return key
    }
  }
}

extension [UInt8] {
  /// Returns random bytes from the system.
  static func random(count: Int) -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
  }
}

// MARK: FileKeys

/// The keys of one file, each for one purpose, derived from the master key and the file's salt with HKDF-SHA256 (RFC
/// 5869).
struct FileKeys: Sendable {
  static let saltLength = 32
  static let checkLength = 16
  static let tagLength = 16

  /// The bytes that show whether the master key is that of the file.
  let check: [UInt8]
  private let header: SymmetricKey
  private let metadata: SymmetricKey
  private let data: SymmetricKey

  init(master: SymmetricKey, salt: [UInt8]) {
    func key(_ purpose: String, _ count: Int = EncryptionKey.byteCount) -> SymmetricKey {
      HKDF<SHA256>.deriveKey(
        inputKeyMaterial: master,
        salt: salt,
        info: Data("heartwood/\(purpose)".utf8),
        outputByteCount: count
      )
    }
    check = key("check", Self.checkLength).withUnsafeBytes { Array($0) }
    header = key("header")
    metadata = key("metadata")
    data = key("data")
  }
}

extension FileKeys {
  /// Returns the authentication tag of the header.
  func tag(ofHeader bytes: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: bytes, using: header))
  }

  func isTag(_ tag: [UInt8], ofHeader bytes: [UInt8]) -> Bool {
    HMAC<SHA256>.isValidAuthenticationCode(tag, authenticating: bytes, using: header)
  }

  func sealMetadata(_ bytes: [UInt8]) throws -> [UInt8] {
    try Self.seal(bytes, metadata, number: 0, binding: [])
  }

  /// Decrypts the metadata, or returns nil if they were altered.
  func openMetadata(_ sealed: [UInt8]) -> [UInt8]? {
    // try?: nil means that it was altered, and callers throw.
    sealed.withUnsafeBytes { try? Self.open($0, metadata, number: 0, binding: []) }.map { Array($0) }
  }

  /// Encrypts a chunk of the inner file, which can be decrypted only at the same position and with the same header.
  func seal(_ chunk: UnsafeRawBufferPointer, number: Int, header tag: [UInt8]) throws -> [UInt8] {
    try Self.seal(Data(chunk), data, number: number, binding: tag)
  }

  /// Decrypts a chunk, or returns nil if it was altered or moved.
  func open(_ sealed: UnsafeRawBufferPointer, number: Int, header tag: [UInt8]) -> Data? {
    // try?: nil means that it was altered or moved, and callers throw.
    try? Self.open(sealed, data, number: number, binding: tag)
  }

  private static func seal(
    _ bytes: some DataProtocol,
    _ key: SymmetricKey,
    number: Int,
    binding: [UInt8]
  ) throws -> [UInt8] {
    let box = try ChaChaPoly.seal(bytes, using: key, nonce: nonce(number), authenticating: binding)
    return Array(box.ciphertext) + Array(box.tag)
  }

  private static func open(
    _ sealed: UnsafeRawBufferPointer,
    _ key: SymmetricKey,
    number: Int,
    binding: [UInt8]
  ) throws -> Data {
    let count = max(0, sealed.count - tagLength)
    let box = try ChaChaPoly.SealedBox(
      nonce: nonce(number),
      ciphertext: UnsafeRawBufferPointer(rebasing: sealed[..<count]),
      tag: UnsafeRawBufferPointer(rebasing: sealed[count...])
    )
    return try ChaChaPoly.open(box, using: key, authenticating: binding)
  }

  /// Returns four zero bytes and the number. No key is used for two files, so no nonce is used twice with a key.
  private static func nonce(_ number: Int) throws -> ChaChaPoly.Nonce {
    let bytes = withUnsafeBytes(of: UInt64(number).littleEndian) { Array($0) }
    return try ChaChaPoly.Nonce(data: [0, 0, 0, 0] + bytes)
  }
}
