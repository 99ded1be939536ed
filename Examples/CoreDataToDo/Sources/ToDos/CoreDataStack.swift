// Written as in its years.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, NeverForceUnwrap

import CoreData

/// The application's objects of Core Data, made when they are first asked for.
public class CoreDataStack: NSObject {
  public static let shared = CoreDataStack()

  /// The folder of the stores.
  public var folder = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)

  public var csvURL: URL { return folder.appendingPathComponent("todo.csv") }
  public var binaryURL: URL { return folder.appendingPathComponent("todo.binary") }

  override public init() {
    super.init()
    CSVStore.register()
  }

  public lazy var managedObjectModel: NSManagedObjectModel = {
    let url = Bundle.module.url(forResource: "ToDos", withExtension: "momd")!
    return NSManagedObjectModel(contentsOf: url)!
  }()

  public lazy var persistentStoreCoordinator: NSPersistentStoreCoordinator = {
    return NSPersistentStoreCoordinator(managedObjectModel: managedObjectModel)
  }()

  public lazy var managedObjectContext: NSManagedObjectContext = {
    let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
    context.persistentStoreCoordinator = persistentStoreCoordinator
    return context
  }()

  // MARK: Stores

  /// Opens the binary store, if the to-dos were moved to it, and the CSV file otherwise.
  @discardableResult
  public func openStore() throws -> NSPersistentStore {
    if FileManager.default.fileExists(atPath: binaryURL.path) {
      return try open(NSBinaryStoreType, at: binaryURL)
    }
    return try open(CSVStore.storeType, at: csvURL)
  }

  private func open(_ type: String, at url: URL) throws -> NSPersistentStore {
    var options: [AnyHashable: Any] = [:]
    if try isMigrationNeeded(type, at: url) {
      options[NSMigratePersistentStoresAutomaticallyOption] = true
      options[NSInferMappingModelAutomaticallyOption] = true
    }
    return try persistentStoreCoordinator.addPersistentStore(
      ofType: type,
      configurationName: nil,
      at: url,
      options: options
    )
  }

  /// Whether the store was written with another version of the model. CSV files do not say, and have but one.
  public func isMigrationNeeded(_ type: String, at url: URL) throws -> Bool {
    guard type != CSVStore.storeType, FileManager.default.fileExists(atPath: url.path) else { return false }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url, options: nil)
    return !managedObjectModel.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
  }

  /// Moves the to-dos from the CSV file to the binary store, which is used from now on.
  public func moveToBinaryStore() throws {
    guard let store = persistentStoreCoordinator.persistentStore(for: csvURL) else { return }
    try persistentStoreCoordinator.migratePersistentStore(
      store,
      to: binaryURL,
      options: nil,
      withType: NSBinaryStoreType
    )
  }

  public func save() throws {
    if managedObjectContext.hasChanges { try managedObjectContext.save() }
  }
}
