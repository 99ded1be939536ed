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

  /// Whether an object may be saved while the property has no value.
  public var isOptional: Bool {
    switch self {
    case .attribute(let attribute): attribute.isOptional
    case .relationship(let relationship): relationship.isOptional
    }
  }

  /// Whether an object may be saved while the property has no value, or, for a relationship, no object.
  public var mayBeEmpty: Bool {
    switch self {
    case .attribute(let attribute): attribute.isOptional
    case .relationship(let relationship): relationship.mayBeEmpty
    }
  }

  /// Whether the value exists in memory only, and no store keeps it.
  public var isTransient: Bool {
    switch self {
    case .attribute(let attribute): attribute.isTransient
    case .relationship(let relationship): relationship.isTransient
    }
  }

  /// The name of the property in the previous version of the model, if it was renamed.
  public var renamingIdentifier: String? {
    switch self {
    case .attribute(let attribute): attribute.renamingIdentifier
    case .relationship(let relationship): relationship.renamingIdentifier
    }
  }

  /// A text that changes the version hash, for a change that is not visible in the description.
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

  /// The attribute; nil for a relationship.
  public var attribute: AttributeDescription? {
    if case .attribute(let attribute) = self { attribute } else { nil }
  }

  /// The relationship; nil for an attribute.
  public var relationship: RelationshipDescription? {
    if case .relationship(let relationship) = self { relationship } else { nil }
  }
}

extension PropertyDescription {
  /// Makes an attribute in the short form for models written in code: `.attribute("title", .string, default:
  /// .string(""))`.
  ///
  /// Unless `optional` is true, the attribute must have a value when an object is saved. The default value counts as
  /// one.
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

  /// Makes a relationship to at most one object, in the short form for models written in code: `.toOne("list", "List",
  /// inverse: "items")`.
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

  /// Makes a relationship to any number of objects, in the short form for models written in code: `.toMany("items",
  /// "ToDo", inverse: "list", ordered: true)`. Nil for `count` means any number.
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

/// The parts of a property description that reading, writing and checking values need, without a copy of the whole.
package struct PropertyTrait: Sendable {
  /// The type of an attribute; nil for relationships.
  package let attributeType: AttributeType?
  package let isOptional: Bool
  /// Whether an object may be saved while the property has no value, or, for a relationship, no object.
  package let mayBeEmpty: Bool
  package let isTransient: Bool
  package let isToMany: Bool
  package let isOrdered: Bool
  /// The least and the greatest number of objects of a relationship; 0 means no limit.
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

  /// The value of a property that was never set.
  package var emptyValue: PropertyValue { isToMany ? .toMany([]) : .null }

  /// Returns whether two values of the property are the same. The order of ids is ignored unless the relationship is
  /// ordered.
  package func areSame(_ left: PropertyValue, _ right: PropertyValue) -> Bool {
    if left == right { return true }
    guard isToMany, !isOrdered, case .toMany(let ids) = left, case .toMany(let others) = right else { return false }
    return ids.count == others.count && Set(ids) == Set(others)
  }
}

extension PropertyValue {
  /// Returns whether a property of this kind can hold the value.
  package func fits(_ trait: PropertyTrait) -> Bool {
    if let type = trait.attributeType { return fits(type) }
    switch self {
    case .null, .toOne: return !trait.isToMany
    case .toMany: return trait.isToMany
    default: return false
    }
  }
}
