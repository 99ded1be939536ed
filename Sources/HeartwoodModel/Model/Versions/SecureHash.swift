#if canImport(CryptoKit)
  import CryptoKit
#endif

/// The hashes that Core Data makes of models: the system's if it has them, and ``SHA2`` if not.
enum SecureHash {
  /// 32 bytes.
  static func sha256(_ message: [UInt8]) -> [UInt8] {
    #if canImport(CryptoKit)
      Array(CryptoKit.SHA256.hash(data: message))
    #else
      SHA2.sha256(message)
    #endif
  }

  /// 64 bytes.
  static func sha512(_ message: [UInt8]) -> [UInt8] {
    #if canImport(CryptoKit)
      Array(CryptoKit.SHA512.hash(data: message))
    #else
      SHA2.sha512(message)
    #endif
  }
}
