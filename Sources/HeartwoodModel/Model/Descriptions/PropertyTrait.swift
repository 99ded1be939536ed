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
