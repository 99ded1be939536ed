public import HeartwoodFoundation

/// What is written of a model, before it is checked.
struct ModelDocument: Codable {
  private enum Key: String, CodingKey {
    case format, entities, configurations, versionIdentifiers, fetchRequests, localization
  }

  /// The version of the form in which a model is written.
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
    let container = try decoder.container(keyedBy: Key.self)
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
  /// Writes the model as `Formats/Model/README.md` says.
  public func encode(to encoder: any Encoder) throws {
    try ModelDocument(self).encode(to: encoder)
  }

  /// Reads a model as `Formats/Model/README.md` says, and checks it.
  ///
  /// - Throws: ``ModelValidationError`` where the model has faults; `DecodingError` where it is no model, or one of a newer
  ///   format.
  public convenience init(from decoder: any Decoder) throws {
    try self.init(ModelDocument(from: decoder))
  }

  /// The model as JSON, for a store to embed: the same bytes for the same model.
  public func encoded() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(ModelDocument(self))
  }

  /// The model of which `data` is the JSON.
  ///
  /// - Throws: ``ModelValidationError`` where the model has faults; `DecodingError` where it is no model, or one of a newer
  ///   format.
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
