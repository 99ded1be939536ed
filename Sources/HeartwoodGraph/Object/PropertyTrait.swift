import HeartwoodModel

/// What reading and writing a property must know of it, without a copy of its description.
struct PropertyTrait {
  /// The type of an attribute; nil for relationships.
  let attributeType: AttributeType?
  let isToMany: Bool
  let isOrdered: Bool
  let isTransient: Bool
  /// The ordinal of a relationship's inverse in the destination entity.
  let inverseOrdinal: Int?

  init(_ property: PropertyDescription, target: RelationshipTarget?) {
    attributeType = property.attribute?.type
    isToMany = property.relationship?.isToMany ?? false
    isOrdered = property.relationship?.isOrdered ?? false
    isTransient = property.isTransient
    inverseOrdinal = target?.inverseOrdinal
  }

  var isToOne: Bool { attributeType == nil && !isToMany }

  /// What a property has that was never set.
  var emptyValue: PropertyValue { isToMany ? .toMany([]) : .null }
}
