import HeartwoodModel
import HeartwoodStore

/// A migration in several passes, each with a mapping model over a part of the entities: from one store to another, both of which keep their
/// records elsewhere than in memory. After each pass the objects go, and only what was made of what stays.
struct PassMigration {
  private let step: MigrationStep
  private let objects: ObjectMigration
  /// Open the stores anew, with nothing in memory.
  private let openSource: () throws -> PersistentStoreCoordinator
  private let openDestination: () throws -> PersistentStoreCoordinator

  init(
    _ step: MigrationStep,
    _ objects: ObjectMigration,
    openSource: @escaping () throws -> PersistentStoreCoordinator,
    openDestination: @escaping () throws -> PersistentStoreCoordinator
  ) {
    self.step = step
    self.objects = objects
    self.openSource = openSource
    self.openDestination = openDestination
  }

  func run() throws -> MigrationReport {
    var associations = MigrationAssociations()
    for pass in step.passes {
      try withStores { source, destination in
        try objects.follow(pass, from: source, to: destination, &associations)
        try source.checkReadable()
      }
    }
    return try report(associations)
  }

  private func withStores<Result>(
    _ body: (PersistentStoreCoordinator, PersistentStoreCoordinator) throws -> Result
  ) throws -> Result {
    let source = try openSource()
    defer { source.close() }
    let destination = try openDestination()
    defer { destination.close() }
    return try body(source, destination)
  }

  private func report(_ associations: MigrationAssociations) throws -> MigrationReport {
    try withStores { source, destination in
      let models = (source.managedObjectModel, destination.managedObjectModel)
      return MigrationReport(
        entities: try MigrationReport.entities(step.mappingModel, from: models.0, to: models.1) {
          associations.counts(of: $0, in: step.mappingModel)
        } sourceCount: {
          try source.recordCount($0)
        } destinationCount: {
          try destination.recordCount($0)
        },
        findings: try objects.losses(of: models.0, associations) {
          try source.recordCount($0)
        } valueCount: { entity, ordinal in
          try source.valueCount(entity, ordinal)
        }
      )
    }
  }
}

extension PersistentStoreCoordinator {
  /// Refuses what was made of records some of whose values could not be read.
  fileprivate func checkReadable() throws {
    for store in persistentStores {
      for entity in store.entities { try store.engine.knownTable(of: entity).table.checkReadable() }
    }
  }

  /// How many records of an entity itself the one store has.
  fileprivate func recordCount(_ entity: EntityDescription) throws -> Int {
    if entity.isAbstract { return 0 }
    return try persistentStores.reduce(0) { $0 + (try $1.engine.count(of: entity)) }
  }

  /// How many records of an entity itself have a value, or an object in a relationship.
  fileprivate func valueCount(_ entity: EntityDescription, _ ordinal: Int) throws -> Int {
    let property = entity.properties[ordinal]
    let format = property.relationship?.isToMany == true ? "%K.@count > 0" : "%K != nil"
    var request = FetchRequest<ManagedObject>(
      entityName: entity.name,
      where: try FetchPredicate(format: format, property.name)
    )
    request.includesSubentities = false
    return try ManagedObjectContext(self).count(for: request)
  }
}
