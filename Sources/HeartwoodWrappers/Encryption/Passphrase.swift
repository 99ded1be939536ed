import Crypto
import CryptoExtras
import HeartwoodStore
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How a key is made from a passphrase: the parameters of scrypt (RFC 7914), which a file tells.
struct KeyDerivation: Sendable, Hashable {
  static let saltLength = 16
  /// How much memory a file may make a reader take.
  private static let memoryLimit = 1 << 30
  private static let greatestParallelism = 16
  /// swift-crypto allows scrypt one page of memory beyond its table, which has no room for two larger blocks.
  private static let greatestBlockSize = 16

  var salt: [UInt8]
  /// The cost, as a power of two.
  var logarithmOfRounds: UInt8
  var blockSize: UInt8
  var parallelism: UInt8

  /// A new salt, with parameters that make guessing dear: 128 MiB and some tenths of a second for each guess.
  static func fresh() -> KeyDerivation {
    KeyDerivation(salt: .random(count: saltLength), logarithmOfRounds: 17, blockSize: 8, parallelism: 1)
  }

  /// Whether a reader can be asked to do that.
  var isReasonable: Bool {
    let (memory, overflow) = (128 * Int(blockSize)).multipliedReportingOverflow(by: rounds)
    // RFC 7914 has fewer rounds than 2 to the power of 16 times the size of a block.
    guard (1...24).contains(logarithmOfRounds), Int(logarithmOfRounds) < 16 * Int(blockSize) else { return false }
    return !overflow && memory <= Self.memoryLimit && blockSize <= Self.greatestBlockSize
      && (1...Self.greatestParallelism).contains(Int(parallelism))
  }

  var rounds: Int { 1 << min(Int(logarithmOfRounds), 32) }
}

/// A passphrase, and the keys that were made from it.
final class Passphrase: Sendable {
  private let text: String
  private let keys = Mutex<[KeyDerivation: SymmetricKey]>([:])
  /// How the keys of files are made that are written with this passphrase. The salt of each file is new nevertheless.
  let derivationForWriting = KeyDerivation.fresh()

  init(_ text: String) {
    self.text = text
  }

  /// The key by `derivation`, which must be reasonable; made once. Others wait meanwhile, instead of taking as much memory again.
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
  /// Random bytes from the system.
  static func random(count: Int) -> [UInt8] {
    var random = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
  }
}
