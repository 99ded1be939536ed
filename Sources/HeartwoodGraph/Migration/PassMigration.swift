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
      }
    }
    return try report()
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

  private func report() throws -> MigrationReport {
    try withStores { source, destination in
      MigrationReport(
        entities: try step.mappingModel.entityMappings.map { mapping in
          .init(
            mapping,
            sourceCount: try source.recordCount(mapping.sourceEntityName),
            destinationCount: try destination.recordCount(mapping.destinationEntityName)
          )
        }
      )
    }
  }
}

extension PersistentStoreCoordinator {
  /// How many records of an entity itself the one store has.
  fileprivate func recordCount(_ entity: String?) throws -> Int {
    guard let entity = entity.flatMap(managedObjectModel.entity(named:)), !entity.isAbstract else { return 0 }
    return try persistentStores.reduce(0) { $0 + (try $1.engine.count(of: entity)) }
  }
}
