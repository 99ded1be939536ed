public import FoundationEssentials
public import HeartwoodModel
public import HeartwoodStore
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
  private let stores = Mutex<[PersistentStore]>([])
  let objectClasses: ObjectClassMap

  /// Makes a coordinator without stores.
  ///
  /// - Parameters:
  ///   - objectClasses: the classes of the objects of entities that have one; the others' are ``ManagedObject``.
  ///   - fileSystem: where the stores' files are.
  /// - Throws: ``PersistenceError/Code/entityUnknown`` where a class names an entity that the model lacks.
  public init(
    managedObjectModel: ManagedObjectModel,
    registry: StoreRegistry,
    objectClasses: [ManagedObject.Type] = [],
    fileSystem: any FileSystem = POSIXFileSystem()
  ) throws(PersistenceError) {
    self.managedObjectModel = managedObjectModel
    self.registry = registry
    self.fileSystem = fileSystem
    self.objectClasses = try ObjectClassMap(objectClasses, model: managedObjectModel)
  }

  private var opener: StoreOpener {
    StoreOpener(model: managedObjectModel, registry: registry, fileSystem: fileSystem)
  }
}

// MARK: Stores

extension PersistentStoreCoordinator {
  /// The open stores, in the order in which they were added.
  public var persistentStores: [PersistentStore] { stores.withLock { $0 } }

  /// Opens a store. Where there is no file, or one without a byte, it is a new store whose file the first save makes.
  ///
  /// It reads the file: an atomic store's as a whole, or as much of it as the format needs.
  ///
  /// - Parameters:
  ///   - type: the registered type; nil means that the file's name or content tells it.
  ///   - configuration: the configuration whose entities the store keeps; nil means all.
  ///   - url: the file; nil for a store without one.
  /// - Throws: ``PersistenceError``: the type is unknown, the file is not of the type, damaged or of another model, or the store
  ///   cannot keep such entities.
  @discardableResult
  public func addPersistentStore(
    type: StoreType? = nil,
    configuration: String? = nil,
    at url: URL?,
    options: StoreOptions = StoreOptions()
  ) throws -> PersistentStore {
    let request = try request(type: type, configuration: configuration, at: url, options: options)
    try checkNotOpen(request.path)
    let store = try opener.open(request)
    stores.withLock { $0.append(store) }
    return store
  }

  /// Closes a store. Objects of it can no longer be fetched or saved; its file stays.
  ///
  /// - Throws: ``PersistenceError/Code/storeNotOpen``.
  public func remove(_ store: PersistentStore) throws(PersistenceError) {
    let wasOpen = stores.withLock { stores in
      let index = stores.firstIndex { $0 === store }
      if let index { stores.remove(at: index) }
      return index != nil
    }
    guard wasOpen else { throw Self.notOpen(store.path) }
  }

  /// The open store whose file is at `url`, or nil.
  public func persistentStore(for url: URL) -> PersistentStore? {
    persistentStores.first { $0.path == url.path }
  }

  /// The file of a store, or nil for one without.
  public func url(for store: PersistentStore) -> URL? {
    store.path.map { URL(filePath: $0) }
  }

  /// The open store with `identifier`, or nil.
  public func persistentStore(withIdentifier identifier: UUID) -> PersistentStore? {
    persistentStores.first { $0.identifier == identifier }
  }

  func checkNotOpen(_ path: String?) throws(PersistenceError) {
    guard let path, persistentStores.contains(where: { $0.path == path }) else { return }
    throw PersistenceError(
      .storeAlreadyOpen,
      "A store of this coordinator has the file open. Use persistentStore(for:), or remove the store first.",
      context: .init(path: path)
    )
  }

  static func notOpen(_ path: String?) -> PersistenceError {
    PersistenceError(
      .storeNotOpen,
      "The store is not open in this coordinator, or no longer.",
      context: .init(path: path)
    )
  }

  func request(
    type: StoreType?,
    configuration: String? = nil,
    at url: URL?,
    options: StoreOptions
  ) throws(PersistenceError) -> StoreOpener.Request {
    let path = url?.path
    let actualType: StoreType
    if let type {
      actualType = type
    } else if let path {
      actualType = try registry.type(ofFileAt: path, in: fileSystem)
    } else {
      throw PersistenceError(.storeTypeUndetermined, "A store without a file needs a type, such as .inMemory.")
    }
    return StoreOpener.Request(type: actualType, path: path, configurationName: configuration, options: options)
  }
}

// MARK: Metadata

extension PersistentStoreCoordinator {
  /// The metadata of a store that need not be open. It reads no records.
  ///
  /// - Parameter type: the registered type; nil means that the file's name or content tells it.
  public func metadataForPersistentStore(
    type: StoreType? = nil,
    at url: URL,
    options: StoreOptions = StoreOptions()
  ) throws -> StoreMetadata {
    try opener.metadata(try request(type: type, at: url, options: options))
  }

  /// Writes the metadata of a store that is not open. An atomic store's file is written as a whole, and at once.
  ///
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen``, ``PersistenceError/Code/capabilityMissing`` where the format has no
  ///   place for the user's keys, or what reading and writing the file can throw.
  public func setMetadata(
    _ metadata: StoreMetadata,
    type: StoreType? = nil,
    at url: URL,
    options: StoreOptions = StoreOptions()
  ) throws {
    let request = try request(type: type, at: url, options: options)
    try checkNotOpen(request.path)
    try opener.setMetadata(metadata, request)
  }
}

// MARK: Moving stores

extension PersistentStoreCoordinator {
  /// Writes all that `store` keeps as a store of another type or at another place; that is open from then on, and `store` is
  /// not, though its file stays.
  ///
  /// The identifier, the metadata and the names of the records stay the same. What the other type cannot hold is refused before
  /// anything is written.
  ///
  /// - Parameter replacing: whether a file that stands there is replaced.
  /// - Returns: the new store.
  @discardableResult
  public func migratePersistentStore(
    _ store: PersistentStore,
    to url: URL?,
    type: StoreType? = nil,
    options: StoreOptions = StoreOptions(),
    replacing: Bool = false
  ) throws -> PersistentStore {
    guard persistentStores.contains(where: { $0 === store }) else { throw Self.notOpen(store.path) }
    let request = try request(type: type, configuration: store.configurationName, at: url, options: options)
    try checkNotOpen(request.path)
    let converted = try opener.convert(store, to: request, replacing: replacing)
    stores.withLock { stores in
      if let index = stores.firstIndex(where: { $0 === store }) { stores[index] = converted }
    }
    return converted
  }

  /// Removes the file of a store that is not open.
  ///
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen``, ``PersistenceError/Code/fileNotFound``; and an error where the file is
  ///   not a store of `type`, so that no other file is ever removed.
  public func destroyPersistentStore(
    at url: URL,
    type: StoreType? = nil,
    options: StoreOptions = StoreOptions()
  ) throws {
    let request = try request(type: type, at: url, options: options)
    try checkNotOpen(request.path)
    if try fileSystem.status(atPath: url.path)?.size != 0 { _ = try opener.metadata(request) }
    try fileSystem.removeFile(atPath: url.path)
    try fileSystem.synchronizeDirectory(ofPath: url.path)
  }

  /// Replaces the store at `url`, or makes it, by a copy of the store at `source`, of the same type, in one step.
  ///
  /// Neither may be open. The copy is byte for byte the same.
  public func replacePersistentStore(
    at url: URL,
    withPersistentStoreFrom source: URL,
    type: StoreType? = nil,
    options: StoreOptions = StoreOptions()
  ) throws {
    let request = try request(type: type, at: source, options: options)
    try checkNotOpen(request.path)
    try checkNotOpen(url.path)
    _ = try opener.metadata(request)
    let input = try StoreInput(try fileSystem.openFile(atPath: source.path))
    _ = try AtomicFile(path: url.path, fileSystem: fileSystem).replace(expecting: .anything) { output in
      try output.write(contentsOf: input)
    }
  }
}

// MARK: Objects

extension PersistentStoreCoordinator {
  /// The id of the object that `uri` names, or nil where it names none of an open store. It does not look whether the object is
  /// still there.
  public func managedObjectID(forURIRepresentation uri: URL) -> ManagedObjectID? {
    guard let parts = ObjectURI(uri), let identifier = parts.storeIdentifier,
      let store = persistentStore(withIdentifier: identifier),
      let entity = store.entities.first(where: { $0.name == parts.entityName })
    else { return nil }
    return ManagedObjectID(scope: store.engine.scopes[entity.ordinal], reference: parts.reference)
  }

  /// The store that a new object of `entity` is saved in: the first that keeps the entity and can be written.
  func storeForNewObjects(of entity: EntityDescription) throws(PersistenceError) -> PersistentStore {
    let candidates = persistentStores.filter { store in store.entities.contains { $0 === entity } }
    if let store = candidates.first(where: { !$0.isReadOnly }) { return store }
    throw PersistenceError(
      candidates.isEmpty ? .storeNotOpen : .storeReadOnly,
      candidates.isEmpty
        ? "No open store keeps the entity. Add a store whose configuration has it."
        : "Every open store that keeps the entity is read-only.",
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
