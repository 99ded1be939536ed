import Crypto
public import HeartwoodStore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What an encrypted store is locked with: a key, or a passphrase that a key is made from.
///
///     options[.encryptionKey] = try EncryptionKey(passphrase: "correct horse battery staple")
///
/// Nothing of it is printed, so that it does not get into logs. Keys of bytes are equal where the bytes are; one of a passphrase is equal to its
/// copies only.
public struct EncryptionKey: Sendable, Equatable {
  /// How many bytes a key has.
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

  /// A key of 32 bytes, which should be random.
  ///
  /// - Throws: ``PersistenceError/Code/encryptionKeyUnusable`` where there are more or fewer.
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

  /// A passphrase, from which each file's key is made with scrypt (RFC 7914); that takes some tenths of a second and 128 MiB once
  /// for each file that is opened. Keep the value and use it again, since it remembers what it has made.
  ///
  /// - Throws: ``PersistenceError/Code/encryptionKeyUnusable`` where it is empty.
  public init(passphrase: String) throws(PersistenceError) {
    guard !passphrase.isEmpty else { throw PersistenceError(.encryptionKeyUnusable, "The passphrase is empty.") }
    secret = .passphrase(Passphrase(passphrase))
  }
}

extension EncryptionKey: CustomStringConvertible, CustomReflectable {
  /// No more than that it is a key.
  public var description: String { "EncryptionKey" }
  /// Nothing.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension StoreOptionKey<EncryptionKey> {
  /// What an encrypted store is locked with. It is needed to open one, and to read its model.
  public static let encryptionKey = StoreOptionKey("encryptionKey")
}

extension StoreOptionKey<Bool> {
  /// Whether an encrypted store leaves its metadata readable to everybody; then they are read without a key, and nobody has made
  /// sure that they were not altered. Off by default: they are encrypted.
  public static let leavesMetadataReadable = StoreOptionKey("leavesMetadataReadable")
}
