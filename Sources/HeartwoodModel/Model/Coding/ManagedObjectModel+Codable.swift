#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

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
