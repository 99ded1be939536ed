import Crypto
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The keys of one file, each for one purpose, made from the master key and the file's salt with HKDF-SHA256 (RFC 5869).
struct FileKeys: Sendable {
  static let saltLength = 32
  static let checkLength = 16
  static let tagLength = 16

  /// Tells whether the master key is that of the file.
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
  /// What makes sure that nobody has altered the header.
  func tag(ofHeader bytes: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: bytes, using: header))
  }

  func isTag(_ tag: [UInt8], ofHeader bytes: [UInt8]) -> Bool {
    HMAC<SHA256>.isValidAuthenticationCode(tag, authenticating: bytes, using: header)
  }

  func sealMetadata(_ bytes: [UInt8]) throws -> [UInt8] {
    try Self.seal(bytes, metadata, number: 0, binding: [])
  }

  /// The metadata, or nil where they were altered.
  func openMetadata(_ sealed: [UInt8]) -> [UInt8]? {
    // try?: nil says that it was altered, and callers throw that.
    sealed.withUnsafeBytes { try? Self.open($0, metadata, number: 0, binding: []) }.map { Array($0) }
  }

  /// Encrypts a chunk of the file inside, in its place and with its header only.
  func seal(_ chunk: UnsafeRawBufferPointer, number: Int, header tag: [UInt8]) throws -> [UInt8] {
    try Self.seal(Data(chunk), data, number: number, binding: tag)
  }

  /// Decrypts a chunk, or nil where it was altered or moved.
  func open(_ sealed: UnsafeRawBufferPointer, number: Int, header tag: [UInt8]) -> Data? {
    // try?: nil says that it was altered or moved, and callers throw that.
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

  /// Four zero bytes and the number. No key is used for two files, so no nonce is used twice with one.
  private static func nonce(_ number: Int) throws -> ChaChaPoly.Nonce {
    let bytes = withUnsafeBytes(of: UInt64(number).littleEndian) { Array($0) }
    return try ChaChaPoly.Nonce(data: [0, 0, 0, 0] + bytes)
  }
}
