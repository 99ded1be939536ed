import HeartwoodFoundation
import HeartwoodModel
import HeartwoodStore

/// The keys of the format: `Formats/PropertyList` is the specification.
@_spi(CoreDataFiles)
public enum PropertyListFormat {
  /// The version of the format.
  static let version: Int64 = 1

  static let versionKey = "heartwoodVersion"
  static let metadataKey = "metadata"
  static let modelKey = "model"
  static let recordsKey = "records"

  /// The keys of the root. A file with any other is refused, since a save would lose its value.
  static let rootKeys: Set<String> = [versionKey, metadataKey, modelKey, recordsKey]

  /// The key of a record's reference. No property can have this name.
  static let referenceKey = "$id"
  /// The key of the entity of a record that a relationship refers to, if it is not the relationship's destination
  /// itself.
  static let entityKey = "$entity"

  /// The first bytes of a binary property list.
  public static let binaryMagic = Array("bplist0".utf8)
  /// The first bytes of a binary file.
  static let binaryHeader = "bplist00"
}

/// The two forms in which a property list is written.
public enum PropertyListKind: String, Sendable, Hashable, CaseIterable {
  /// Apple's binary form, `bplist00`.
  case binary
  /// XML text.
  case xml
}

// MARK: PropertyListMetadata

/// The parts of a file other than its records.
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
        "The property list is not a store: it has no number under the key \(PropertyListFormat.versionKey).",
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

  /// Returns the model in the file, or nil if it contains none.
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

// MARK: PropertyListSchema

/// The entities and properties that a property list store keeps.
struct PropertyListSchema: Sendable {
  struct Property: Sendable {
    enum Content: Sendable {
      case attribute(AttributeType)
      /// A relationship to one object, of the entity with an ordinal unless the reference contains another one.
      case toOne(Int)
      case toMany(Int)
    }

    let name: String
    let ordinal: Int
    let content: Content
    /// The entities that a relationship's objects may be of.
    let targets: [Int]
  }

  struct Entity: Sendable {
    let description: EntityDescription
    let properties: [Property]
    let placesByName: [String: Int]

    var name: String { description.name }
  }

  let model: ManagedObjectModel
  let entities: [Entity]
  private let placesByName: [String: Int]

  init(_ model: ManagedObjectModel, entities kept: [EntityDescription]) {
    self.model = model
    entities = kept.filter { !$0.isAbstract }.map { Self.entity($0, of: model) }
    placesByName = Self.places(entities.map(\.name))
  }

  private static func entity(_ entity: EntityDescription, of model: ManagedObjectModel) -> Entity {
    let properties = entity.properties.indices.compactMap { ordinal -> Property? in
      let property = entity.properties[ordinal]
      guard !property.isTransient, let content = content(ordinal, of: entity) else { return nil }
      return Property(
        name: property.name,
        ordinal: ordinal,
        content: content,
        targets: targets(ordinal, of: entity, model)
      )
    }
    return Entity(description: entity, properties: properties, placesByName: places(properties.map(\.name)))
  }

  private static func content(_ ordinal: Int, of entity: EntityDescription) -> Property.Content? {
    switch entity.properties[ordinal] {
    case .attribute(let attribute): .attribute(attribute.type)
    case .relationship(let relationship):
      entity.relationshipTargets[ordinal].map {
        relationship.isToMany ? .toMany($0.entityOrdinal) : .toOne($0.entityOrdinal)
      }
    }
  }

  private static func targets(_ ordinal: Int, of entity: EntityDescription, _ model: ManagedObjectModel) -> [Int] {
    guard let target = entity.relationshipTargets[ordinal] else { return [] }
    return model.concreteEntities(under: model.entities[target.entityOrdinal]).map(\.ordinal)
  }

  private static func places(_ names: [String]) -> [String: Int] {
    Dictionary(names.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the place of the entity called `name` among those that have records of their own.
  func place(ofEntity name: String) -> Int? { placesByName[name] }

  /// Returns the ordinal of the entity with the name in a reference.
  func ordinal(ofEntity name: String) -> Int? { placesByName[name].map { entities[$0].description.ordinal } }
}
