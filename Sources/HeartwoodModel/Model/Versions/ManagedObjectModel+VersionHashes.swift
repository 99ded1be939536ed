#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension ManagedObjectModel {
  /// The version hash of each entity. A store keeps them, so that it can tell whether a model fits it.
  public var entityVersionHashesByName: [String: Data] {
    Dictionary(entities.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether stores of one can be opened with the other.
  package func isSameVersion(as other: ManagedObjectModel) -> Bool {
    self === other || entityVersionHashesByName == other.entityVersionHashesByName
  }

  /// One text that stands for the version hashes of all entities: what newer stores keep under
  /// `NSStoreModelVersionChecksumKey`. O(n log n) in the number of entities.
  public var versionChecksum: String { Self.versionChecksum(of: entityVersionHashesByName) }

  /// One text that stands for the names and the version hashes of all entities: what stores keep under
  /// `NSStoreModelVersionHashesDigest`. O(n log n) in the number of entities.
  public var versionHashesDigest: String { Self.versionHashesDigest(of: entityVersionHashesByName) }

  /// The checksum of a model whose entities have these hashes.
  package static func versionChecksum(of hashes: [String: Data]) -> String {
    let message = inHashOrder(hashes).flatMap { Array($0.value) }
    return Data(SecureHash.sha256(message)).base64EncodedString()
  }

  /// The digest of a model whose entities have these hashes.
  package static func versionHashesDigest(of hashes: [String: Data]) -> String {
    let message = inHashOrder(hashes).flatMap { Array($0.key.utf8) + Array($0.value) }
    return Data(SecureHash.sha512(message)).base64EncodedString()
  }

  private static func inHashOrder(_ hashes: [String: Data]) -> [(key: String, value: Data)] {
    hashes.sorted { VersionHash.precedes($0.key, $1.key) }
  }
}
