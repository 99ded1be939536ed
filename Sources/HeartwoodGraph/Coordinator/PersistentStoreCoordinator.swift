public import HeartwoodFoundation
public import HeartwoodModel
public import HeartwoodStore
public import Logging
import Synchronization

/// Brings contexts and stores together: it opens the stores of a model, finds the store of an object, and splits saves between
/// stores.
///
/// It is Sendable: contexts of any isolation share one.
public final class PersistentStoreCoordinator: Sendable {
  /// The model whose objects the stores keep.
  public let managedObjectModel: ManagedObjectModel
  /// The kinds of stores that can be added.
  public let registry: StoreRegistry
  /// Where the stores' files are.
  public let fileSystem: any FileSystem
  /// Where it is told what is done: stores that are opened, converted and closed (`info`), migrated (`notice`), saves and fetches (`debug`),
  /// with names, counts, places and times, and never a value. Nil, which is the default, costs nothing.
  public let logger: Logger?
  private let stores = Mutex<[PersistentStore]>([])
  /// The ordinals of the entities that stores kept which were removed.
  private let formerlyKept = Mutex<Set<Int>>([])
  /// Counts the changes of ``persistentStores``.
  let storeChanges = ChangeCounter()
  package let objectClasses: ObjectClassMap
  /// What records that no store has are called where their store was converted.
  let unsavedNames = UnsavedNames()
  /// What contexts save to the stores.
  let saveBroadcast = ChangeBroadcast()
  /// Who may save to the stores at a time.
  let saveTurns = SaveTurns()
  /// The model's derived attributes, once they have been needed.
  let derivation = Mutex<DerivedAttributes?>(nil)
  private let isClosedFlag = Atomic<Bool>(false)

  /// Makes a coordinator without stores.
  ///
  /// - Parameters:
  ///   - objectClasses: the classes of the objects of entities that have one; the others' are ``ManagedObject``.
  ///   - fileSystem: where the stores' files are.
  ///   - logger: what it reports to; see ``logger``.
  /// - Throws: ``PersistenceError/Code/entityUnknown`` where a class names an entity that the model lacks,
  ///   ``PersistenceError/Code/objectClassMismatch`` where two classes are for one entity, or the class of an entity is not a
  ///   subclass of that of the entity above.
  public init(
    managedObjectModel: ManagedObjectModel,
    registry: StoreRegistry,
    objectClasses: [ManagedObject.Type] = [],
    fileSystem: any FileSystem = POSIXFileSystem(),
    logger: Logger? = nil
  ) throws(PersistenceError) {
    self.managedObjectModel = managedObjectModel
    self.registry = registry
    self.fileSystem = fileSystem
    self.logger = logger
    self.objectClasses = try ObjectClassMap(objectClasses, model: managedObjectModel)
  }

  package var storeManager: StoreManager {
    StoreManager(model: managedObjectModel, registry: registry, fileSystem: fileSystem)
  }
}

// MARK: Stores

extension PersistentStoreCoordinator {
  /// The open stores, in the order in which they were added.
  public var persistentStores: [PersistentStore] { stores.withLock { $0 } }

  /// Opens a store. Where there is no file, or one without a byte, it is a new store, whose file the first save makes, or, where the store is an
  /// incremental one, the opening itself.
  ///
  /// It reads the file: an atomic store's as a whole, or as much of it as the format needs. Where the file was written with another version of
  /// the model and ``StoreOptionKey/shouldMigrateStoreAutomatically`` is set, it is migrated first: ``migration(ofStoreAt:type:configuration:options:)``.
  ///
  /// - Parameters:
  ///   - type: the registered type; nil means that the file's name or content tells it, or the scheme of the URL.
  ///   - configuration: the configuration whose entities the store keeps; nil means all.
  ///   - url: the file, or what the type's URLs lead to, such as a database; nil for a store without a place.
  /// - Throws: ``PersistenceError``: the type is unknown, the file is not of the type, damaged or of another model, or the store
  ///   cannot keep such entities.
  @discardableResult
  public func addPersistentStore(
    type: StoreType? = nil,
    configuration: String? = nil,
    at url: URL?,
    options: StoreOptions = StoreOptions()
  ) throws -> PersistentStore {
    let log = log(.opened)
    try checkNotClosed()
    let request = try request(type: type, configuration: configuration, at: url, options: options)
    try checkNotOpen(request.place)
    let store = try openMigrated(request)
    try add(store)
    log?.tell(store)
    return store
  }

  /// Adds a store, or closes it where it, or another with its file or identifier, is there already: others may have been faster.
  package func add(_ store: PersistentStore) throws(PersistenceError) {
    do {
      try insert(store)
    } catch {
      // Nobody else lets go of its file.
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
  /// Objects that contexts have keep the values that they have read. A save that is under way is waited for. If no other open store keeps an
  /// entity of the store, fetching its objects is an error from then on, ``PersistenceError/Code/storeNotOpen``, as saving them is.
  ///
  /// - Throws: ``PersistenceError/Code/storeNotOpen``.
  public func remove(_ store: PersistentStore) throws(PersistenceError) {
    let log = log(.closed)
    let wasOpen = stores.withLock { stores in
      let index = stores.firstIndex { $0 === store }
      if let index { stores.remove(at: index) }
      return index != nil
    }
    guard wasOpen else { throw Self.notOpen(store) }
    formerlyKept.withLock { $0.formUnion(store.entities.map(\.ordinal)) }
    storeChanges.advance()
    _ = store.engine.close(unlessSavedSince: nil)
    log?.tell(store)
  }

  /// Closes all stores for good. Contexts throw ``PersistenceError/Code/coordinatorClosed`` from then on; objects keep the values that
  /// they have read. Saves that are under way are waited for.
  public func close() {
    isClosedFlag.store(true, ordering: .releasing)
    // try?: a store that is removed by somebody else at the same time is closed all the same.
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

  /// The open store whose file is at `url`, or that is what the URL leads to; nil if there is none.
  public func persistentStore(for url: URL) -> PersistentStore? {
    let place = resolvedPlace(StorePlace(url))
    return persistentStores.first { $0.place.map(resolvedPlace) == place }
  }

  /// Where a store is: the file URL of its file, or the URL that it was added with; nil for one without a place.
  public func url(for store: PersistentStore) -> URL? { store.place?.url }

  /// The open store with `identifier`, or nil.
  public func persistentStore(withIdentifier identifier: UUID) -> PersistentStore? {
    persistentStores.first { $0.identifier == identifier }
  }

  /// Whether `store` is one of the open stores.
  func isOpen(_ store: PersistentStore) -> Bool { persistentStores.contains { $0 === store } }

  /// Puts `successor`, which has the same records, in the place of `store`.
  package func replace(_ store: PersistentStore, by successor: PersistentStore) throws(PersistenceError) {
    let wasOpen = stores.withLock { stores in
      let index = stores.firstIndex { $0 === store }
      if let index { stores[index] = successor }
      return index != nil
    }
    guard wasOpen else { throw Self.notOpen(store) }
    store.setSuccessor(successor)
    storeChanges.advance()
    // Whoever reads from the old store looks for changes then, and finds its successor.
    store.engine.saves.advance()
  }

  func checkNotOpen(_ place: StorePlace?) throws(PersistenceError) {
    guard let resolved = place.map(resolvedPlace) else { return }
    if persistentStores.contains(where: { $0.place.map(resolvedPlace) == resolved }) { throw Self.alreadyOpen(place) }
  }

  /// What a place is known by, whichever of its names is given: the path that leads there without links, or the URL without a password.
  private func resolvedPlace(_ place: StorePlace) -> String {
    guard let path = place.path else { return place.description }
    // try?: a path that cannot be resolved is known by its name.
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

  static func notOpen(_ store: PersistentStore?) -> PersistenceError {
    PersistenceError(
      .storeNotOpen,
      "The store is not open in this coordinator, or no longer.",
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
  /// The id of the object that `uri` names, or nil where it names none of an open store. It does not look whether the object is
  /// still there.
  ///
  /// For a store that calls records by numbers alone, as SQLite does, it may be a URI that Core Data has made: `x-coredata://…/ToDo/p12`.
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

  /// The store that a new object of `entity` is saved in: the first that keeps the entity and can be written.
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

  /// The open stores that keep an entity; none if no store was added that does.
  ///
  /// - Throws: ``PersistenceError/Code/storeNotOpen`` if there is none any more, since a store that did was removed.
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

  /// The open store that keeps the object, or an error that says that it is not open.
  func store(keeping id: ManagedObjectID) throws(PersistenceError) -> PersistentStore {
    guard let identifier = id.storeIdentifier, let store = persistentStore(withIdentifier: identifier) else {
      throw PersistenceError(
        .storeNotOpen,
        "The store of an object is not open in this coordinator, or no longer.",
        context: .init(entity: id.entity.name, objectIDs: [id])
      )
    }
    return store
  }
}

// MARK: Rows

extension PersistentStoreCoordinator {
  /// Lets records stay in their rows as long as the result is held.
  func keepRows() -> [RowKeeper] { persistentStores.compactMap { $0.engine.keepRows() } }
}
