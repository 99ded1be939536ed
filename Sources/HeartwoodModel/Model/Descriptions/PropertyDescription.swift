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
  public var mayBeEmpty: Bool {
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

// MARK: PropertyTrait

/// What reading, writing and checking values must know of a property, without a copy of its whole description.
package struct PropertyTrait: Sendable {
  /// The type of an attribute; nil for relationships.
  package let attributeType: AttributeType?
  package let isOptional: Bool
  /// Whether an object may be saved without a value, or, for a relationship, without an object in it.
  package let mayBeEmpty: Bool
  package let isTransient: Bool
  package let isToMany: Bool
  package let isOrdered: Bool
  /// The least and the greatest number of objects of a relationship; 0 means that there is none.
  package let minCount: Int
  package let maxCount: Int
  /// The ordinal of a relationship's inverse in the destination entity.
  package let inverseOrdinal: Int?

  init(_ property: PropertyDescription, target: RelationshipTarget?) {
    let relationship = property.relationship
    attributeType = property.attribute?.type
    isOptional = property.isOptional
    mayBeEmpty = property.mayBeEmpty
    isTransient = property.isTransient
    isToMany = relationship?.isToMany ?? false
    isOrdered = isToMany && relationship?.isOrdered ?? false
    minCount = relationship?.minCount ?? 0
    maxCount = relationship?.maxCount ?? 0
    inverseOrdinal = target?.inverseOrdinal
  }
}

extension PropertyTrait {
  package var isToOne: Bool { attributeType == nil && !isToMany }

  /// What a property has that was never set.
  package var emptyValue: PropertyValue { isToMany ? .toMany([]) : .null }

  /// Whether two values of the property are the same. Where a relationship has no order, that of its ids means nothing.
  package func areSame(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    if left == right { return true }
    guard isToMany, !isOrdered, case .toMany(let ids) = left, case .toMany(let others) = right else { return false }
    return ids.count == others.count && Set(ids) == Set(others)
  }
}

extension PropertyValue {
  /// Whether a property of this kind can hold the value.
  package func fits(_ trait: PropertyTrait) -> Bool {
    if let type = trait.attributeType { return fits(type) }
    switch self {
    case .null, .toOne: return !trait.isToMany
    case .toMany: return trait.isToMany
    default: return false
    }
  }
}
