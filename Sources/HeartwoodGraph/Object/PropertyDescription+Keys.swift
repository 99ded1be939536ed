public import HeartwoodModel

// Descriptions of properties by their typed keys, so that the type, the optionality and the destination are said once.

extension PropertyDescription {
  /// An attribute whose key says what its values are, in the short form for models written in code.
  ///
  /// - Parameters:
  ///   - key: its name, and the Swift type of its values.
  ///   - type: how it is kept; nil means as fits the Swift type best, which is `integer64` for an `Int`.
  ///   - isOptional: whether an object may be saved without a value; nil means that it is so where the Swift type is optional.
  public static func attribute<Value: AttributeValue>(
    _ key: AttributeKey<Value>,
    _ type: AttributeType? = nil,
    optional isOptional: Bool? = nil,
    transient isTransient: Bool = false,
    default defaultValue: Value? = nil,
    rules: AttributeRules = AttributeRules(),
    derivedFrom derivationExpression: FetchExpression? = nil,
    externalStorage: Bool = false,
    preservedOnDeletion: Bool = false,
    renamedFrom renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDescription {
    guard let type = type ?? AttributeType(of: Value.self) else {
      Misuse.stop("\(Value.self) fits no attribute. Correct its fits(_:).")
    }
    return .attribute(
      AttributeDescription(
        name: key.name,
        type: type,
        isOptional: isOptional ?? (Value.self is any OptionalAttributeValue.Type),
        isTransient: isTransient,
        defaultValue: defaultValue?.propertyValue ?? .null,
        rules: rules,
        derivationExpression: derivationExpression,
        allowsExternalBinaryDataStorage: externalStorage,
        preservesValueInHistoryOnDeletion: preservedOnDeletion,
        renamingIdentifier: renamingIdentifier,
        versionHashModifier: versionHashModifier,
        userInfo: userInfo
      )
    )
  }

  /// A transformable attribute, in the short form for models written in code.
  ///
  /// - Parameter transformer: the name under which its transformer is registered with ``AttributeTransformers``.
  public static func attribute<Value>(
    _ key: TransformedKey<Value>,
    transformer: String,
    optional isOptional: Bool = true,
    transient isTransient: Bool = false,
    externalStorage: Bool = false,
    preservedOnDeletion: Bool = false,
    renamedFrom renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDescription {
    .attribute(
      AttributeDescription(
        name: key.name,
        type: .transformable,
        isOptional: isOptional,
        isTransient: isTransient,
        allowsExternalBinaryDataStorage: externalStorage,
        preservesValueInHistoryOnDeletion: preservedOnDeletion,
        valueTransformerName: transformer,
        attributeValueClassName: String(describing: Value.self),
        renamingIdentifier: renamingIdentifier,
        versionHashModifier: versionHashModifier,
        userInfo: userInfo
      )
    )
  }

  /// A relationship to one object at most, whose key says of which class, in the short form for models written in code.
  ///
  /// - Parameter inverse: the name of the relationship that leads back: `List.itemsKey.name`. Either side may omit it in a model that is
  ///   made of classes, but not both.
  public static func toOne<Destination: ManagedObject>(
    _ key: ToOneKey<Destination>,
    inverse: String? = nil,
    oneSidedInverse: Bool = false,
    optional isOptional: Bool = true,
    transient isTransient: Bool = false,
    deleteRule: DeleteRule = .nullify,
    minCount: Int = 0,
    renamedFrom renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDescription {
    .relationship(
      RelationshipDescription(
        name: key.name,
        destinationEntityName: Destination.entityName,
        inverseRelationshipName: inverse,
        hasOneSidedInverse: oneSidedInverse,
        isOptional: isOptional,
        isTransient: isTransient,
        deleteRule: deleteRule,
        minCount: minCount,
        renamingIdentifier: renamingIdentifier,
        versionHashModifier: versionHashModifier,
        userInfo: userInfo
      )
    )
  }

  /// A relationship to any number of objects, whose key says of which class, in the short form for models written in code.
  ///
  /// - Parameters:
  ///   - inverse: the name of the relationship that leads back: `ToDo.listKey.name`. Either side may omit it in a model that is
  ///     made of classes, but not both.
  ///   - maxCount: the greatest number of objects; 0 means any number.
  public static func toMany<Destination: ManagedObject>(
    _ key: ToManyKey<Destination>,
    inverse: String? = nil,
    oneSidedInverse: Bool = false,
    ordered isOrdered: Bool = false,
    optional isOptional: Bool = true,
    transient isTransient: Bool = false,
    deleteRule: DeleteRule = .nullify,
    minCount: Int = 0,
    maxCount: Int = 0,
    renamedFrom renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDescription {
    .relationship(
      RelationshipDescription(
        name: key.name,
        destinationEntityName: Destination.entityName,
        inverseRelationshipName: inverse,
        hasOneSidedInverse: oneSidedInverse,
        isToMany: true,
        isOrdered: isOrdered,
        isOptional: isOptional,
        isTransient: isTransient,
        deleteRule: deleteRule,
        minCount: minCount,
        maxCount: maxCount,
        renamingIdentifier: renamingIdentifier,
        versionHashModifier: versionHashModifier,
        userInfo: userInfo
      )
    )
  }
}
