package import HeartwoodModel

/// Whether records are as their entity's description asks.
package enum RecordValidation {
  /// What is wrong with the values of one record, in words. They are indexed by property ordinal.
  package static func faults(in values: [PropertyValue], of entity: EntityDescription) -> [String] {
    zip(entity.properties, values).compactMap { property, value in
      fault(value, property).map { "\(entity.name).\(property.name) \($0)" }
    }
  }

  private static func fault(_ value: PropertyValue, _ property: PropertyDescription) -> String? {
    if property.isTransient { return nil }
    guard value.fits(property) else {
      return "is \(property.typeDescription), and the value is \(value.kindDescription)."
    }
    switch property {
    case .attribute(let attribute):
      return !attribute.isOptional && value.isNull ? "is required and has no value." : nil
    case .relationship(let relationship):
      return fault(count(value), relationship)
    }
  }

  private static func count(_ value: PropertyValue) -> Int {
    switch value {
    case .toOne: 1
    case .toMany(let ids): ids.count
    default: 0
    }
  }

  private static func fault(_ count: Int, _ relationship: RelationshipDescription) -> String? {
    if count == 0 { return relationship.isOptional ? nil : "is required and leads nowhere." }
    if count < relationship.minCount { return "leads to \(count) objects; \(relationship.minCount) are the least." }
    guard relationship.isToMany, relationship.maxCount > 0, count > relationship.maxCount else { return nil }
    return "leads to \(count) objects; \(relationship.maxCount) are the most."
  }
}
