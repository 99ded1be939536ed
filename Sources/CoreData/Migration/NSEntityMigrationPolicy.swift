public import Foundation
import HeartwoodGraph
import HeartwoodModel

/// An application's code for the records of an entity in a migration. A mapping names it:
/// ``NSEntityMapping/entityMigrationPolicyClassName``.
///
/// A migration calls its functions in this order:
///
/// 1. For each mapping ``begin(_:with:)``, for each source object
///    ``createDestinationInstances(forSource:in:manager:)``, then ``endInstanceCreation(forMapping:manager:)``.
/// 2. For each mapping, for each new object ``createRelationships(forDestination:in:manager:)``, then
///    ``endRelationshipCreation(forMapping:manager:)``.
/// 3. For each mapping ``performCustomValidation(forMapping:manager:)`` and ``end(_:manager:)``.
///
/// If one of them throws, the migration ends with that error, and the store is left as it was. All objects are of the
/// class NSManagedObject, whatever the entity's class is.
///
///     final class NotesToNotes: NSEntityMigrationPolicy {
///       override func createDestinationInstances(
///         forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
///       ) throws {
///         try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
///         let note = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance]).first
///         note?.setValue(…, forKey: "length")
///       }
///     }
open class NSEntityMigrationPolicy: NSObject {
  /// What the functions of this class do.
  final weak var bridge: PolicyBridge?

  /// Creates a policy. A migration creates one for each mapping that names the class.
  public required override init() {}

  /// Called before all other functions for the mapping.
  open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

  /// Creates the new objects of a source object, without relationships, and associates them with it:
  /// ``NSMigrationManager/associate(sourceInstance:withDestinationInstance:for:)``. This implementation creates one,
  /// with the attributes that the mapping names.
  open func createDestinationInstances(
    forSource sInstance: NSManagedObject,
    in mapping: NSEntityMapping,
    manager: NSMigrationManager
  ) throws {
    try bridge?.createInstances(of: sInstance, mapping, manager)
  }

  /// Called when the objects of the mapping have been created, but not their relationships.
  open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Sets the relationships of a new object. This implementation sets those that the mapping names.
  open func createRelationships(
    forDestination dInstance: NSManagedObject,
    in mapping: NSEntityMapping,
    manager: NSMigrationManager
  ) throws {
    try bridge?.relate(dInstance, mapping, manager)
  }

  /// Called when the relationships of the mapping's objects have been set.
  open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Checks the new objects. The rules of the model are checked afterwards.
  open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

  /// Called at the end of the mapping, before the new objects are saved.
  open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}
}

// MARK: PolicyBridge

/// Calls a policy of the application for Heartwood's migrations.
final class PolicyBridge: EntityMigrationPolicy {
  private let policy: NSEntityMigrationPolicy
  private let session: MigrationSession

  init(_ policy: NSEntityMigrationPolicy, _ session: MigrationSession) {
    self.policy = policy
    self.session = session
    super.init()
    policy.bridge = self
  }

  required init() {
    policy = NSEntityMigrationPolicy()
    session = MigrationSession()
    super.init()
    policy.bridge = self
  }

  // MARK: What the class NSEntityMigrationPolicy does

  func createInstances(of source: NSManagedObject, _ mapping: NSEntityMapping, _ manager: NSMigrationManager) throws {
    guard let record = source.record else { return }
    let (mapping, manager) = try manager.running(mapping)
    try super.createDestinationInstances(forSource: record, in: mapping, manager: manager)
  }

  func relate(_ destination: NSManagedObject, _ mapping: NSEntityMapping, _ manager: NSMigrationManager) throws {
    guard let record = destination.record else { return }
    let (mapping, manager) = try manager.running(mapping)
    try super.createRelationships(forDestination: record, in: mapping, manager: manager)
  }

  // MARK: What a migration calls

  override func begin(_ mapping: EntityMapping, with manager: MigrationManager) throws {
    let shown = session.manager(of: manager)
    try policy.begin(shown.mapping(of: mapping), with: shown)
  }

  override func createDestinationInstances(
    forSource source: ManagedObject,
    in mapping: EntityMapping,
    manager: MigrationManager
  ) throws {
    let shown = session.manager(of: manager)
    let object = shown.sourceContext.facade(of: source)
    try policy.createDestinationInstances(forSource: object, in: shown.mapping(of: mapping), manager: shown)
    try shown.checkChanges()
  }

  override func endInstanceCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    let shown = session.manager(of: manager)
    try policy.endInstanceCreation(forMapping: shown.mapping(of: mapping), manager: shown)
  }

  override func createRelationships(
    forDestination destination: ManagedObject,
    in mapping: EntityMapping,
    manager: MigrationManager
  ) throws {
    let shown = session.manager(of: manager)
    let object = shown.destinationContext.facade(of: destination)
    try policy.createRelationships(forDestination: object, in: shown.mapping(of: mapping), manager: shown)
    try shown.checkChanges()
  }

  override func endRelationshipCreation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    let shown = session.manager(of: manager)
    try policy.endRelationshipCreation(forMapping: shown.mapping(of: mapping), manager: shown)
  }

  override func performCustomValidation(forMapping mapping: EntityMapping, manager: MigrationManager) throws {
    let shown = session.manager(of: manager)
    try policy.performCustomValidation(forMapping: shown.mapping(of: mapping), manager: shown)
  }

  override func end(_ mapping: EntityMapping, manager: MigrationManager) throws {
    let shown = session.manager(of: manager)
    try policy.end(shown.mapping(of: mapping), manager: shown)
    try shown.checkChanges()
  }

  override func value(ofFunction name: String, arguments: [Any?], manager: MigrationManager) throws -> Any? {
    throw CocoaError.make(
      .migration,
      "A value expression calls \(name) of the policy \(type(of: policy)). Swift cannot call a method by its name on "
        + "this system: set the value in createDestinationInstances(forSource:in:manager:)."
    )
  }
}

// MARK: MigrationSession

/// The policies of a migration, and the manager that they are given.
final class MigrationSession: @unchecked Sendable {
  // `@unchecked Sendable`: a migration runs on one thread.

  private let given: NSMigrationManager?
  private var made: NSMigrationManager?

  /// - Parameter manager: the manager that runs the migration; nil if a store is migrated when it is added.
  init(_ manager: NSMigrationManager? = nil) { given = manager }

  /// Returns the policy of a mapping.
  ///
  /// - Throws: a `CocoaError` if there is no class of the name.
  func policy(of mapping: EntityMapping) throws -> EntityMigrationPolicy {
    let name = mapping.entityMigrationPolicyClassName ?? ""
    guard let policyClass = ManagedObjectClasses.objectClass(named: name, NSEntityMigrationPolicy.self) else {
      throw CocoaError.make(
        .migration,
        "The mapping \(mapping.name) names the policy \(name), and there is no such class that inherits from "
          + "NSEntityMigrationPolicy. Name the class with its module."
      )
    }
    return PolicyBridge(policyClass.init(), self)
  }

  func manager(of core: MigrationManager) -> NSMigrationManager {
    let manager = given ?? made ?? NSMigrationManager(showing: core)
    if given == nil { made = manager }
    manager.follow(core)
    return manager
  }
}
