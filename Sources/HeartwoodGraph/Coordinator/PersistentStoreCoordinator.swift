public import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore
public import Logging
import Synchronization

/// Connects contexts and stores: it opens the stores of a model, finds the store of an object, and distributes saves to
/// the stores.
///
///     let coordinator = try PersistentStoreCoordinator(managedObjectModel: model, registry: registry)
///     try coordinator.addPersistentStore(at: url)
///     let context = ManagedObjectContext(coordinator)
///
/// It is Sendable: contexts of all isolations share one.
public final class PersistentStoreCoordinator: Sendable {
  /// The model of the objects in the stores.
  public let managedObjectModel: ManagedObjectModel
  /// The store types that can be added.
  public let registry: StoreRegistry
  /// The file system of the stores' files.
  public let fileSystem: any FileSystem
  /// The logger of the coordinator: it logs stores that are opened, converted and closed (`info`), migrations
  /// (`notice`), saves and fetches (`debug`), with names, counts, paths and durations, but never a value. The default,
  /// nil, costs nothing.
  public let logger: Logger?
  /// Is told of what contexts and the coordinator do with the stores; nil, the default, costs nothing.
  public let operationObserver: (any OperationObserver)?
  private let stores = Mutex<[PersistentStore]>([])
  /// The ordinals of the entities of stores that were removed.
  private let formerlyKept = Mutex<Set<Int>>([])
  /// Counts the changes of ``persistentStores``.
  let storeChanges = ChangeCounter()
  package let objectClasses: ObjectClassMap
  /// The ids of unsaved records whose store was converted.
  let unsavedNames = UnsavedNames()
  /// Reports what contexts save to the stores.
  let saveBroadcast = ChangeBroadcast()
  /// Schedules the saves to the stores.
  let saveTurns = SaveTurns()
  /// The model's derived attributes, compiled on first use.
  let derivation = Mutex<DerivedAttributes?>(nil)
  private let isClosedFlag = Atomic<Bool>(false)

  /// Creates a coordinator without stores. It does no I/O.
  ///
  /// - Parameters:
  ///   - objectClasses: the classes of the objects of entities that have one; all other objects are of the class
  ///     ``ManagedObject``.
  ///   - fileSystem: the file system of the stores' files.
  ///   - logger: see ``logger``.
  ///   - operationObserver: see ``operationObserver``.
  /// - Throws: ``PersistenceError/Code/entityUnknown`` if a class names an entity that the model lacks,
  ///   ``PersistenceError/Code/objectClassMismatch`` if two classes are for one entity, or the class of an entity is
  ///   not a subclass of that of its superentity.
  public init(
    managedObjectModel: ManagedObjectModel,
    registry: StoreRegistry,
    objectClasses: [ManagedObject.Type] = [],
    fileSystem: any FileSystem = POSIXFileSystem(),
    logger: Logger? = nil,
    operationObserver: (any OperationObserver)? = nil
  ) throws(PersistenceError) {
    self.managedObjectModel = managedObjectModel
    self.registry = registry
    self.fileSystem = fileSystem
    self.logger = logger
    self.operationObserver = operationObserver
    self.objectClasses = try ObjectClassMap(objectClasses, model: managedObjectModel)
  }

  /// Creates a coordinator whose objects are all of one class; it does no I/O.
  package init(managedObjectModel: ManagedObjectModel, registry: StoreRegistry, baseClass: ManagedObject.Type) {
    self.managedObjectModel = managedObjectModel
    self.registry = registry
    self.fileSystem = POSIXFileSystem()
    self.logger = nil
    self.operationObserver = nil
    self.objectClasses = ObjectClassMap(baseClass: baseClass, model: managedObjectModel)
  }

  package var storeManager: StoreManager {
    StoreManager(model: managedObjectModel, registry: registry, fileSystem: fileSystem)
  }
}

// MARK: Stores

extension PersistentStoreCoordinator {
  /// The open stores, in the order in which they were added.
  public var persistentStores: [PersistentStore] { stores.withLock { $0 } }

  /// Opens a store. If there is no file, or an empty one, this creates a new store: the first save writes the file of
  /// an atomic store, whereas an incremental store writes it when it is opened.
  ///
  /// This reads the file: that of an atomic store completely, or as much of it as the format needs. If the file was
  /// written with another version of the model and ``StoreOptionKey/shouldMigrateStoreAutomatically`` is set, it is
  /// migrated first: ``migration(ofStoreAt:type:configuration:options:)``.
  ///
  ///     try coordinator.addPersistentStore(at: URL(filePath: "/data/todos.sqlite"))
  ///
  /// - Parameters:
  ///   - type: the registered type; nil stands for the type that is detected from the file's name or content, or from
  ///     the scheme of the URL.
  ///   - configuration: the configuration whose entities the store keeps; nil stands for all.
  ///   - url: the file, or another resource of the type, such as a database; nil for a store without a place.
  /// - Throws: ``PersistenceError``: the type is unknown, the file is not of the type, damaged or of another model, or
  ///   the store cannot keep such entities.
  @discardableResult
  public func addPersistentStore(
    type: StoreType? = nil,
    configuration: String? = nil,
    at url: URL?,
    options: StoreOptions = StoreOptions()
  ) throws -> PersistentStore {
    try logging(.opened) { log in
      try checkNotClosed()
      let request = try request(type: type, configuration: configuration, at: url, options: options)
      try checkNotOpen(request.place)
      let store = try openMigrated(request)
      try add(store)
      log?.tell(store)
      return store
    }
  }

  /// Adds a store, or closes it if it, or another with its file or identifier, was added meanwhile.
  package func add(_ store: PersistentStore) throws(PersistenceError) {
    do {
      try insert(store)
    } catch {
      // No other store owns its file.
      if !isOpen(store) { _ = store.engine.close(unlessSavedSince: nil) }
      throw error
    }
    storeChanges.advance()
  }

  private func insert(_ store: PersistentStore) throws(PersistenceError) {
    let place = store.place.map(resolvedPlace)
    let identifier = store.identifier
    try stores.withLock { stores throws(PersistenceError) in
      try checkNotClosed()
      if let place, stores.contains(where: { $0.place.map(resolvedPlace) == place }) {
        throw Self.alreadyOpen(store.place)
      }
      guard !stores.contains(where: { $0.identifier == identifier }) else {
        throw PersistenceError(
          .storeAlreadyOpen,
          "A store with the same identifier is open in this coordinator: one file is a copy of the other.",
          recovery: "Remove that store first, or use another coordinator.",
          context: .init(path: store.placeName)
        )
      }
      stores.append(store)
    }
  }

  /// Closes a store. Objects of it can no longer be fetched or saved; its file stays.
  ///
  /// Objects in contexts keep the values that they have read. This waits for a save that is under way. If no other open
  /// store keeps an entity of the store, fetching and saving its objects throws ``PersistenceError/Code/storeNotOpen``
  /// from then on.
  ///
  /// - Throws: ``PersistenceError/Code/storeNotOpen``.
  public func remove(_ store: PersistentStore) throws(PersistenceError) {
    let wasOpen = stores.withLock { stores in
      let index = stores.firstIndex { $0 === store }
      if let index { stores.remove(at: index) }
      return index != nil
    }
    guard wasOpen else { throw Self.notOpen(store) }
    let log = log(.closed, storeType: store.type)
    formerlyKept.withLock { $0.formUnion(store.entities.map(\.ordinal)) }
    storeChanges.advance()
    _ = store.engine.close(unlessSavedSince: nil)
    log?.tell(store)
  }

  /// Closes all stores permanently. Contexts throw ``PersistenceError/Code/coordinatorClosed`` from then on; objects
  /// keep the values that they have read. This waits for saves that are under way.
  public func close() {
    isClosedFlag.store(true, ordering: .releasing)
    // try?: a store that another caller removes at the same time is closed too.
    for store in persistentStores { try? remove(store) }
  }

  /// Whether ``close()`` was called.
  public var isClosed: Bool { isClosedFlag.load(ordering: .acquiring) }

  func checkNotClosed() throws(PersistenceError) {
    guard isClosed else { return }
    throw PersistenceError(
      .coordinatorClosed,
      "The coordinator was closed.",
      recovery: "Make another one, with contexts of its own."
    )
  }

  /// Returns the open store of the file or resource at `url`; nil if there is none.
  public func persistentStore(for url: URL) -> PersistentStore? {
    let place = resolvedPlace(StorePlace(url))
    return persistentStores.first { $0.place.map(resolvedPlace) == place }
  }

  /// Returns the place of a store: the URL of its file, or the URL that it was added with; nil for one without a place.
  public func url(for store: PersistentStore) -> URL? { store.place?.url }

  /// Returns the open store with `identifier`, or nil.
  public func persistentStore(withIdentifier identifier: UUID) -> PersistentStore? {
    persistentStores.first { $0.identifier == identifier }
  }

  /// Returns whether `store` is one of the open stores.
  func isOpen(_ store: PersistentStore) -> Bool { persistentStores.contains { $0 === store } }

  /// Replaces `store` by `successor`, which has the same records.
  package func replace(_ store: PersistentStore, by successor: PersistentStore) throws(PersistenceError) {
    let wasOpen = stores.withLock { stores in
      let index = stores.firstIndex { $0 === store }
      if let index { stores[index] = successor }
      return index != nil
    }
    guard wasOpen else { throw Self.notOpen(store) }
    store.setSuccessor(successor)
    storeChanges.advance()
    // Readers of the old store then look for changes, and find its successor.
    store.engine.saves.advance()
  }

  func checkNotOpen(_ place: StorePlace?) throws(PersistenceError) {
    guard let resolved = place.map(resolvedPlace) else { return }
    if persistentStores.contains(where: { $0.place.map(resolvedPlace) == resolved }) { throw Self.alreadyOpen(place) }
  }

  /// Returns the canonical name of a place, whichever of its names is given: the path without symbolic links, or the
  /// URL without a password.
  private func resolvedPlace(_ place: StorePlace) -> String {
    guard let path = place.path else { return place.description }
    // try?: a path that cannot be resolved is used as it is.
    return (try? fileSystem.resolvingSymbolicLinks(inPath: path)) ?? path
  }

  private static func alreadyOpen(_ place: StorePlace?) -> PersistenceError {
    PersistenceError(
      .storeAlreadyOpen,
      place?.path == nil ? "It is open in this coordinator." : "A store of this coordinator has the file open.",
      recovery: "Use persistentStore(for:), or remove the store first.",
      context: .init(path: place?.description)
    )
  }

  package static func notOpen(_ store: PersistentStore?) -> PersistenceError {
    PersistenceError(
      .storeNotOpen,
      "The store is not open in this coordinator, or no longer open.",
      context: .init(path: store?.placeName)
    )
  }

  package func request(
    type: StoreType?,
    configuration: String? = nil,
    at url: URL?,
    options: StoreOptions
  ) throws(PersistenceError) -> StoreManager.Request {
    let place = url.map { StorePlace($0) }
    let actualType: StoreType
    if let type {
      actualType = type
    } else if let place {
      actualType = try registry.type(ofStoreAt: place, in: fileSystem)
    } else {
      throw PersistenceError(
        .storeTypeUndetermined,
        "The store has neither a type nor a place.",
        recovery: "Give a type, such as .inMemory."
      )
    }
    return StoreManager.Request(type: actualType, place: place, configurationName: configuration, options: options)
  }
}

// MARK: Objects

extension PersistentStoreCoordinator {
  /// Returns the id of the object of `uri`, or nil if the URI is of no open store. It does not check whether the object
  /// still exists.
  ///
  /// For a store that identifies records by numbers, as SQLite does, this also accepts URIs of Core Data:
  /// `x-coredata://…/ToDo/p12`.
  public func managedObjectID(forURIRepresentation uri: URL) -> ManagedObjectID? {
    guard let parts = ObjectURI(uri), let identifier = parts.storeIdentifier,
      let store = persistentStore(withIdentifier: identifier),
      let entity = store.entities.first(where: { $0.name == parts.entityName })
    else { return nil }
    let hasNumbersOnly = store.capabilities.referenceKinds == [.integer]
    let number = hasNumbersOnly ? parts.reference.numberOfCoreData : nil
    return ManagedObjectID(
      scope: store.engine.scopes[entity.ordinal],
      reference: number.map(ReferenceID.integer) ?? parts.reference
    )
  }

  /// Returns the store for a new object of `entity`: the first that keeps the entity and can be written.
  func storeForNewObjects(of entity: EntityDescription) throws(PersistenceError) -> PersistentStore {
    let candidates = persistentStores.filter { store in store.entities.contains { $0 === entity } }
    if let store = candidates.first(where: { !$0.isReadOnly }) { return store }
    throw PersistenceError(
      candidates.isEmpty ? .storeNotOpen : .storeReadOnly,
      candidates.isEmpty
        ? "No open store keeps the entity."
        : "Every open store that keeps the entity is read-only.",
      recovery: candidates.isEmpty ? "Add a store whose configuration has it." : nil,
      context: .init(entity: entity.name)
    )
  }

  /// Returns the open stores that keep an entity; none if no such store was ever added.
  ///
  /// - Throws: ``PersistenceError/Code/storeNotOpen`` if there is no such store any more, since it was removed.
  func storesToRead(keeping entity: EntityDescription) throws(PersistenceError) -> [PersistentStore] {
    let open = persistentStores.filter { store in store.entities.contains { $0 === entity } }
    if !open.isEmpty || !formerlyKept.withLock({ $0.contains(entity.ordinal) }) { return open }
    throw PersistenceError(
      .storeNotOpen,
      "The store that kept the entity was removed from the coordinator.",
      recovery: "Add it again to read its objects.",
      context: .init(entity: entity.name)
    )
  }

  /// Returns the open store of the object of `id`, or throws if it is not open.
  func store(keeping id: ManagedObjectID) throws(PersistenceError) -> PersistentStore {
    guard let identifier = id.storeIdentifier, let store = persistentStore(withIdentifier: identifier) else {
      throw PersistenceError(
        .storeNotOpen,
        "The store of an object is not open in this coordinator, or no longer open.",
        context: .init(entity: id.entity.name, objectIDs: [id])
      )
    }
    return store
  }
}

// MARK: Rows

extension PersistentStoreCoordinator {
  /// Keeps records in their rows as long as the result is retained.
  func keepRows() -> [RowKeeper] { persistentStores.compactMap { $0.engine.keepRows() } }
}
