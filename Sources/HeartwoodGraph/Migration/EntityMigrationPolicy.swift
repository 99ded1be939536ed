public import HeartwoodModel
public import HeartwoodStore

/// What an application does itself with the records of an entity in a migration: it overrides some of these, which a migration
/// calls in this order.
///
/// 1. For each mapping of an entity ``begin(_:with:)``, for each source object
///    ``createDestinationInstances(forSource:in:manager:)``, ``endInstanceCreation(forMapping:manager:)``.
/// 2. For each mapping, for each new object ``createRelationships(forDestination:in:manager:)``, then
///    ``endRelationshipCreation(forMapping:manager:)``.
/// 3. For each mapping ``performCustomValidation(forMapping:manager:)`` and ``end(_:manager:)``.
///
/// Whatever one of them throws ends the migration, and the store is left as it was. A policy is made for each mapping that asks for
/// it by name, and is given with the option ``StoreOptionKey/entityMigrationPolicies``.
open class EntityMigrationPolicy {
  /// Makes a policy, for one mapping of one migration.
  public required init() {}

  /// Called before anything else is done for the mapping.
  open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

  /// Makes the new objects of a source object, without relationships, and tells the manager which they are:
  /// ``MigrationManager/associate(sourceInstance:withDestinationInstance:for:)``.
  ///
  /// Without an override it makes one object, with the attributes that the mapping names.
  open func createDestinationInstances(
    forSource source: ManagedObject,
    in mapping: EntityMapping,
    manager: MigrationManager
  ) throws {
    guard let name = mapping.destinationEntityName else { return }
    let object = try manager.destinationContext.insert(entityName: name)
    for property in mapping.attributeMappings {
      try manager.setAttribute(property, of: object, from: source, in: mapping, policy: self)
    }
    manager.associate(sourceInstance: source, withDestinationInstance: object, for: mapping)
  }

  /// Called when the objects of the mapping are there, but their relationships are not.
  open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Sets the relationships of a new object. All new objects are there.
  ///
  /// Without an override it sets those that the mapping names.
  open func createRelationships(
    forDestination destination: ManagedObject,
    in mapping: EntityMapping,
    manager: MigrationManager
  ) throws {
    let source = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [destination]).first
    for property in mapping.relationshipMappings {
      try manager.setRelationship(property, of: destination, from: source, in: mapping, policy: self)
    }
  }

  /// Called when the relationships of the mapping's objects are set.
  open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Checks the new objects, which are all there with their relationships. The rules of the model are checked after it.
  open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Called at the end of the mapping, before the new objects are saved.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}

  /// What the policy answers where a value expression calls it: `FUNCTION($entityPolicy, "fullName:", $source)`. It takes the place of
  /// Objective-C's selectors.
  ///
  /// - Parameters:
  ///   - name: the name as the expression has it.
  ///   - arguments: values as Swift calls them, a ``ManagedObject`` or an array of them.
  /// - Returns: such a value.
  open func value(
    ofFunction name: String,
    arguments: [Any?],
    manager: MigrationManager
  ) throws -> Any? {
    throw PersistenceError(
      .mappingModelUnusable,
      "A value expression calls the function \(name) of the policy \(type(of: self)), which has none.",
      recovery: "Override value(ofFunction:arguments:manager:)."
    )
  }
}

extension StoreOptionKey<[String: EntityMigrationPolicy.Type]> {
  /// The policies of an application, by the names by which mapping models ask for them: with or without the name of a module before.
  public static let entityMigrationPolicies = StoreOptionKey("entityMigrationPolicies", default: [:])
}
