extension PropertyDescription: Codable {
  private enum Key: String, CodingKey {
    case kind
  }

  private enum Kind: String, Codable {
    case attribute, relationship
  }

  /// Encodes the kind, and the members of the attribute or the relationship with it.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    switch self {
    case .attribute(let attribute):
      try container.encode(Kind.attribute, forKey: .kind)
      try attribute.encode(to: encoder)
    case .relationship(let relationship):
      try container.encode(Kind.relationship, forKey: .kind)
      try relationship.encode(to: encoder)
    }
  }

  /// Decodes the kind, and then the attribute or the relationship. An unknown kind is an error.
  public init(from decoder: any Decoder) throws {
    switch try decoder.container(keyedBy: Key.self).decode(Kind.self, forKey: .kind) {
    case .attribute: self = .attribute(try AttributeDescription(from: decoder))
    case .relationship: self = .relationship(try RelationshipDescription(from: decoder))
    }
  }
}

// MARK: AttributeDescription: Codable

extension AttributeDescription: Codable {
  private enum Key: String, CodingKey {
    // PropertyDescription reads the kind.
    case kind
    case name, type, optional, transient
    case defaultValue = "default"
    case minValue, maxValue, minLength, maxLength, pattern, predicates
    case derivation, externalStorage, preservedOnDeletion, transformer
    case valueClass, renamingIdentifier, versionHashModifier, userInfo
  }

  /// Encodes the attribute as described in `Formats/Model/README.md`.
  ///
  /// - Throws: `EncodingError` if the default value, or the least or greatest value, does not fit the type.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encode(type, forKey: .type)
    try container.encodeIfSet(isOptional, forKey: .optional)
    try container.encodeIfSet(isTransient, forKey: .transient)
    try encode(defaultValue, "default", forKey: .defaultValue, in: &container)
    try encode(rules.minValue, "least value", forKey: .minValue, in: &container)
    try encode(rules.maxValue, "greatest value", forKey: .maxValue, in: &container)
    try container.encodeIfPresent(rules.minLength, forKey: .minLength)
    try container.encodeIfPresent(rules.maxLength, forKey: .maxLength)
    try container.encodeIfPresent(rules.pattern, forKey: .pattern)
    if !rules.predicates.isEmpty { try container.encode(rules.predicates, forKey: .predicates) }
    try container.encodeIfPresent(derivationExpression, forKey: .derivation)
    try container.encodeIfSet(allowsExternalBinaryDataStorage, forKey: .externalStorage)
    try container.encodeIfSet(preservesValueInHistoryOnDeletion, forKey: .preservedOnDeletion)
    try container.encodeIfPresent(valueTransformerName, forKey: .transformer)
    try container.encodeIfPresent(attributeValueClassName, forKey: .valueClass)
    try container.encodeIfPresent(renamingIdentifier, forKey: .renamingIdentifier)
    try container.encodeIfPresent(versionHashModifier, forKey: .versionHashModifier)
    try container.encodeIfNotEmpty(userInfo, forKey: .userInfo)
  }

  private func encode(
    _ value: PropertyValue,
    _ title: String,
    forKey key: Key,
    in container: inout KeyedEncodingContainer<Key>
  ) throws {
    guard !value.isNull else { return }
    guard let text = value.text(of: type) else {
      let problem = "The \(title) of “\(name)” is \(value.kindDescription), which does not fit \(type.rawValue)."
      throw EncodingError.invalidValue(
        value,
        .init(codingPath: container.codingPath + [key], debugDescription: problem)
      )
    }
    try container.encode(text, forKey: key)
  }

  /// Decodes an attribute as described in `Formats/Model/README.md`.
  ///
  /// - Throws: `DecodingError`, also if the default value, or the least or greatest value, is not a value of the type.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.members(of: Key.self)
    let type = try container.decode(AttributeType.self, forKey: .type)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      type: type,
      isOptional: try container.flag(forKey: .optional),
      isTransient: try container.flag(forKey: .transient),
      defaultValue: try Self.value("default", of: type, forKey: .defaultValue, in: container),
      rules: try Self.rules(of: type, in: container),
      derivationExpression: try container.decodeIfPresent(FetchExpression.self, forKey: .derivation),
      allowsExternalBinaryDataStorage: try container.flag(forKey: .externalStorage),
      preservesValueInHistoryOnDeletion: try container.flag(forKey: .preservedOnDeletion),
      valueTransformerName: try container.text(forKey: .transformer),
      attributeValueClassName: try container.text(forKey: .valueClass),
      renamingIdentifier: try container.text(forKey: .renamingIdentifier),
      versionHashModifier: try container.text(forKey: .versionHashModifier),
      userInfo: try container.userInfo(forKey: .userInfo)
    )
  }

  private static func rules(
    of type: AttributeType,
    in container: KeyedDecodingContainer<Key>
  ) throws -> AttributeRules {
    AttributeRules(
      minValue: try value("least value", of: type, forKey: .minValue, in: container),
      maxValue: try value("greatest value", of: type, forKey: .maxValue, in: container),
      minLength: try container.decodeIfPresent(Int.self, forKey: .minLength),
      maxLength: try container.decodeIfPresent(Int.self, forKey: .maxLength),
      pattern: try container.text(forKey: .pattern),
      predicates: try container.decodeIfPresent([ValidationPredicate].self, forKey: .predicates) ?? []
    )
  }

  private static func value(
    _ title: String,
    of type: AttributeType,
    forKey key: Key,
    in container: KeyedDecodingContainer<Key>
  ) throws -> PropertyValue {
    guard let text = try container.text(forKey: key) else { return .null }
    if let value = PropertyValue(text: text, type: type) { return value }
    throw DecodingError.dataCorruptedError(
      forKey: key,
      in: container,
      debugDescription: "The \(title) is not a value of the type \(type.rawValue)."
    )
  }
}

// MARK: CompositeAttributeDescription: Codable

extension CompositeAttributeDescription: Codable {
  private enum Key: String, CodingKey {
    case name, composite, elements, userInfo
  }

  /// Encodes the composite attribute as described in `Formats/Model/README.md`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encode(compositeName, forKey: .composite)
    try container.encode(elements, forKey: .elements)
    try container.encodeIfNotEmpty(userInfo, forKey: .userInfo)
  }

  /// Decodes a composite attribute as described in `Formats/Model/README.md`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.members(of: Key.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      compositeName: try container.decode(String.self, forKey: .composite),
      elements: try container.list(of: Element.self, forKey: .elements),
      userInfo: try container.userInfo(forKey: .userInfo)
    )
  }
}

// MARK: RelationshipDescription: Codable

extension RelationshipDescription: Codable {
  private enum Key: String, CodingKey {
    // PropertyDescription reads the kind.
    case kind
    case name, destination, inverse, oneSided, toMany, ordered, optional, transient, deleteRule, minCount, maxCount
    case renamingIdentifier, versionHashModifier, userInfo
  }

  /// Encodes the relationship as described in `Formats/Model/README.md`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encode(destinationEntityName, forKey: .destination)
    try container.encodeIfPresent(inverseRelationshipName, forKey: .inverse)
    try container.encodeIfSet(hasOneSidedInverse, forKey: .oneSided)
    try container.encodeIfSet(isToMany, forKey: .toMany)
    try container.encodeIfSet(isOrdered, forKey: .ordered)
    try container.encodeIfSet(isOptional, forKey: .optional)
    try container.encodeIfSet(isTransient, forKey: .transient)
    try container.encode(deleteRule, unless: .nullify, forKey: .deleteRule)
    try container.encode(minCount, unless: 0, forKey: .minCount)
    try container.encode(maxCount, unless: isToMany ? 0 : 1, forKey: .maxCount)
    try container.encodeIfPresent(renamingIdentifier, forKey: .renamingIdentifier)
    try container.encodeIfPresent(versionHashModifier, forKey: .versionHashModifier)
    try container.encodeIfNotEmpty(userInfo, forKey: .userInfo)
  }

  /// Decodes a relationship as described in `Formats/Model/README.md`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.members(of: Key.self)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      destinationEntityName: try container.decode(String.self, forKey: .destination),
      inverseRelationshipName: try container.text(forKey: .inverse),
      hasOneSidedInverse: try container.flag(forKey: .oneSided),
      isToMany: try container.flag(forKey: .toMany),
      isOrdered: try container.flag(forKey: .ordered),
      isOptional: try container.flag(forKey: .optional),
      isTransient: try container.flag(forKey: .transient),
      deleteRule: try container.decodeIfPresent(DeleteRule.self, forKey: .deleteRule) ?? .nullify,
      minCount: try container.decodeIfPresent(Int.self, forKey: .minCount) ?? 0,
      maxCount: try container.decodeIfPresent(Int.self, forKey: .maxCount),
      renamingIdentifier: try container.text(forKey: .renamingIdentifier),
      versionHashModifier: try container.text(forKey: .versionHashModifier),
      userInfo: try container.userInfo(forKey: .userInfo)
    )
  }
}

// MARK: KeyedContainer: absence

/// In the JSON of a model, a missing member has its usual value: false, no text, or an empty list.
extension KeyedEncodingContainer {
  mutating func encodeIfSet(_ flag: Bool, forKey key: Key) throws {
    if flag { try encode(true, forKey: key) }
  }

  mutating func encodeIfNotEmpty<Items: Collection & Encodable>(_ items: Items, forKey key: Key) throws {
    if !items.isEmpty { try encode(items, forKey: key) }
  }

  mutating func encode<Value: Encodable & Equatable>(_ value: Value, unless usual: Value, forKey key: Key) throws {
    if value != usual { try encode(value, forKey: key) }
  }
}

extension KeyedDecodingContainer {
  func flag(forKey key: Key) throws -> Bool {
    try decodeIfPresent(Bool.self, forKey: key) ?? false
  }

  func text(forKey key: Key) throws -> String? {
    try decodeIfPresent(String.self, forKey: key)
  }

  func list<Item: Decodable>(of type: Item.Type, forKey key: Key) throws -> [Item] {
    try decodeIfPresent([Item].self, forKey: key) ?? []
  }

  func userInfo(forKey key: Key) throws -> [String: String] {
    try decodeIfPresent([String: String].self, forKey: key) ?? [:]
  }
}
