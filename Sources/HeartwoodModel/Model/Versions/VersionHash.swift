public import HeartwoodFoundation

/// The hashes by which Core Data recognizes whether a store was written with the same entity.
///
/// They cover everything that determines the form of the stored data, and nothing else: delete rules, default values,
/// class names, transformers and user info are left out, and so are transient properties.
enum VersionHash {
  /// Returns the hash of an entity with `properties`, including the inherited ones, in any order.
  static func entity(
    _ definition: EntityDefinition,
    properties: [PropertyDescription],
    superentityHash: Data?
  ) -> Data {
    var message = Array(definition.name.utf8)
    message.append(definition.isAbstract ? 1 : 0)
    if let superentityHash { message += superentityHash }
    let stored = properties.filter { !$0.isTransient }
    for property in stored.sorted(by: { VersionHash.precedes($0.name, $1.name) }) { message += hash(of: property) }
    for names in definition.uniquenessConstraints { message += names.joined(separator: ".").utf8 }
    message += (definition.versionHashModifier ?? "").utf8
    return Data(SecureHash.sha256(message))
  }

  /// Returns whether `left` comes before `right` in the order in which Core Data hashes names: by code unit, in every
  /// locale.
  static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  private static func hash(of property: PropertyDescription) -> [UInt8] {
    var message: [UInt8] = []
    message += header(of: property)
    switch property {
    case .attribute(let attribute): append(attribute, to: &message)
    case .relationship(let relationship): append(relationship, to: &message)
    }
    return SecureHash.sha256(message)
  }

  /// Returns the part of the hashed message that attributes and relationships have in common.
  private static func header(of property: PropertyDescription) -> [UInt8] {
    var message = Array(property.name.utf8)
    message += [property.isOptional ? 1 : 0, 0]
    message += (property.versionHashModifier ?? "").utf8
    return SecureHash.sha256(message)
  }

  private static func append(_ attribute: AttributeDescription, to message: inout [UInt8]) {
    append(attribute.type.coreDataCode, to: &message)
    if attribute.allowsExternalBinaryDataStorage || attribute.preservesValueInHistoryOnDeletion { message.append(1) }
  }

  private static func append(_ relationship: RelationshipDescription, to message: inout [UInt8]) {
    message += relationship.destinationEntityName.utf8
    message += (relationship.inverseRelationshipName ?? "").utf8
    append(UInt32(truncatingIfNeeded: relationship.maxCount), to: &message)
    append(UInt32(truncatingIfNeeded: relationship.minCount), to: &message)
    if relationship.isOrdered { message += [1, 0] }
  }

  private static func append(_ number: UInt32, to message: inout [UInt8]) {
    withUnsafeBytes(of: number.littleEndian) { message += $0 }
  }
}

// MARK: ManagedObjectModel: version hashes

extension ManagedObjectModel {
  /// The version hash of each entity, by name. Stores keep them to recognize whether a model fits. Each access makes a
  /// new dictionary: O(n).
  public var entityVersionHashesByName: [String: Data] {
    Dictionary(entities.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns whether stores of one model can be opened with the other.
  package func isSameVersion(as other: ManagedObjectModel) -> Bool {
    self === other || entityVersionHashesByName == other.entityVersionHashesByName
  }

  /// A checksum of the version hashes of all entities, which newer stores keep under `NSStoreModelVersionChecksumKey`.
  /// O(n log n) in the number of entities.
  public var versionChecksum: String { Self.versionChecksum(of: entityVersionHashesByName) }

  /// A digest of the names and the version hashes of all entities, which stores keep under
  /// `NSStoreModelVersionHashesDigest`. O(n log n) in the number of entities.
  public var versionHashesDigest: String { Self.versionHashesDigest(of: entityVersionHashesByName) }

  /// Returns the checksum of a model whose entities have these hashes.
  package static func versionChecksum(of hashes: [String: Data]) -> String {
    let message = inHashOrder(hashes).flatMap { Array($0.value) }
    return Data(SecureHash.sha256(message)).base64EncodedString()
  }

  /// Returns the digest of a model whose entities have these hashes.
  package static func versionHashesDigest(of hashes: [String: Data]) -> String {
    let message = inHashOrder(hashes).flatMap { Array($0.key.utf8) + Array($0.value) }
    return Data(SecureHash.sha512(message)).base64EncodedString()
  }

  private static func inHashOrder(_ hashes: [String: Data]) -> [(key: String, value: Data)] {
    hashes.sorted { VersionHash.precedes($0.key, $1.key) }
  }
}
