public import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore

/// The metadata of a store in Core Data's form: one dictionary that contains both the application's keys and Core
/// Data's.
@_spi(CoreDataFiles)
public enum CoreDataMetadata {
  /// The properties of a file's form that a save keeps.
  public struct Form: Sendable {
    /// Whether the metadata has the digest that newer versions of Core Data write.
    var hasDigest: Bool
    /// Whether it has the checksum of still newer ones.
    var hasChecksum: Bool
    /// Core Data's other keys, such as `NSPersistenceFrameworkVersion`. They concern the file, and stay as they are.
    public var frameworkMembers: [String: MetadataValue]

    /// Makes the form of a new file.
    public init(
      hasDigest: Bool = false,
      hasChecksum: Bool = false,
      frameworkMembers: [String: MetadataValue] = [:]
    ) {
      self.hasDigest = hasDigest
      self.hasChecksum = hasChecksum
      self.frameworkMembers = frameworkMembers
    }

    /// Makes the form of the file that `members` were read from.
    public init(_ members: [String: MetadataValue]) {
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

  /// Returns the metadata in the dictionary; all keys except those that have a meaning here, or begin as Core Data's
  /// do, are taken for the application's.
  public static func metadata(
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

  /// Returns the model in the metadata, or nil if there is none, or if it is not the one that the records were last
  /// written with: another program keeps the key without knowing its meaning.
  public static func model(_ members: [String: MetadataValue]) throws -> ManagedObjectModel? {
    guard case .string(let text) = members[Key.model] else { return nil }
    let model = try ManagedObjectModel.decoded(from: Data(text.utf8))
    let isSame = hashes(members).allSatisfy { model.entity(named: $0.key)?.versionHash == $0.value }
    return isSame ? model : nil
  }

  /// Returns whether the metadata contains a model, so that Heartwood has written the file at some time, but not
  /// necessarily last.
  public static func holdsModel(_ members: [String: MetadataValue]) -> Bool { members[Key.model] != nil }

  // MARK: Writing

  /// Returns the dictionary for a store that is written with `model`, without the type and the identifier of the store.
  public static func members(
    of metadata: StoreMetadata,
    model: ManagedObjectModel,
    form: Form
  ) throws -> [String: MetadataValue] {
    var members = metadata.userInfo.merging(form.frameworkMembers) { own, _ in own }
    members[Key.hashes] = .dictionary(metadata.modelVersionHashes.mapValues(MetadataValue.binary))
    members[Key.hashesVersion] = .integer(hashesVersion)
    members[Key.identifiers] = .array(metadata.modelVersionIdentifiers.map(MetadataValue.string))
    members[Key.model] = .string(String(decoding: try model.encoded(), as: UTF8.self))
    // The checksums cover all entities, so they would be wrong for a part of them.
    let hashes = metadata.modelVersionHashes
    if hashes.count == model.entities.count {
      if form.hasDigest { members[Key.digest] = .string(ManagedObjectModel.versionHashesDigest(of: hashes)) }
      if form.hasChecksum { members[Key.checksum] = .string(ManagedObjectModel.versionChecksum(of: hashes)) }
    }
    return members
  }

  /// Returns the dictionary with the type of the store added, for files that contain it nowhere else.
  public static func noting(_ storeType: StoreType, in members: [String: MetadataValue]) -> [String: MetadataValue] {
    members.merging([Key.type: .string(storeType.rawValue)]) { $1 }
  }

  /// - Throws: ``PersistenceError/Code/valueUnsupported`` if the application uses a key that has a meaning of its own,
  ///   or could be one of Core Data's.
  public static func validate(_ userInfo: [String: MetadataValue], storeType: StoreType) throws(PersistenceError) {
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
