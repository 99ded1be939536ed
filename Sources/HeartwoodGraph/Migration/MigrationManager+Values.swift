import HeartwoodModel
import HeartwoodStore

extension MigrationManager {
  /// Sets an attribute of a new object to what its expression gives; without one it is left.
  func setAttribute(
    _ mapping: PropertyMapping,
    of object: ManagedObject,
    from source: ManagedObject,
    in entityMapping: EntityMapping,
    policy: EntityMigrationPolicy
  ) throws {
    guard let expression = mapping.valueExpression else { return }
    let evaluator = MappingEvaluator(manager: self, policy: policy, mapping: entityMapping, source: source)
    let result = try evaluator.value(expression)
    guard let type = object.entity.property(named: mapping.name)?.attribute?.type,
      let value = result.propertyValue?.migrated(to: type)
    else { throw Self.unfit(mapping, object.entity) }
    // A required attribute without a value keeps the default one, as in a migration that is inferred.
    if value.isNull, object.entity.property(named: mapping.name)?.isOptional == false { return }
    try object.setPropertyValue(value, forKey: mapping.name)
  }

  /// Lets a relationship of a new object lead to what its expression gives; without one it is left.
  func setRelationship(
    _ mapping: PropertyMapping,
    of object: ManagedObject,
    from source: ManagedObject?,
    in entityMapping: EntityMapping,
    policy: EntityMigrationPolicy
  ) throws {
    guard let expression = mapping.valueExpression else { return }
    let evaluator = MappingEvaluator(manager: self, policy: policy, mapping: entityMapping, source: source)
    guard let objects = try evaluator.value(expression).objects,
      let ordinal = object.entity.ordinal(ofProperty: mapping.name),
      let target = object.entity.relationshipTargets[ordinal]
    else { throw Self.unfit(mapping, object.entity) }
    let destination = destinationModel.entities[target.entityOrdinal]
    let fitting = objects.filter { $0.entity.isKind(of: destination) }
    let isToMany = object.entity.traits[ordinal].isToMany
    guard isToMany || fitting.count <= 1 else {
      throw PersistenceError(
        .migrationFailed,
        "The expression of a to-one relationship gives \(fitting.count) objects. The store was left as it is.",
        context: .init(entity: object.entity.name, property: mapping.name)
      )
    }
    // Where the other side was set already, there is nothing to do, and its order stays.
    if !isToMany, fitting.isEmpty { return }
    try object.setPropertyValue(
      isToMany ? .toMany(fitting.map(\.objectID)) : .toOne(fitting[0].objectID),
      forKey: mapping.name
    )
  }

  private static func unfit(_ mapping: PropertyMapping, _ entity: EntityDescription) -> PersistenceError {
    PersistenceError(
      .migrationFailed,
      "What the expression \(mapping.valueExpression?.description ?? "") gives does not fit the property. The store was left as it is.",
      context: .init(entity: entity.name, property: mapping.name)
    )
  }
}
