public import Foundation
import HeartwoodModel

/// A description of a store to be added.
open class NSPersistentStoreDescription: NSObject {
  /// The type of the store.
  open var type = NSSQLiteStoreType
  /// The configuration whose entities the store keeps; nil stands for all.
  open var configuration: String?
  /// The file.
  open var url: URL?
  /// Whether the store is added on another queue.
  open var shouldAddStoreAsynchronously = false
  private var values: [String: NSObject] = [
    NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true),
    NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
  ]

  /// Creates a description of a SQLite store.
  public init(url: URL) { self.url = url }

  /// Creates a description of a SQLite store whose file is named later.
  public override init() {}

  /// The options of the store.
  open var options: [String: NSObject] { values }

  /// Sets an option; nil removes it.
  open func setOption(_ option: NSObject?, forKey key: String) { values[key] = option }

  /// Whether the store cannot be saved.
  open var isReadOnly: Bool {
    get { isSet(NSReadOnlyPersistentStoreOption) }
    set { set(newValue, NSReadOnlyPersistentStoreOption) }
  }

  /// Whether a store of an older model is migrated.
  open var shouldMigrateStoreAutomatically: Bool {
    get { isSet(NSMigratePersistentStoresAutomaticallyOption) }
    set { set(newValue, NSMigratePersistentStoresAutomaticallyOption) }
  }

  /// Whether a migration may do without a mapping model.
  open var shouldInferMappingModelAutomatically: Bool {
    get { isSet(NSInferMappingModelAutomaticallyOption) }
    set { set(newValue, NSInferMappingModelAutomaticallyOption) }
  }

  /// How long an access waits for the locks of others, in seconds.
  open var timeout: TimeInterval {
    get { (values[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 240 }
    set { values[NSPersistentStoreTimeoutOption] = NSNumber(value: newValue) }
  }

  /// The pragmas of the SQLite store.
  open var sqlitePragmas: [String: NSObject] {
    values[NSSQLitePragmasOption].flatMap { $0 as? NSDictionary as? [String: NSObject] } ?? [:]
  }

  /// Sets a pragma of the SQLite store.
  open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
    var pragmas = sqlitePragmas
    pragmas[name] = value
    values[NSSQLitePragmasOption] = NSDictionary(dictionary: pragmas)
  }

  private func isSet(_ key: String) -> Bool { (values[key] as? NSNumber)?.boolValue ?? false }

  private func set(_ flag: Bool, _ key: String) { values[key] = NSNumber(value: flag) }
}

// MARK: NSPersistentContainer

/// A model, a coordinator and contexts that belong together.
open class NSPersistentContainer: NSObject, @unchecked Sendable {
  // `@unchecked Sendable`: only the descriptions can be changed, before the stores are loaded.

  /// The name of the container.
  public final let name: String
  /// The context of the main queue.
  public final let viewContext: NSManagedObjectContext
  /// The model.
  public final let managedObjectModel: NSManagedObjectModel
  /// The coordinator of the stores.
  public final let persistentStoreCoordinator: NSPersistentStoreCoordinator
  /// The stores to load.
  open var persistentStoreDescriptions: [NSPersistentStoreDescription]

  /// Creates a container of a model, for a SQLite store of its name in ``defaultDirectoryURL()``.
  public init(name: String, managedObjectModel model: NSManagedObjectModel) {
    self.name = name
    managedObjectModel = model
    persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    viewContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    viewContext.persistentStoreCoordinator = persistentStoreCoordinator
    let url = Self.defaultDirectoryURL().appendingPathComponent(name + ".sqlite")
    persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
  }

  /// Creates a container of a coordinator whose stores are open.
  init(showing coordinator: NSPersistentStoreCoordinator) {
    name = "Migration"
    managedObjectModel = coordinator.managedObjectModel
    persistentStoreCoordinator = coordinator
    viewContext = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    viewContext.persistentStoreCoordinator = coordinator
    persistentStoreDescriptions = []
  }

  /// Creates a container of the model called `name` in the main bundle, which must be there.
  public convenience init(name: String) {
    guard
      let url = ["momd", "mom", "xcdatamodeld"].lazy
        .compactMap({ Bundle.main.url(forResource: name, withExtension: $0) }).first,
      let model = NSManagedObjectModel(contentsOf: url)
    else {
      ProgrammerError.stop("The main bundle has no model called \(name). Give the container a managedObjectModel.")
    }
    self.init(name: name, managedObjectModel: model)
  }

  /// The folder of the stores of containers: the application's support folder.
  open class func defaultDirectoryURL() -> URL {
    let folder =
      FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
      ?? FileManager.default.temporaryDirectory
    // try?: opening a store in the folder reports why it cannot be made.
    try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  /// Opens the stores, and calls `block` for each: at once, unless the description wants it later.
  open func loadPersistentStores(
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    for description in persistentStoreDescriptions {
      persistentStoreCoordinator.addPersistentStore(with: description, completionHandler: block)
    }
  }

  /// Makes a context with a queue of its own.
  open func newBackgroundContext() -> NSManagedObjectContext {
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }

  /// Runs `block` with a new context, on its queue, later.
  public final func performBackgroundTask(_ block: @escaping (NSManagedObjectContext) -> Void) {
    let context = newBackgroundContext()
    context.perform { block(context) }
  }

  /// Runs `block` with a new context, on its queue, and returns its result.
  public final func performBackgroundTask<Result, Failure: Error>(
    _ block: @escaping (NSManagedObjectContext) throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let context = newBackgroundContext()
    return try await context.perform { () throws(Failure) -> Result in try block(context) }
  }
}
