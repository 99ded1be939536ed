import HeartwoodModel
import HeartwoodStore

/// Lets a handler of a stage change records, in memory.
enum StageHandling {
  static func run(_ handler: CustomMigrationStage.Handler?, on contents: StoreContents) throws -> StoreContents {
    guard let handler else { return contents }
    var records = contents
    records.forgetHistory()
    let coordinator = try PersistentStoreCoordinator(managedObjectModel: contents.model, registry: .inMemory())
    let store = try coordinator.opener.write(
      records,
      to: .init(type: .inMemory, path: nil, options: .init()),
      replacing: false
    )
    try coordinator.add(store)
    let context = ManagedObjectContext(coordinator)
    try handler(context)
    try context.save()
    let changed = try store.engine.contents().namingNewRecords(asIn: contents)
    return contents.migrated(to: contents.model, entities: contents.entities, tables: changed.tables)
  }
}

extension StoreRegistry {
  /// A registry that knows the in-memory store only.
  static func inMemory() throws(PersistenceError) -> StoreRegistry {
    let registry = StoreRegistry()
    try registry.register(InMemoryStore.self)
    return registry
  }
}
