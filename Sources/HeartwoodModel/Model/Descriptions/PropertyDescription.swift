/// The description of a property of an entity: an attribute or a relationship.
public enum PropertyDescription: Sendable, Hashable {
  case attribute(AttributeDescription)
  case relationship(RelationshipDescription)
}

extension PropertyDescription {
  /// The name, unique in the entity.
  public var name: String {
    switch self {
    case .attribute(let attribute): attribute.name
    case .relationship(let relationship): relationship.name
    }
  }

  /// Whether an object may be saved without a value.
  public var isOptional: Bool {
    switch self {
    case .attribute(let attribute): attribute.isOptional
    case .relationship(let relationship): relationship.isOptional
    }
  }

  /// Whether an object may be saved without a value, or, for a relationship, without an object in it.
  package var mayBeEmpty: Bool {
    switch self {
    case .attribute(let attribute): attribute.isOptional
    case .relationship(let relationship): relationship.mayBeEmpty
    }
  }

  /// Whether the value lives in memory only and no store keeps it.
  public var isTransient: Bool {
    switch self {
    case .attribute(let attribute): attribute.isTransient
    case .relationship(let relationship): relationship.isTransient
    }
  }

  /// The name that the property had in the version of the model before this one, where it was renamed.
  public var renamingIdentifier: String? {
    switch self {
    case .attribute(let attribute): attribute.renamingIdentifier
    case .relationship(let relationship): relationship.renamingIdentifier
    }
  }

  /// A text that changes the version hash, for a change that the description does not show.
  public var versionHashModifier: String? {
    switch self {
    case .attribute(let attribute): attribute.versionHashModifier
    case .relationship(let relationship): relationship.versionHashModifier
    }
  }

  /// The author's own notes, by key.
  public var userInfo: [String: String] {
    switch self {
    case .attribute(let attribute): attribute.userInfo
    case .relationship(let relationship): relationship.userInfo
    }
  }

  /// The attribute that this is, or nil for a relationship.
  public var attribute: AttributeDescription? {
    if case .attribute(let attribute) = self { attribute } else { nil }
  }

  /// The relationship that this is, or nil for an attribute.
  public var relationship: RelationshipDescription? {
    if case .relationship(let relationship) = self { relationship } else { nil }
  }
}

extension PropertyDescription {
  /// An attribute, in the short form for models written in code.
  ///
  /// Without `optional:` it must have a value when it is saved, which its default may be.
  public static func attribute(
    _ name: String,
    _ type: AttributeType,
    optional: Bool = false,
    transient: Bool = false,
    default defaultValue: PropertyValue = .null,
    rules: AttributeRules = AttributeRules(),
    renamedFrom renamingIdentifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDescription {
    .attribute(
      AttributeDescription(
        name: name,
        type: type,
        isOptional: optional,
        isTransient: transient,
        defaultValue: defaultValue,
        rules: rules,
        renamingIdentifier: renamingIdentifier,
        userInfo: userInfo
      )
    )
  }

  /// A relationship to one object at most, in the short form for models written in code.
  public static func toOne(
    _ name: String,
    _ destination: String,
    inverse: String?,
    optional: Bool = true,
    deleteRule: DeleteRule = .nullify,
    renamedFrom renamingIdentifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDescription {
    .relationship(
      RelationshipDescription(
        name: name,
        destinationEntityName: destination,
        inverseRelationshipName: inverse,
        isOptional: optional,
        deleteRule: deleteRule,
        renamingIdentifier: renamingIdentifier,
        userInfo: userInfo
      )
    )
  }

  /// A relationship to any number of objects, in the short form for models written in code.
  public static func toMany(
    _ name: String,
    _ destination: String,
    inverse: String?,
    ordered: Bool = false,
    optional: Bool = true,
    count: ClosedRange<Int>? = nil,
    deleteRule: DeleteRule = .nullify,
    renamedFrom renamingIdentifier: String? = nil,
    userInfo: [String: String] = [:]
  ) -> PropertyDescription {
    .relationship(
      RelationshipDescription(
        name: name,
        destinationEntityName: destination,
        inverseRelationshipName: inverse,
        isToMany: true,
        isOrdered: ordered,
        isOptional: optional,
        deleteRule: deleteRule,
        minCount: count?.lowerBound ?? 0,
        maxCount: count?.upperBound ?? 0,
        renamingIdentifier: renamingIdentifier,
        userInfo: userInfo
      )
    )
  }
}
