package import HeartwoodFoundation
package import HeartwoodModel
package import HeartwoodStore

/// The metadata of a store as Core Data keeps them: one dictionary, in which the application's keys stand beside Core Data's.
package enum CoreDataMetadata {
  /// What a file tells about its form that a save keeps.
  package struct Form: Sendable {
    /// Whether the metadata has the digest that newer versions of Core Data write.
    var hasDigest: Bool
    /// Whether it has the checksum of still newer ones.
    var hasChecksum: Bool
    /// Core Data's other keys, such as `NSPersistenceFrameworkVersion`. They are about the file, and stay as they are.
    package var frameworkMembers: [String: MetadataValue]

    package init(
      hasDigest: Bool = false,
      hasChecksum: Bool = false,
      frameworkMembers: [String: MetadataValue] = [:]
    ) {
      self.hasDigest = hasDigest
      self.hasChecksum = hasChecksum
      self.frameworkMembers = frameworkMembers
    }

    package init(_ members: [String: MetadataValue]) {
      self.init(
        hasDigest: members[Key.digest] != nil,
        hasChecksum: members[Key.checksum] != nil,
        frameworkMembers: members.filter { isFrameworkKey($0.key) && !Key.reserved.contains($0.key) }
      )
    }
  }

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
  private static let frameworkPrefixes = ["NS", "_NS"]

  private static func isFrameworkKey(_ key: String) -> Bool { frameworkPrefixes.contains { key.hasPrefix($0) } }

  // MARK: Reading

  /// What the dictionary says; all keys but those that have a meaning here, or begin as Core Data's do, are taken for the application's.
  package static func metadata(
    _ members: [String: MetadataValue],
    identifier: UUID,
    storeType: StoreType
  ) -> StoreMetadata {
    StoreMetadata(
      identifier: identifier,
      storeType: storeType,
      modelVersionHashes: hashes(members),
      modelVersionIdentifiers: identifiers(members),
      userInfo: members.filter { !Key.reserved.contains($0.key) && !isFrameworkKey($0.key) }
    )
  }

  private static func hashes(_ members: [String: MetadataValue]) -> [String: Data] {
    guard case .dictionary(let hashes) = members[Key.hashes] else { return [:] }
    return hashes.compactMapValues { if case .binary(let hash) = $0 { hash } else { nil } }
  }

  private static func identifiers(_ members: [String: MetadataValue]) -> [String] {
    guard case .array(let values) = members[Key.identifiers] else { return [] }
    return values.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }

  /// The model that the metadata hold, or nil where there is none, or where it is not the one that the records were last written with:
  /// another program keeps the key and does not know what it means.
  package static func model(_ members: [String: MetadataValue]) throws -> ManagedObjectModel? {
    guard case .string(let text) = members[Key.model] else { return nil }
    let model = try ManagedObjectModel.decoded(from: Data(text.utf8))
    let isSame = hashes(members).allSatisfy { model.entity(named: $0.key)?.versionHash == $0.value }
    return isSame ? model : nil
  }

  /// Whether the metadata hold a model, so that the file was written here before, if not at last.
  package static func holdsModel(_ members: [String: MetadataValue]) -> Bool { members[Key.model] != nil }

  // MARK: Writing

  /// The dictionary of a store that is written with `model`, without the type and the identifier of the store.
  package static func members(
    of metadata: StoreMetadata,
    model: ManagedObjectModel,
    form: Form
  ) throws -> [String: MetadataValue] {
    var members = metadata.userInfo.merging(form.frameworkMembers) { own, _ in own }
    members[Key.hashes] = .dictionary(metadata.modelVersionHashes.mapValues(MetadataValue.binary))
    members[Key.hashesVersion] = .integer(hashesVersion)
    members[Key.identifiers] = .array(metadata.modelVersionIdentifiers.map(MetadataValue.string))
    members[Key.model] = .string(String(decoding: try model.encoded(), as: UTF8.self))
    // They are of all entities, so they would be wrong for a part of them.
    let hashes = metadata.modelVersionHashes
    if hashes.count == model.entities.count {
      if form.hasDigest { members[Key.digest] = .string(ManagedObjectModel.versionHashesDigest(of: hashes)) }
      if form.hasChecksum { members[Key.checksum] = .string(ManagedObjectModel.versionChecksum(of: hashes)) }
    }
    return members
  }

  /// The dictionary with the type of the store in it, where the file tells it nowhere else.
  package static func noting(_ storeType: StoreType, in members: [String: MetadataValue]) -> [String: MetadataValue] {
    members.merging([Key.type: .string(storeType.rawValue)]) { $1 }
  }

  /// - Throws: ``PersistenceError/Code/valueUnsupported`` where the application uses a key that has a meaning of its own, or could be one of
  ///   Core Data's.
  package static func validate(_ userInfo: [String: MetadataValue], storeType: StoreType) throws(PersistenceError) {
    let keys = userInfo.keys.sorted()
    if let key = keys.first(where: Key.reserved.contains) {
      throw unsupported(
        "The key \(key) of the metadata has a meaning of its own in a store of type \(storeType).",
        storeType
      )
    }
    guard let key = keys.first(where: isFrameworkKey) else { return }
    throw unsupported("Keys of the metadata that begin like \(key) are Core Data's own.", storeType)
  }

  private static func unsupported(_ message: String, _ storeType: StoreType) -> PersistenceError {
    PersistenceError(.valueUnsupported, message, recovery: "Choose another key.", context: .init(storeType: storeType))
  }
}
