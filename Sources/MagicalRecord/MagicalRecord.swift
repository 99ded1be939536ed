// Code that was written with MagicalRecord relies on it.
@_exported public import CoreData
import Synchronization

/// Sets up the stack that the functions of MagicalRecord's API use, and saves.
///
///     MagicalRecord.setupCoreDataStack(withAutoMigratingSqliteStoreNamed: "Notes")
///     MagicalRecord.save(blockAndWait: { context in
///       let note = Note.mr_createEntity(in: context)
///       note?.text = "Milk"
///     })
///     let notes = Note.mr_findAllSorted(by: "text", ascending: true) as? [Note]
///
/// Objects are saved through two contexts: ``CoreData/NSManagedObjectContext/mr_default()``, of the main queue, and its
/// parent ``CoreData/NSManagedObjectContext/mr_rootSaving()``, which writes to the store.
///
/// The functions do not throw: an error is given to ``errorHandler``, and the result is nil, false or empty.
public final class MagicalRecord {
  /// The stack that is set up, and what the next one is made with.
  struct Stack: Sendable {
    var coordinator: NSPersistentStoreCoordinator?
    var rootSaving: NSManagedObjectContext?
    var main: NSManagedObjectContext?
    var model: NSManagedObjectModel?
    var deletesStoreOnModelMismatch = false
    var errorHandler: (@Sendable (any Error) -> Void)?
  }

  static let stack = Mutex(Stack())

  private init() {}

  // MARK: Errors

  /// Gets the errors that no function throws; nil stands for a line on the standard error.
  public static var errorHandler: (@Sendable (any Error) -> Void)? {
    get { stack.withLock { $0.errorHandler } }
    set { stack.withLock { $0.errorHandler = newValue } }
  }

  /// Gives an error to the ``errorHandler``.
  public static func handleErrors(_ error: any Error) {
    if let handler = errorHandler { return handler(error) }
    FileHandle.standardError.write(Data("MagicalRecord: \(error)\n".utf8))
  }

  static func handlingErrors<Result>(_ body: () throws -> Result) -> Result? {
    do {
      return try body()
    } catch {
      handleErrors(error)
      return nil
    }
  }

  // MARK: Set-up

  /// Sets the model of the stacks that are set up next: the one called `modelName` in the main bundle.
  public static func setDefaultModelNamed(_ modelName: String) {
    let name = (modelName as NSString).deletingPathExtension
    let url = ["momd", "mom", "xcdatamodeld"].lazy.compactMap { Bundle.main.url(forResource: name, withExtension: $0) }
      .first
    guard let model = url.flatMap(NSManagedObjectModel.init(contentsOf:)) else {
      return handleErrors(CocoaError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: modelName]))
    }
    NSManagedObjectModel.mr_setDefaultManagedObjectModel(model)
  }

  /// Sets whether a store that was written with another model is deleted when it is opened. All data are lost.
  public static func setShouldDeleteStoreOnModelMismatch(_ shouldDeleteStoreOnModelMismatch: Bool) {
    stack.withLock { $0.deletesStoreOnModelMismatch = shouldDeleteStoreOnModelMismatch }
  }

  /// The name of the store that is set up without one: that of the program.
  public static func defaultStoreName() -> String { ProcessInfo.processInfo.processName + ".sqlite" }

  /// Sets up a SQLite store of the program's name.
  public static func setupCoreDataStack() { setupCoreDataStack(withStoreNamed: defaultStoreName()) }

  /// Sets up a SQLite store in the application's support folder.
  public static func setupCoreDataStack(withStoreNamed storeName: String) {
    setupCoreDataStack(withStoreAt: NSPersistentStore.mr_url(forStoreName: storeName))
  }

  /// Sets up a SQLite store.
  public static func setupCoreDataStack(withStoreAt storeURL: URL) { setUp(NSSQLiteStoreType, storeURL, [:]) }

  /// Sets up a SQLite store of the program's name, which is migrated if it is of an older model.
  public static func setupAutoMigratingCoreDataStack() {
    setupCoreDataStack(withAutoMigratingSqliteStoreNamed: defaultStoreName())
  }

  /// Sets up a SQLite store in the application's support folder, which is migrated if it is of an older model.
  public static func setupCoreDataStack(withAutoMigratingSqliteStoreNamed storeName: String) {
    setupCoreDataStack(withAutoMigratingSqliteStoreAt: NSPersistentStore.mr_url(forStoreName: storeName))
  }

  /// Sets up a SQLite store, which is migrated if it is of an older model.
  public static func setupCoreDataStack(withAutoMigratingSqliteStoreAt storeURL: URL) {
    let options = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    setUp(NSSQLiteStoreType, storeURL, options)
  }

  /// Sets up a store in memory.
  public static func setupCoreDataStackWithInMemoryStore() { setUp(NSInMemoryStoreType, nil, [:]) }

  /// Forgets the stack. Its contexts must not be used any more; what was not saved is lost.
  public static func cleanUp() {
    let coordinator = stack.withLock { stack in
      defer { stack = Stack(errorHandler: stack.errorHandler) }
      return stack.coordinator
    }
    guard let coordinator else { return }
    for store in coordinator.persistentStores { handlingErrors { try coordinator.remove(store) } }
  }

  private static func setUp(_ type: String, _ url: URL?, _ options: [String: Any]) {
    guard stack.withLock({ $0.coordinator }) == nil else { return }
    guard let model = NSManagedObjectModel.mr_default() else {
      let reason = "There is no model in the main bundle. Set one by mr_setDefaultManagedObjectModel(_:)."
      return handleErrors(CocoaError(.coreData, userInfo: [NSLocalizedDescriptionKey: reason]))
    }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    do {
      try open(coordinator, type, url, options)
      NSManagedObjectContext.mr_initializeDefaultContext(with: coordinator)
    } catch {
      handleErrors(error)
    }
  }

  private static func open(
    _ coordinator: NSPersistentStoreCoordinator,
    _ type: String,
    _ url: URL?,
    _ options: [String: Any]
  ) throws {
    let folder = url?.deletingLastPathComponent()
    if let folder { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
    func add() throws {
      try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
    }
    do {
      try add()
    } catch let error as CocoaError where stack.withLock({ $0.deletesStoreOnModelMismatch }) {
      let mismatches: [CocoaError.Code] = [
        .persistentStoreIncompatibleVersionHash, .migrationMissingSourceModel, .migrationMissingMappingModel,
        .migration,
      ]
      guard let url, mismatches.contains(error.code) else { throw error }
      try coordinator.destroyPersistentStore(at: url, ofType: type)
      try add()
    }
  }

  // MARK: Saving

  /// Calls `block` with a context of its own, later, and saves what it has changed to the store.
  public static func save(_ block: @escaping (NSManagedObjectContext) -> Void) { save(block, completion: nil) }

  /// Calls `block` with a context of its own, later, saves what it has changed to the store, and calls `completion` on
  /// the main queue.
  public static func save(
    _ block: @escaping (NSManagedObjectContext) -> Void,
    completion: ((Bool, (any Error)?) -> Void)?
  ) {
    let context = NSManagedObjectContext.mr_context(withParent: .mr_rootSaving())
    context.perform {
      block(context)
      context.mr_saveToPersistentStore(completion: completion)
    }
  }

  /// Calls `block` with a context of its own, saves what it has changed to the store, and waits for it.
  public static func save(blockAndWait block: (NSManagedObjectContext) -> Void) {
    let context = NSManagedObjectContext.mr_context(withParent: .mr_rootSaving())
    context.performAndWait {
      block(context)
      context.mr_saveToPersistentStoreAndWait()
    }
  }
}

extension NSManagedObjectModel {
  /// The model that stacks are set up with: the one that was set, or those of the main bundle; nil if there is none.
  public static func mr_default() -> NSManagedObjectModel? {
    if let model = MagicalRecord.stack.withLock({ $0.model }) { return model }
    let model = NSManagedObjectModel.mergedModel(from: nil)
    return model?.entities.isEmpty == false ? model : nil
  }

  /// Sets the model of the stacks that are set up next; nil stands for those of the main bundle.
  public static func mr_setDefaultManagedObjectModel(_ newDefaultModel: NSManagedObjectModel?) {
    MagicalRecord.stack.withLock { $0.model = newDefaultModel }
  }
}

extension NSPersistentStore {
  /// Returns the place of a store of this name: in a folder of the program's name in the application's support folder.
  public static func mr_url(forStoreName storeFileName: String) -> URL {
    let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    let folder = folders.first ?? FileManager.default.temporaryDirectory
    return folder.appendingPathComponent(ProcessInfo.processInfo.processName).appendingPathComponent(storeFileName)
  }
}

extension NSPersistentStoreCoordinator {
  /// The coordinator of the stack; nil if none is set up.
  public static func mr_default() -> NSPersistentStoreCoordinator? { MagicalRecord.stack.withLock { $0.coordinator } }
}
