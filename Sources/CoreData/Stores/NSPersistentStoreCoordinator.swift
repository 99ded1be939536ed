public import Foundation
import Heartwood
import HeartwoodGraph
import HeartwoodModel
import HeartwoodSQLite
import HeartwoodStore
import Synchronization

/// Connects contexts and stores.
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
  // `@unchecked Sendable`: the stores and the contexts are protected by a lock, and the rest is constant but for a name.

  private final let model: NSManagedObjectModel
  final let core: PersistentStoreCoordinator
  private final let state = NSLock()
  private final var stores: [NSPersistentStore] = [] {
    didSet { ownStores = stores.compactMap { $0 as? NSIncrementalStore } }
  }
  private final var ownStores: [NSIncrementalStore] = []
  private final var contexts: [WeakContext] = []
  private final let queue = DispatchQueue(label: "NSPersistentStoreCoordinator")
  private final let queueKey = DispatchSpecificKey<Bool>()

  private struct WeakContext {
    weak var context: NSManagedObjectContext?
  }

  /// A name for debugging.
  open var name: String?

  /// Creates a coordinator of a model, which cannot be changed any more and must be sound.
  public init(managedObjectModel model: NSManagedObjectModel) {
    self.model = model
    do {
      core = PersistentStoreCoordinator(
        managedObjectModel: try model.freeze(),
        registry: StoreTypes.registry,
        baseClass: CoreObject.self
      )
    } catch {
      ProgrammerError.stop("The model cannot be used: \(error)")
    }
    super.init()
    queue.setSpecific(key: queueKey, value: true)
  }

  /// Creates a coordinator that shows one of Heartwood's, with its stores.
  init(showing core: PersistentStoreCoordinator) {
    model = NSManagedObjectModel(showing: core.managedObjectModel)
    self.core = core
    super.init()
    queue.setSpecific(key: queueKey, value: true)
    stores = core.persistentStores.map { NSPersistentStore($0, self, nil, nil) }
  }

  /// The model of the stores.
  open var managedObjectModel: NSManagedObjectModel { model }

  /// The open stores.
  open var persistentStores: [NSPersistentStore] { state.withLock { stores } }

  // MARK: Adding and removing

  /// Opens a store, or creates it if there is none.
  ///
  /// - Parameters:
  ///   - storeType: a type such as `NSSQLiteStoreType`, or one that was registered.
  ///   - configuration: the configuration whose entities the store keeps; nil stands for all.
  ///   - storeURL: the file. A store in memory needs none, and keeps it as a name only.
  ///   - options: the options, such as `NSMigratePersistentStoresAutomaticallyOption`.
  /// - Throws: a `CocoaError` with Core Data's code, such as `persistentStoreIncompatibleVersionHash`.
  @discardableResult
  open func addPersistentStore(
    ofType storeType: String,
    configurationName configuration: String?,
    at storeURL: URL?,
    options: [AnyHashable: Any]? = nil
  ) throws -> NSPersistentStore {
    try translating {
      var translated = try StoreOptionTable.options(options)
      if translated[.shouldMigrateStoreAutomatically] {
        let models = translated[.olderModels] + [core.managedObjectModel]
        translated[.mappingModels] = KnownMappings.mappings(among: models)
      }
      let hasNoFile = StoreType(storeType) == .inMemory || StoreTypes.incrementalClass(storeType) != nil
      return try opening(options, named: hasNoFile ? storeURL : nil) {
        try core.addPersistentStore(
          type: StoreType(storeType),
          configuration: configuration == "PF_DEFAULT_CONFIGURATION_NAME" ? nil : configuration,
          at: hasNoFile ? nil : storeURL,
          options: translated
        )
      }
    }
  }

  /// Opens a store and makes its object; a store of one's own has made it.
  private final func opening(
    _ options: [AnyHashable: Any]?,
    named url: URL? = nil,
    _ open: () throws -> PersistentStore
  ) throws -> NSPersistentStore {
    let opening = StoreOpening(self, options, url)
    let opened = try opening.run(open)
    let store = opening.store ?? NSPersistentStore(opened, self, url, options)
    store.core = opened
    try writeNew(store)
    return note(store)
  }

  /// Writes the file of a new store that is read whole, as Core Data does.
  private final func writeNew(_ store: NSPersistentStore) throws {
    guard [NSBinaryStoreType, NSXMLStoreType].contains(store.type), !store.isReadOnly, let url = store.url,
      !FileManager.default.fileExists(atPath: url.path), let opened = store.core
    else { return }
    try opened.engine.replaceMetadata(opened.metadata)
  }

  private final func note(_ store: NSPersistentStore) -> NSPersistentStore {
    state.withLock { stores.append(store) }
    store.didAdd(to: self)
    post(.NSPersistentStoreCoordinatorStoresDidChange, [NSAddedPersistentStoresKey: [store]])
    return store
  }

  /// Opens the store of a description, and calls `block` when this is done: at once, unless the description wants it
  /// later.
  open func addPersistentStore(
    with storeDescription: NSPersistentStoreDescription,
    completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
  ) {
    let work = Work { [self] in
      do {
        try addPersistentStore(
          ofType: storeDescription.type,
          configurationName: storeDescription.configuration,
          at: storeDescription.url,
          options: storeDescription.options
        )
        block(storeDescription, nil)
      } catch {
        block(storeDescription, error)
      }
    }
    if storeDescription.shouldAddStoreAsynchronously {
      DispatchQueue.global().async { work.body() }
    } else {
      work.body()
    }
  }

  /// Closes a store. Its file stays.
  open func remove(_ store: NSPersistentStore) throws {
    try translating {
      guard let opened = store.core else { throw PersistentStoreCoordinator.notOpen(nil) }
      post(.NSPersistentStoreCoordinatorWillRemoveStore, [:])
      store.willRemove(from: self)
      try core.remove(opened)
      state.withLock { stores.removeAll { $0 === store } }
      store.persistentStoreCoordinator = nil
      post(.NSPersistentStoreCoordinatorStoresDidChange, [NSRemovedPersistentStoresKey: [store]])
    }
  }

  private final func post(_ name: Notification.Name, _ userInfo: [AnyHashable: Any]) {
    NotificationCenter.default.post(name: name, object: self, userInfo: userInfo)
  }

  /// Returns the open store of a file.
  open func persistentStore(for url: URL) -> NSPersistentStore? {
    let found = core.persistentStore(for: url)
    return persistentStores.first { found == nil ? $0.url == url : $0.core === found }
  }

  final func persistentStore(withIdentifier identifier: UUID) -> NSPersistentStore? {
    persistentStores.first { $0.core?.identifier == identifier }
  }

  /// Returns the place of a store.
  open func url(for store: NSPersistentStore) -> URL {
    store.url ?? URL(fileURLWithPath: "/dev/null")
  }

  // MARK: Moving

  /// Writes the objects of a store to another place or as another type, and opens that store instead.
  @discardableResult
  open func migratePersistentStore(
    _ store: NSPersistentStore,
    to url: URL,
    options: [AnyHashable: Any]? = nil,
    withType storeType: String
  ) throws -> NSPersistentStore {
    try translating {
      guard let opened = store.core else { throw PersistentStoreCoordinator.notOpen(nil) }
      guard StoreTypes.incrementalClass(storeType) == nil else {
        throw CocoaError.make(
          .persistentStoreOperation,
          "A store cannot be moved to one of the type \(storeType), which is saved record by record. Add that store, and "
            + "insert the objects."
        )
      }
      store.willRemove(from: self)
      let translated = try StoreOptionTable.options(options)
      let successor = try opening(options) {
        try core.migratePersistentStore(
          opened,
          to: StoreType(storeType) == .inMemory ? nil : url,
          type: StoreType(storeType),
          options: translated
        )
      }
      state.withLock { stores.removeAll { $0 === store } }
      store.persistentStoreCoordinator = nil
      return successor
    }
  }

  /// Removes the files of a store. If it is one of the coordinator's, it is removed from it first.
  open func destroyPersistentStore(
    at url: URL,
    ofType storeType: String,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try translating {
      if let open = persistentStore(for: url) { try remove(open) }
      let file = FileManager.default.fileExists(atPath: url.path)
      guard file else { return }
      try core.destroyPersistentStore(
        at: url,
        type: StoreType(storeType),
        options: try StoreOptionTable.options(options)
      )
    }
  }

  // MARK: Objects

  /// Returns the id of a URI; nil if its store is not open.
  open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
    core.managedObjectID(forURIRepresentation: url).map {
      NSManagedObjectID($0, model.description(of: $0.entity), self)
    }
  }

  // MARK: Metadata

  /// Returns the metadata of a store.
  open func metadata(for store: NSPersistentStore) -> [String: Any] { store.metadata }

  /// Sets the metadata of a store, which the next save writes.
  open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) { store.metadata = metadata }

  /// Returns the metadata of a store that need not be open.
  open class func metadataForPersistentStore(
    ofType storeType: String,
    at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws -> [String: Any] {
    if let storeClass = StoreTypes.incrementalClass(storeType) {
      return try storeClass.metadataForPersistentStore(with: url)
    }
    return try translating {
      let options = try StoreOptionTable.options(options)
      return try StoreTypes.coordinator().metadataForPersistentStore(
        type: StoreType(storeType),
        at: url,
        options: options
      ).dictionary
    }
  }

  /// Sets the application's metadata of a store that is not open.
  open class func setMetadata(
    _ metadata: [String: Any]?,
    forPersistentStoreOfType storeType: String,
    at url: URL,
    options: [AnyHashable: Any]? = nil
  ) throws {
    try translating {
      let options = try StoreOptionTable.options(options)
      let coordinator = try StoreTypes.coordinator()
      var stored = try coordinator.metadataForPersistentStore(type: StoreType(storeType), at: url, options: options)
      stored.userInfo = try StoreMetadata.userInfo(in: metadata ?? [:])
      try coordinator.setMetadata(stored, type: StoreType(storeType), at: url, options: options)
    }
  }

  // MARK: Types

  /// Makes a class of one's own the one of a store type; nil removes the type.
  ///
  ///     NSPersistentStoreCoordinator.registerStoreClass(CSVStore.self, forStoreType: "CSVStore")
  ///
  /// - Parameter storeClass: a subclass of ``NSAtomicStore`` or ``NSIncrementalStore``.
  open class func registerStoreClass(_ storeClass: AnyClass?, forStoreType storeType: String) {
    StoreTypes.registry.unregister(StoreType(storeType))
    StoreTypes.setIncrementalClass(nil, storeType)
    guard let storeClass else { return }
    do {
      switch storeClass {
      case let atomic as NSAtomicStore.Type: try StoreTypes.registry.register(OwnAtomicFormat(atomic, storeType))
      case let incremental as NSIncrementalStore.Type:
        try StoreTypes.registry.register(OwnIncrementalFormat(incremental, storeType))
        StoreTypes.setIncrementalClass(incremental, storeType)
      default: ProgrammerError.stop("\(storeClass) inherits from neither NSAtomicStore nor NSIncrementalStore.")
      }
    } catch {
      ProgrammerError.stop("\(storeClass) cannot be registered: \(error)")
    }
  }

  // MARK: Stores of one's own

  /// Whether an incremental store of one's own is open.
  final var hasOwnIncrementalStores: Bool { !ownIncrementalStores.isEmpty }

  final var ownIncrementalStores: [NSIncrementalStore] { state.withLock { ownStores } }

  final func ownIncrementalStore(_ core: PersistentStore) -> NSIncrementalStore? {
    ownIncrementalStores.first { $0.core === core }
  }

  /// Returns the store of one's own that alone keeps the objects of an entity.
  final func ownIncrementalStore(ofEntity name: String, among affected: [NSPersistentStore]?) -> NSIncrementalStore? {
    guard hasOwnIncrementalStores else { return nil }
    let stores = (affected ?? persistentStores).filter { $0.core?.entities.contains { $0.name == name } ?? false }
    return stores.count == 1 ? stores[0] as? NSIncrementalStore : nil
  }

  // MARK: Queue

  /// Runs `block` on the coordinator's queue, later.
  public final func perform(_ block: @escaping () -> Void) {
    let work = Work(block)
    queue.async { work.body() }
  }

  /// Runs `block` on the coordinator's queue and waits for it.
  public final func performAndWait<Result>(_ block: () throws -> Result) rethrows -> Result {
    if DispatchQueue.getSpecific(key: queueKey) == true { return try block() }
    return try queue.sync(execute: block)
  }

  // MARK: Contexts

  final func note(_ context: NSManagedObjectContext) {
    state.withLock {
      contexts.removeAll { $0.context == nil }
      contexts.append(WeakContext(context: context))
    }
  }

  /// Makes the contexts that follow others merge a save.
  final func tellSave(_ changes: ContextChanges, by saver: NSManagedObjectContext) {
    postRemoteChanges()
    let others = state.withLock { contexts.compactMap(\.context) }
    for context in others where context !== saver && context.automaticallyMergesChangesFromParent {
      context.follow(changes)
    }
  }

  private final func translating<Result>(_ body: () throws -> Result) throws -> Result {
    try Self.translating(body)
  }

  private static func translating<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw CocoaError.of(error)
    }
  }
}

// MARK: Notifications

/// The key of the stores that were added.
public let NSAddedPersistentStoresKey = "added"
/// The key of the stores that were removed.
public let NSRemovedPersistentStoresKey = "removed"

extension NSNotification.Name {
  /// Posted by a coordinator when stores were added or removed.
  public static let NSPersistentStoreCoordinatorStoresDidChange = Notification.Name(
    "_NSPersistentStoreCoordinatorStoresDidChangeNotification"
  )
  /// Posted by a coordinator before its stores change for another account of iCloud, which no system has that this
  /// module is for.
  public static let NSPersistentStoreCoordinatorStoresWillChange = Notification.Name(
    "NSPersistentStoreCoordinatorStoresWillChangeNotification"
  )
  /// Posted by a coordinator for changes that iCloud brought, which no system has that this module is for.
  public static let NSPersistentStoreDidImportUbiquitousContentChanges = Notification.Name(
    "com.apple.coredata.ubiquity.importer.didfinishimport"
  )
  /// Posted by a coordinator before it removes a store.
  public static let NSPersistentStoreCoordinatorWillRemoveStore = Notification.Name(
    "_NSPersistentStoreCoordinatorWillRemoveStoreNotification"
  )
}

// MARK: StoreTypes

/// The store types of this module.
enum StoreTypes {
  static let registry: StoreRegistry = {
    do {
      let types: Set<StoreType> = [.binary, .xml, .inMemory]
      return try StoreRegistry(
        StoreRegistry.shippedStoreClasses.filter { types.contains($0.typeDescription.type) } + [SQLiteStore.self]
      )
    } catch {
      ProgrammerError.stop("The types of the stores that ship differ: \(error)")
    }
  }()

  // `@unchecked Sendable`: a class does not change.
  private struct Registered: @unchecked Sendable {
    let storeClass: NSIncrementalStore.Type
  }

  private static let incrementalClasses = Mutex<[String: Registered]>([:])

  /// Returns the class of the stores of a type that are one's own and saved record by record; nil for other types.
  static func incrementalClass(_ type: String) -> NSIncrementalStore.Type? {
    incrementalClasses.withLock { $0[type] }?.storeClass
  }

  static func setIncrementalClass(_ storeClass: NSIncrementalStore.Type?, _ type: String) {
    let registered = storeClass.map(Registered.init)
    incrementalClasses.withLock { $0[type] = registered }
  }

  /// Returns a coordinator that only looks at files.
  static func coordinator() throws -> PersistentStoreCoordinator {
    PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(entities: []),
      registry: registry,
      baseClass: CoreObject.self
    )
  }
}
