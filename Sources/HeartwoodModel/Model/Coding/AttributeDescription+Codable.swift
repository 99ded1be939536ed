extension AttributeDescription: Codable {
  private enum Key: String, CodingKey {
    case name, type, optional, transient
    case defaultValue = "default"
    case minValue, maxValue, minLength, maxLength, pattern, predicates
    case derivation, externalStorage, preservedOnDeletion, transformer
    case valueClass, renamingIdentifier, versionHashModifier, userInfo
  }

  /// Writes the attribute as `Formats/Model/README.md` says.
  ///
  /// - Throws: `EncodingError` where the default value, or the least or greatest one, does not fit the type.
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

  /// Reads an attribute as `Formats/Model/README.md` says.
  ///
  /// - Throws: `DecodingError`, also where the default, or the least or greatest value, is no value of the type.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
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
      debugDescription: "The \(title) is no value of the type \(type.rawValue)."
    )
  }
}
