package import HeartwoodModel

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a store tells about itself: who it is, which model it was written with, and what the application noted.
public struct StoreMetadata: Sendable, Hashable, Codable {
  /// The identifier of the store, which stays the same for its whole life and is part of its objects' URIs.
  public var identifier: UUID
  /// The type of the store that the file is of.
  public var storeType: StoreType
  /// The version hash of each entity of the model that the store was written with. Empty where the store cannot tell.
  public var modelVersionHashes: [String: Data]
  /// The names that the author of the model gave to its version.
  public var modelVersionIdentifiers: [String]
  /// What the application keeps with the store, under keys of its own.
  public var userInfo: [String: MetadataValue]

  /// Makes metadata; without an identifier, those of a new store.
  public init(
    identifier: UUID = UUID(),
    storeType: StoreType,
    modelVersionHashes: [String: Data] = [:],
    modelVersionIdentifiers: [String] = [],
    userInfo: [String: MetadataValue] = [:]
  ) {
    self.identifier = identifier
    self.storeType = storeType
    self.modelVersionHashes = modelVersionHashes
    self.modelVersionIdentifiers = modelVersionIdentifiers
    self.userInfo = userInfo
  }
}

extension StoreMetadata {
  private enum CodingKeys: String, CodingKey {
    case identifier, storeType, modelVersionHashes, modelVersionIdentifiers, userInfo
  }

  /// Reads metadata; only the identifier and the type must be there.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      identifier: try container.decode(UUID.self, forKey: .identifier),
      storeType: StoreType(try container.decode(String.self, forKey: .storeType)),
      modelVersionHashes: try container.decodeIfPresent([String: Data].self, forKey: .modelVersionHashes) ?? [:],
      modelVersionIdentifiers: try container.decodeIfPresent([String].self, forKey: .modelVersionIdentifiers) ?? [],
      userInfo: try container.decodeIfPresent([String: MetadataValue].self, forKey: .userInfo) ?? [:]
    )
  }

  /// Writes all metadata.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(identifier, forKey: .identifier)
    try container.encode(storeType.rawValue, forKey: .storeType)
    try container.encode(modelVersionHashes, forKey: .modelVersionHashes)
    try container.encode(modelVersionIdentifiers, forKey: .modelVersionIdentifiers)
    try container.encode(userInfo, forKey: .userInfo)
  }

  /// Whether the store was written with entities in the version that they have.
  func hasVersions(of entities: [EntityDescription]) -> Bool {
    entities.allSatisfy { modelVersionHashes[$0.name] == $0.versionHash }
  }

  /// Notes which model the store is written with.
  package mutating func setModel(_ entities: [EntityDescription], versionIdentifiers: [String]) {
    modelVersionHashes = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0.versionHash) })
    modelVersionIdentifiers = versionIdentifiers
  }
}
