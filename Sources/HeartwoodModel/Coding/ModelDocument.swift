/// What is written of a model, before it is checked.
struct ModelDocument: Codable {
  private enum Key: String, CodingKey {
    case format, entities, configurations, versionIdentifiers
  }

  /// The version of the form in which a model is written.
  private static let format = 1

  let entities: [EntityDefinition]
  let configurations: [String: [String]]
  let versionIdentifiers: [String]

  init(_ model: ManagedObjectModel) {
    self.entities = model.entities.map(\.definition)
    self.configurations = model.configurations
    self.versionIdentifiers = model.versionIdentifiers
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(Self.format, forKey: .format)
    try container.encode(entities, forKey: .entities)
    try container.encodeIfNotEmpty(configurations, forKey: .configurations)
    try container.encodeIfNotEmpty(versionIdentifiers, forKey: .versionIdentifiers)
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
  }
}
