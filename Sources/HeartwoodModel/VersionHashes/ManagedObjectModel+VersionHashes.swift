import Crypto

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

  /// One text that stands for the version hashes of all entities: what newer stores keep under
  /// `NSStoreModelVersionChecksumKey`. O(n log n) in the number of entities.
  public var versionChecksum: String {
    var hasher = SHA256()
    for entity in entitiesInHashOrder { hasher.update(data: entity.versionHash) }
    return Data(hasher.finalize()).base64EncodedString()
  }

  /// One text that stands for the names and the version hashes of all entities: what stores keep under
  /// `NSStoreModelVersionHashesDigest`. O(n log n) in the number of entities.
  public var versionHashesDigest: String {
    var hasher = SHA512()
    for entity in entitiesInHashOrder {
      hasher.update(data: Array(entity.name.utf8))
      hasher.update(data: entity.versionHash)
    }
    return Data(hasher.finalize()).base64EncodedString()
  }

  private var entitiesInHashOrder: [EntityDescription] {
    entities.sorted { VersionHash.precedes($0.name, $1.name) }
  }
}
