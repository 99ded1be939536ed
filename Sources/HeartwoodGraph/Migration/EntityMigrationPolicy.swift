public import HeartwoodModel
public import HeartwoodStore

/// An application's code for the records of an entity in a migration: it overrides some of these functions, which a
/// migration calls in this order.
///
/// 1. For each mapping of an entity ``begin(_:with:)``, for each source object
///    ``createDestinationInstances(forSource:in:manager:)``, ``endInstanceCreation(forMapping:manager:)``.
/// 2. For each mapping, for each new object ``createRelationships(forDestination:in:manager:)``, then
///    ``endRelationshipCreation(forMapping:manager:)``.
/// 3. For each mapping ``performCustomValidation(forMapping:manager:)`` and ``end(_:manager:)``.
///
/// If one of them throws, the migration ends, and the store is left as it was. A policy is created for each mapping
/// that names it; register it with the option ``StoreOptionKey/entityMigrationPolicies``.
open class EntityMigrationPolicy {
  /// Creates a policy, for one mapping of one migration.
  public required init() {}

  /// Called before all other functions for the mapping.
  open func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {}

  /// Creates the new objects of a source object, without relationships, and reports them to the manager:
  /// ``MigrationManager/associate(sourceInstance:withDestinationInstance:for:)``.
  ///
  /// The default implementation creates one object, with the attributes that the mapping names.
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

  /// Called when the objects of the mapping have been created, but not their relationships.
  open func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Sets the relationships of a new object. All new objects have been created.
  ///
  /// The default implementation sets those that the mapping names.
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

  /// Called when the relationships of the mapping's objects have been set.
  open func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Checks the new objects, which have been created with their relationships. The rules of the model are checked
  /// afterwards.
  open func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Called at the end of the mapping, before the new objects are saved.
  open func end(_ mapping: EntityMapping, manager: MigrationManager) throws {}

  /// Returns the result of a function that a value expression calls: `FUNCTION($entityPolicy, "fullName:", $source)`.
  /// This replaces Objective-C's selectors.
  ///
  /// - Parameters:
  ///   - name: the name as in the expression.
  ///   - arguments: Swift values, a ``ManagedObject`` or an array of them.
  /// - Returns: a value of these types.
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
  /// The policies of an application, by the names that mapping models use: with or without the name of a module as a
  /// prefix.
  public static let entityMigrationPolicies = StoreOptionKey("entityMigrationPolicies", default: [:])
}

extension StoreOptionKey<(@Sendable (EntityMapping) throws -> EntityMigrationPolicy)?> {
  /// Makes the policies of mappings that name one. It replaces ``entityMigrationPolicies``.
  package static let entityMigrationPolicyMaker = StoreOptionKey("entityMigrationPolicyMaker")
}

extension StoreOptionKey<ManagedObject.Type?> {
  /// The class of all objects of a migration.
  package static let migrationObjectClass = StoreOptionKey("migrationObjectClass")
}
