public import HeartwoodFoundation
package import HeartwoodModel

/// What a store says about itself without its records: its identifier, the version of the model that it was written
/// with, and values of the application.
///
/// It is `Codable`, so a store can keep it as JSON, for example. Decoding needs the identifier and the type only:
///
///     let metadata = try JSONDecoder().decode(StoreMetadata.self, from: Data(firstLine.utf8))
///
/// The framework sets the model version before a save. A store saves the metadata as they are, and returns them
/// unchanged.
public struct StoreMetadata: Sendable, Hashable, Codable {
  /// The identifier of the store, which stays the same for its whole life and is part of its objects' URIs.
  public var identifier: UUID
  /// The type of the store.
  public var storeType: StoreType
  /// The version hash of each entity of the model that the store was written with, by the name of the entity. Empty if
  /// the store cannot keep them: its model is then not compared when it is opened.
  public var modelVersionHashes: [String: Data]
  /// The names that the model's author gave to the version of the model.
  public var modelVersionIdentifiers: [String]
  /// The values that the application keeps with the store. Only stores that declare
  /// ``StoreCapabilities/Features/userMetadata`` can keep them.
  public var userInfo: [String: MetadataValue]

  /// Creates metadata. Without an identifier, they are those of a new store, with a random UUID.
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

  /// Decodes metadata. Only the identifier and the type are required; the rest is empty if it is missing.
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

  /// Encodes all metadata.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(identifier, forKey: .identifier)
    try container.encode(storeType.rawValue, forKey: .storeType)
    try container.encode(modelVersionHashes, forKey: .modelVersionHashes)
    try container.encode(modelVersionIdentifiers, forKey: .modelVersionIdentifiers)
    try container.encode(userInfo, forKey: .userInfo)
  }

  /// Returns whether the store was written with the present version of `entities`.
  func hasVersions(of entities: [EntityDescription]) -> Bool {
    entities.allSatisfy { modelVersionHashes[$0.name] == $0.versionHash }
  }

  /// Sets the version of the model that the store is written with.
  package mutating func setModel(_ entities: [EntityDescription], versionIdentifiers: [String]) {
    modelVersionHashes = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0.versionHash) })
    modelVersionIdentifiers = versionIdentifiers
  }
}

// MARK: JSON

/// The metadata as JSON, the same bytes for the same metadata.
extension StoreMetadata {
  private static let infinity = "inf"
  private static let negativeInfinity = "-inf"
  private static let notANumber = "nan"

  /// Decodes metadata; returns nil if `json` holds none.
  package init?(json: Data) {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: Self.infinity,
      negativeInfinity: Self.negativeInfinity,
      nan: Self.notANumber
    )
    // try?: nil says that these are no metadata, and callers throw that.
    guard let metadata = try? decoder.decode(StoreMetadata.self, from: json) else { return nil }
    self = metadata
  }

  package func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: Self.infinity,
      negativeInfinity: Self.negativeInfinity,
      nan: Self.notANumber
    )
    return try encoder.encode(self)
  }
}

// MARK: MetadataValue

/// A value that an application keeps in a store's metadata: anything that a property list can contain.
public enum MetadataValue: Sendable, Hashable {
  case string(String)
  case integer(Int64)
  case double(Double)
  case boolean(Bool)
  case date(Date)
  case binary(Data)
  case array([MetadataValue])
  case dictionary([String: MetadataValue])
}

extension MetadataValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByFloatLiteral
{
  /// Creates a string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Creates an integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Creates a boolean.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  /// Creates a double.
  public init(floatLiteral value: Double) { self = .double(value) }
}

/// In JSON, each value is an object with one member, whose name is the kind: `{"string": "a"}`. Dates are seconds since
/// 2001-01-01 00:00 UTC, and binary data is base64.
extension MetadataValue: Codable {
  private enum Kind: String, CodingKey, CaseIterable {
    case string, integer, double, boolean, date, binary, array, dictionary
  }

  /// Decodes a value from an object with one member.
  ///
  /// - Throws: `DecodingError` if the object has another number of members.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Kind.self)
    guard let kind = container.allKeys.first, container.allKeys.count == 1 else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "A metadata value has one kind.")
      )
    }
    switch kind {
    case .string: self = .string(try container.decode(String.self, forKey: kind))
    case .integer: self = .integer(try container.decode(Int64.self, forKey: kind))
    case .double: self = .double(try container.decode(Double.self, forKey: kind))
    case .boolean: self = .boolean(try container.decode(Bool.self, forKey: kind))
    case .date: self = .date(Date(timeIntervalSinceReferenceDate: try container.decode(Double.self, forKey: kind)))
    case .binary: self = .binary(try container.decode(Data.self, forKey: kind))
    case .array: self = .array(try container.decode([MetadataValue].self, forKey: kind))
    case .dictionary: self = .dictionary(try container.decode([String: MetadataValue].self, forKey: kind))
    }
  }

  /// Encodes the value as an object with one member.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Kind.self)
    switch self {
    case .string(let value): try container.encode(value, forKey: .string)
    case .integer(let value): try container.encode(value, forKey: .integer)
    case .double(let value): try container.encode(value, forKey: .double)
    case .boolean(let value): try container.encode(value, forKey: .boolean)
    case .date(let value): try container.encode(value.timeIntervalSinceReferenceDate, forKey: .date)
    case .binary(let value): try container.encode(value, forKey: .binary)
    case .array(let value): try container.encode(value, forKey: .array)
    case .dictionary(let value): try container.encode(value, forKey: .dictionary)
    }
  }
}
