import HeartwoodModel
import HeartwoodStore

/// Lets a handler of a stage change records, in memory.
enum StageHandling {
  static func run(_ handler: CustomMigrationStage.Handler?, on contents: StoreContents) throws -> StoreContents {
    guard let handler else { return contents }
    var contents = contents
    contents.reserveNumbersOfLinks()
    let coordinator = try PersistentStoreCoordinator(inMemory: contents)
    let context = ManagedObjectContext(coordinator)
    try handler(context)
    try context.save()
    guard let store = coordinator.persistentStores.first else { return contents }
    let changed = try store.engine.contents().namingNewRecords(asIn: contents)
    return contents.migrated(to: contents.model, entities: contents.entities, tables: changed.tables)
  }
}

extension PersistentStoreCoordinator {
  /// A coordinator with one store in memory, of records without their history.
  convenience init(inMemory contents: StoreContents, isReadOnly: Bool = false) throws {
    try self.init(managedObjectModel: contents.model, registry: .inMemory())
    var records = contents
    records.forgetHistory()
    var options = StoreOptions()
    options[.isReadOnly] = isReadOnly
    try add(try opener.write(records, to: .init(type: .inMemory, path: nil, options: options), replacing: false))
  }
}

extension StoreRegistry {
  /// A registry that knows the in-memory store only.
  static func inMemory() throws(PersistenceError) -> StoreRegistry {
    try StoreRegistry([InMemoryStore.self])
  }
}
