public import HeartwoodFoundation

/// The encoded form of a model, before validation.
struct ModelDocument: Codable {
  private enum Key: String, CodingKey {
    case format, entities, configurations, versionIdentifiers, fetchRequests, localization
  }

  /// The version of the encoded form.
  private static let format = 1

  let entities: [EntityDefinition]
  let configurations: [String: [String]]
  let versionIdentifiers: [String]
  let fetchRequestTemplates: [FetchRequestTemplate]
  let localizationDictionary: [String: String]

  init(_ model: ManagedObjectModel) {
    self.entities = model.entities.map(\.definition)
    self.configurations = model.configurations
    self.versionIdentifiers = model.versionIdentifiers
    self.fetchRequestTemplates = model.fetchRequestTemplates
    self.localizationDictionary = model.localizationDictionary
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(Self.format, forKey: .format)
    try container.encode(entities, forKey: .entities)
    try container.encodeIfNotEmpty(configurations, forKey: .configurations)
    try container.encodeIfNotEmpty(versionIdentifiers, forKey: .versionIdentifiers)
    try container.encodeIfNotEmpty(fetchRequestTemplates, forKey: .fetchRequests)
    try container.encodeIfNotEmpty(localizationDictionary, forKey: .localization)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.members(of: Key.self)
    let format = try container.decode(Int.self, forKey: .format)
    guard format == Self.format else {
      throw DecodingError.dataCorruptedError(
        forKey: .format,
        in: container,
        debugDescription: "The model is of format \(format), and \(Self.format) is known. Read it with a newer version."
      )
    }
    self.entities = try container.decode([EntityDefinition].self, forKey: .entities)
    self.configurations = try container.decodeIfPresent([String: [String]].self, forKey: .configurations) ?? [:]
    self.versionIdentifiers = try container.list(of: String.self, forKey: .versionIdentifiers)
    self.fetchRequestTemplates = try container.list(of: FetchRequestTemplate.self, forKey: .fetchRequests)
    self.localizationDictionary = try container.userInfo(forKey: .localization)
  }
}

// MARK: ManagedObjectModel: Codable

extension ManagedObjectModel: Codable {
  /// Encodes the model as described in `Formats/Model/README.md`.
  public func encode(to encoder: any Encoder) throws {
    try ModelDocument(self).encode(to: encoder)
  }

  /// Decodes a model as described in `Formats/Model/README.md`, and validates it.
  ///
  /// - Throws: ``ModelValidationError`` if the model has faults, and `DecodingError` if the data is not a model, or one
  ///   of a newer format.
  public convenience init(from decoder: any Decoder) throws {
    try self.init(ModelDocument(from: decoder))
  }

  /// Returns the model as JSON, for a store to embed. The same model always has the same bytes.
  public func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(ModelDocument(self))
  }

  /// Decodes a model from JSON, and validates it.
  ///
  /// Members that are not known are ignored, because a newer version may have written them to a store. If the JSON is
  /// written by people, check it with ``unknownMembers(inEncoded:)``.
  ///
  /// - Throws: ``ModelValidationError`` if the model has faults, and `DecodingError` if the data is not a model, or one
  ///   of a newer format.
  public convenience init(encoded data: Data) throws {
    try self.init(JSONDecoder().decode(ModelDocument.self, from: data))
  }

  private convenience init(_ document: ModelDocument) throws(ModelValidationError) {
    try self.init(
      entities: document.entities,
      configurations: document.configurations,
      versionIdentifiers: document.versionIdentifiers,
      fetchRequestTemplates: document.fetchRequestTemplates,
      localizationDictionary: document.localizationDictionary
    )
  }
}
