import HeartwoodModel
import HeartwoodStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a file tells beside its records.
struct PropertyListHeader: Sendable {
  var version: MetadataValue?
  var metadata: MetadataValue?
  var model: MetadataValue?
}

/// The metadata of a store as a dictionary.
enum PropertyListMetadata {
  private enum Key {
    static let identifier = "identifier"
    static let storeType = "storeType"
    static let hashes = "modelVersionHashes"
    static let identifiers = "modelVersionIdentifiers"
    static let userInfo = "userInfo"
  }

  static func value(_ metadata: StoreMetadata) -> MetadataValue {
    .dictionary([
      Key.identifier: .string(metadata.identifier.uuidString),
      Key.storeType: .string(metadata.storeType.rawValue),
      Key.hashes: .dictionary(metadata.modelVersionHashes.mapValues(MetadataValue.binary)),
      Key.identifiers: .array(metadata.modelVersionIdentifiers.map(MetadataValue.string)),
      Key.userInfo: .dictionary(metadata.userInfo),
    ])
  }

  /// - Throws: ``PersistenceError/Code/fileMalformed``, ``PersistenceError/Code/fileFormatUnsupported``.
  static func metadata(_ header: PropertyListHeader, path: String) throws(PersistenceError) -> StoreMetadata {
    try checkVersion(header, path: path)
    guard case .dictionary(let members) = header.metadata, case .string(let text) = members[Key.identifier],
      let identifier = UUID(uuidString: text)
    else {
      throw malformed("The metadata must be a dictionary with an identifier that is a UUID.", path)
    }
    guard let hashes = hashes(members[Key.hashes]), let identifiers = identifiers(members[Key.identifiers]),
      let userInfo = dictionary(members[Key.userInfo])
    else { throw malformed("A part of the metadata is of another kind than it should be.", path) }
    return StoreMetadata(
      identifier: identifier,
      storeType: .propertyList,
      modelVersionHashes: hashes,
      modelVersionIdentifiers: identifiers,
      userInfo: userInfo
    )
  }

  private static func checkVersion(_ header: PropertyListHeader, path: String) throws(PersistenceError) {
    guard case .integer(let version) = header.version else {
      throw malformed(
        "The property list is no store: it has no number under the key \(PropertyListFormat.versionKey).",
        path
      )
    }
    guard version == PropertyListFormat.version else {
      throw PersistenceError(
        .fileFormatUnsupported,
        "The file is of version \(version) of the form; \(PropertyListFormat.version) is known.",
        recovery: "Open it with a newer version.",
        context: .init(path: path, storeType: .propertyList)
      )
    }
  }

  /// The model that the file holds, or nil where it holds none.
  static func model(_ header: PropertyListHeader) throws -> ManagedObjectModel? {
    guard case .string(let text) = header.model else { return nil }
    return try ManagedObjectModel.decoded(from: Data(text.utf8))
  }

  private static func dictionary(_ value: MetadataValue?) -> [String: MetadataValue]? {
    guard let value else { return [:] }
    if case .dictionary(let members) = value { return members }
    return nil
  }

  private static func hashes(_ value: MetadataValue?) -> [String: Data]? {
    guard let members = dictionary(value) else { return nil }
    let hashes = members.compactMapValues { if case .binary(let hash) = $0 { hash } else { nil } }
    return hashes.count == members.count ? hashes : nil
  }

  private static func identifiers(_ value: MetadataValue?) -> [String]? {
    guard let value else { return [] }
    guard case .array(let values) = value else { return nil }
    let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
    return texts.count == values.count ? texts : nil
  }

  private static func malformed(_ message: String, _ path: String) -> PersistenceError {
    PersistenceError(.fileMalformed, message, context: .init(path: path, storeType: .propertyList))
  }
}
