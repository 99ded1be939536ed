public import HeartwoodModel
public import HeartwoodStore

/// The state of a migration with objects, for its policies: the old objects and the new ones, and which were made from
/// which.
///
/// It exists while a ``StoreMigration`` runs. Migrations that need no objects have no manager.
public final class MigrationManager {
  /// The model before the migration.
  public let sourceModel: ManagedObjectModel
  /// The model after the migration.
  public let destinationModel: ManagedObjectModel
  /// The mapping of records.
  public let mappingModel: MappingModel
  /// The context of the old objects, which cannot be saved.
  public let sourceContext: ManagedObjectContext
  /// The context of the new objects.
  public let destinationContext: ManagedObjectContext
  /// The mapping that is being processed.
  public internal(set) var currentEntityMapping: EntityMapping?
  /// Values that policies want to share.
  public var userInfo: [String: Any] = [:]
  /// The progress of the migration, which can cancel it.
  public let progress: MigrationProgress
  private var cancellation: (any Error)?
  /// The associations of earlier passes.
  private let earlier: MigrationAssociations
  /// The new objects of each mapping, in the order of their creation.
  private var made: [String: [ManagedObject]] = [:]
  private var destinations: [String: [ManagedObject: [ManagedObject]]] = [:]
  private var sources: [String: [ManagedObject: [ManagedObject]]] = [:]

  init(
    _ mappingModel: MappingModel,
    source: ManagedObjectContext,
    destination: ManagedObjectContext,
    progress: MigrationProgress,
    after earlier: MigrationAssociations = MigrationAssociations()
  ) {
    self.earlier = earlier
    self.mappingModel = mappingModel
    sourceContext = source
    destinationContext = destination
    sourceModel = source.persistentStoreCoordinator.managedObjectModel
    destinationModel = destination.persistentStoreCoordinator.managedObjectModel
    self.progress = progress
  }

  /// Ends the migration with `error` after the object that is being created; the store is left as it was.
  public func cancelMigration(with error: any Error) { cancellation = cancellation ?? error }

  func checkCancellation() throws {
    if let cancellation { throw cancellation }
    try progress.check()
  }
}

// MARK: Associations

extension MigrationManager {
  /// Notes that a new object was made from an old one. A policy that creates objects itself must call this for each of
  /// them.
  public func associate(
    sourceInstance source: ManagedObject,
    withDestinationInstance destination: ManagedObject,
    for mapping: EntityMapping
  ) {
    if sources[mapping.name]?[destination] == nil { made[mapping.name, default: []].append(destination) }
    destinations[mapping.name, default: [:]][source, default: []].append(destination)
    sources[mapping.name, default: [:]][destination, default: []].append(source)
  }

  /// Returns the new objects that a mapping has made from some old ones, in their order; without `sourceInstances`, all
  /// its new objects in the order of their creation. This includes objects of earlier passes.
  public func destinationInstances(
    forEntityMappingName name: String,
    sourceInstances: [ManagedObject]? = nil
  ) -> [ManagedObject] {
    guard let sourceInstances else {
      return objects(earlier.made(by: name), in: destinationContext) + made(by: name)
    }
    return Self.distinct(sourceInstances.flatMap { destinations(of: $0, by: name) })
  }

  /// Returns the old objects from which a mapping has made some new ones, in their order.
  public func sourceInstances(
    forEntityMappingName name: String,
    destinationInstances: [ManagedObject]
  ) -> [ManagedObject] {
    Self.distinct(
      destinationInstances.flatMap { destination in
        objects(earlier.sources(of: destination.objectID, by: name), in: sourceContext)
          + (sources[name]?[destination] ?? [])
      }
    )
  }

  /// Returns the new objects that any mapping has made from some old ones, in their order.
  public func destinationInstances(forSourceInstances sourceInstances: [ManagedObject]) -> [ManagedObject] {
    let own = mappingModel.entityMappings.map(\.name)
    let names = earlier.mappingNames.filter { !own.contains($0) } + own
    return Self.distinct(sourceInstances.flatMap { source in names.flatMap { destinations(of: source, by: $0) } })
  }

  /// Returns the source entity of a mapping, or nil.
  public func sourceEntity(for mapping: EntityMapping) -> EntityDescription? {
    mapping.sourceEntityName.flatMap(sourceModel.entity(named:))
  }

  /// Returns the destination entity of a mapping, or nil.
  public func destinationEntity(for mapping: EntityMapping) -> EntityDescription? {
    mapping.destinationEntityName.flatMap(destinationModel.entity(named:))
  }

  /// Returns the objects that a mapping has made in this pass.
  func made(by name: String) -> [ManagedObject] { made[name] ?? [] }

  private func destinations(of source: ManagedObject, by name: String) -> [ManagedObject] {
    objects(earlier.destinations(of: source.objectID, by: name), in: destinationContext)
      + (destinations[name]?[source] ?? [])
  }

  /// Returns the objects of `ids` that still exist. If the store cannot be read, the migration ends, since links would
  /// be lost.
  private func objects(_ ids: [ManagedObjectID], in context: ManagedObjectContext) -> [ManagedObject] {
    ids.compactMap { id -> ManagedObject? in
      do throws(PersistenceError) {
        try context.persistentStoreCoordinator.checkNotClosed()
        return try context.find(id)
      } catch {
        cancelMigration(with: error)
        return nil
      }
    }
  }

  private static func distinct(_ objects: [ManagedObject]) -> [ManagedObject] {
    var seen: Set<ManagedObject> = []
    return objects.filter { seen.insert($0).inserted }
  }

  /// Adds the objects of this pass. Call it after the new objects have been saved.
  func note(in associations: inout MigrationAssociations) {
    for mapping in mappingModel.entityMappings {
      for object in made(by: mapping.name) where !object.objectID.isTemporaryID {
        let origins = sources[mapping.name]?[object]?.map(\.objectID) ?? []
        associations.add(object.objectID, madeOf: origins, by: mapping.name)
      }
    }
  }
}

// MARK: Values

extension MigrationManager {
  /// Sets an attribute of a new object to the value of its expression; without an expression, it stays.
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
    // A required attribute without a value keeps the default one, as in an inferred migration.
    if value.isNull, object.entity.property(named: mapping.name)?.isOptional == false { return }
    try object.setPropertyValue(value, forKey: mapping.name)
  }

  /// Sets a relationship of a new object to the value of its expression; without an expression, it stays.
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
        "The expression of a to-one relationship gives \(fitting.count) objects. The store is unchanged.",
        context: .init(entity: object.entity.name, property: mapping.name)
      )
    }
    // If the other side was set already, there is nothing to do, and its order stays.
    if !isToMany, fitting.isEmpty { return }
    try object.setPropertyValue(
      isToMany ? .toMany(fitting.map(\.objectID)) : .toOne(fitting[0].objectID),
      forKey: mapping.name
    )
  }

  private static func unfit(_ mapping: PropertyMapping, _ entity: EntityDescription) -> PersistenceError {
    PersistenceError(
      .migrationFailed,
      "The value of the expression \(mapping.valueExpression?.description ?? "") does not fit the property. The store is unchanged.",
      context: .init(entity: entity.name, property: mapping.name)
    )
  }
}

// MARK: MigrationAssociations

/// The associations between old and new objects, as ids: the objects themselves are released when a pass of a migration
/// is done.
struct MigrationAssociations {
  /// By the name of the mapping.
  private var made: [String: [ManagedObjectID]] = [:]
  private var destinations: [String: [ManagedObjectID: [ManagedObjectID]]] = [:]
  private var sources: [String: [ManagedObjectID: [ManagedObjectID]]] = [:]
  /// The number of old objects that each mapping has processed, by its name.
  private var takenCounts: [String: Int] = [:]
  /// The old objects that mappings with filter predicates have processed, by entity.
  private var filtered: [String: Set<ManagedObjectID>] = [:]
  /// The reference in the store of the old object from which each new one was made first.
  private(set) var origins: [ManagedObjectID: ReferenceID] = [:]

  /// Notes that `mapping` has made a new object from old ones. All ids are permanent.
  mutating func add(_ destination: ManagedObjectID, madeOf sources: [ManagedObjectID], by mapping: String) {
    made[mapping, default: []].append(destination)
    self.sources[mapping, default: [:]][destination, default: []] += sources
    for source in sources { destinations[mapping, default: [:]][source, default: []].append(destination) }
    if origins[destination] == nil { origins[destination] = sources.first?.reference }
  }

  /// Notes that `mapping` has processed old objects, whether or not it has made new ones from them.
  mutating func addTaken(_ objects: [ManagedObject], by mapping: EntityMapping) {
    takenCounts[mapping.name, default: 0] += objects.count
    guard mapping.sourcePredicate != nil, let entity = mapping.sourceEntityName else { return }
    filtered[entity, default: []].formUnion(objects.lazy.map(\.objectID))
  }

  /// Returns the number of old objects of exactly this entity that mappings with filter predicates have processed.
  func takenCount(_ entity: EntityDescription) -> Int { filtered[entity.name]?.count ?? 0 }

  /// Returns the numbers of records that a mapping has processed and made, if they cannot be taken from the tables:
  /// other mappings may have the same source or destination entity.
  func counts(of mapping: EntityMapping, in mappingModel: MappingModel) -> MigrationReport.Counts {
    let makers = mappingModel.entityMappings.count { $0.destinationEntityName == mapping.destinationEntityName }
    return .init(
      taken: takenCounts[mapping.name],
      made: makers > 1 && mapping.destinationEntityName != nil ? made(by: mapping.name).count : nil
    )
  }

  /// The names of all mappings that have made objects, in alphabetical order.
  var mappingNames: [String] { made.keys.sorted() }

  /// Returns all objects that a mapping has made, in order.
  func made(by mapping: String) -> [ManagedObjectID] { made[mapping] ?? [] }

  /// Returns the objects that a mapping has made from an old object.
  func destinations(of source: ManagedObjectID, by mapping: String) -> [ManagedObjectID] {
    destinations[mapping]?[source] ?? []
  }

  /// Returns the objects from which a mapping has made a new object.
  func sources(of destination: ManagedObjectID, by mapping: String) -> [ManagedObjectID] {
    sources[mapping]?[destination] ?? []
  }
}
