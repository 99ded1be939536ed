import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a file tells about its form that a save keeps.
struct XMLMemory: Sendable {
  /// Whether the metadata has the digest and the checksum that newer versions of Core Data write.
  var hasDigest = false
  var hasChecksum = false
}

/// The metadata of a store as Core Data keeps them in a file: one dictionary, in which the application's keys stand beside Core Data's.
enum XMLMetadata {
  private enum Key {
    static let hashes = "NSStoreModelVersionHashes"
    static let hashesVersion = "NSStoreModelVersionHashesVersion"
    static let identifiers = "NSStoreModelVersionIdentifiers"
    static let digest = "NSStoreModelVersionHashesDigest"
    static let checksum = "NSStoreModelVersionChecksumKey"
    static let type = "NSStoreType"
    static let identifier = "NSStoreUUID"
    /// The model as JSON. Core Data takes it for a key of the application's own, and keeps it.
    static let model = "HeartwoodModel"

    static let reserved: Set<String> = [hashes, hashesVersion, identifiers, digest, checksum, type, identifier, model]
  }

  private static let hashesVersion: Int64 = 3

  // MARK: Reading

  static func metadata(_ header: XMLHeader) -> StoreMetadata {
    StoreMetadata(
      identifier: header.identifier,
      storeType: .xml,
      modelVersionHashes: hashes(header),
      modelVersionIdentifiers: identifiers(header),
      userInfo: header.metadata.filter { !Key.reserved.contains($0.key) }
    )
  }

  private static func hashes(_ header: XMLHeader) -> [String: Data] {
    guard case .dictionary(let members) = header.metadata[Key.hashes] else { return [:] }
    return members.compactMapValues { if case .binary(let hash) = $0 { hash } else { nil } }
  }

  private static func identifiers(_ header: XMLHeader) -> [String] {
    guard case .array(let values) = header.metadata[Key.identifiers] else { return [] }
    return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }

  static func memory(_ header: XMLHeader) -> XMLMemory {
    XMLMemory(hasDigest: header.metadata[Key.digest] != nil, hasChecksum: header.metadata[Key.checksum] != nil)
  }

  /// The model that the file holds, or nil where there is none, or where it is not the one that the records were last written with:
  /// another program keeps the key and does not know what it means.
  static func model(_ header: XMLHeader) throws -> ManagedObjectModel? {
    guard case .string(let text) = header.metadata[Key.model] else { return nil }
    let model = try ManagedObjectModel(encoded: Data(text.utf8))
    let isSame = hashes(header).allSatisfy { model.entity(named: $0.key)?.versionHash == $0.value }
    return isSame ? model : nil
  }

  // MARK: Writing

  static func members(of contents: StoreContents, memory: XMLMemory) throws -> [String: MetadataValue] {
    let metadata = contents.metadata
    var members = metadata.userInfo
    members[Key.hashes] = .dictionary(metadata.modelVersionHashes.mapValues(MetadataValue.binary))
    members[Key.hashesVersion] = .integer(hashesVersion)
    members[Key.identifiers] = .array(metadata.modelVersionIdentifiers.map(MetadataValue.string))
    members[Key.model] = .string(String(decoding: try contents.model.encoded(), as: UTF8.self))
    // They are of all entities, so they would be wrong for a part of them.
    if metadata.modelVersionHashes.count == contents.model.entities.count {
      if memory.hasDigest { members[Key.digest] = .string(contents.model.versionHashesDigest) }
      if memory.hasChecksum { members[Key.checksum] = .string(contents.model.versionChecksum) }
    }
    return members
  }

  /// - Throws: ``PersistenceError/Code/valueUnsupported`` where the application uses a key that has a meaning of its own, or one that XML
  ///   cannot hold.
  static func validate(_ userInfo: [String: MetadataValue]) throws(PersistenceError) {
    if let key = userInfo.keys.filter(Key.reserved.contains).min() {
      throw PersistenceError(
        .valueUnsupported,
        "The key \(key) of the metadata has a meaning of its own in an XML store. Choose another.",
        context: .init(storeType: .xml)
      )
    }
    try PropertyListTextWriter.validate(.dictionary(userInfo), storeType: .xml)
  }
}
