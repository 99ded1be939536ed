extension AttributeDescription: Codable {
  private enum Key: String, CodingKey {
    case name, type, optional, transient
    case defaultValue = "default"
    case externalStorage, preservedOnDeletion, transformer
    case valueClass, renamingIdentifier, versionHashModifier, userInfo
  }

  /// Writes the attribute as `Formats/Model/README.md` says.
  ///
  /// - Throws: `EncodingError` where the default value does not fit the type.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encode(type, forKey: .type)
    try container.encodeIfSet(isOptional, forKey: .optional)
    try container.encodeIfSet(isTransient, forKey: .transient)
    try encodeDefault(in: &container)
    try container.encodeIfSet(allowsExternalBinaryDataStorage, forKey: .externalStorage)
    try container.encodeIfSet(preservesValueInHistoryOnDeletion, forKey: .preservedOnDeletion)
    try container.encodeIfPresent(valueTransformerName, forKey: .transformer)
    try container.encodeIfPresent(attributeValueClassName, forKey: .valueClass)
    try container.encodeIfPresent(renamingIdentifier, forKey: .renamingIdentifier)
    try container.encodeIfPresent(versionHashModifier, forKey: .versionHashModifier)
    try container.encodeIfNotEmpty(userInfo, forKey: .userInfo)
  }

  private func encodeDefault(in container: inout KeyedEncodingContainer<Key>) throws {
    guard !defaultValue.isNull else { return }
    guard let text = defaultValue.text(of: type) else {
      let problem = "The default of “\(name)” is \(defaultValue.kindDescription), which does not fit \(type.rawValue)."
      throw EncodingError.invalidValue(
        defaultValue,
        .init(codingPath: container.codingPath + [Key.defaultValue], debugDescription: problem)
      )
    }
    try container.encode(text, forKey: .defaultValue)
  }

  /// Reads an attribute as `Formats/Model/README.md` says.
  ///
  /// - Throws: `DecodingError`, also where the default is no value of the type.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let type = try container.decode(AttributeType.self, forKey: .type)
    self.init(
      name: try container.decode(String.self, forKey: .name),
      type: type,
      isOptional: try container.flag(forKey: .optional),
      isTransient: try container.flag(forKey: .transient),
      defaultValue: try Self.decodeDefault(of: type, in: container),
      allowsExternalBinaryDataStorage: try container.flag(forKey: .externalStorage),
      preservesValueInHistoryOnDeletion: try container.flag(forKey: .preservedOnDeletion),
      valueTransformerName: try container.text(forKey: .transformer),
      attributeValueClassName: try container.text(forKey: .valueClass),
      renamingIdentifier: try container.text(forKey: .renamingIdentifier),
      versionHashModifier: try container.text(forKey: .versionHashModifier),
      userInfo: try container.userInfo(forKey: .userInfo)
    )
  }

  private static func decodeDefault(
    of type: AttributeType,
    in container: KeyedDecodingContainer<Key>
  ) throws -> PropertyValue {
    guard let text = try container.text(forKey: .defaultValue) else { return .null }
    if let value = PropertyValue(text: text, type: type) { return value }
    throw DecodingError.dataCorruptedError(
      forKey: .defaultValue,
      in: container,
      debugDescription: "The default is no value of the type \(type.rawValue)."
    )
  }
}
