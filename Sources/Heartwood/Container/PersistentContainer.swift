public import HeartwoodFoundation
public import HeartwoodGraph
public import HeartwoodModel
public import HeartwoodStore
public import Logging
import Synchronization

/// Holds a model, its stores and its contexts.
///
///     let container = try PersistentContainer(name: "ToDo")
///     try await container.loadPersistentStores()
///     try await container.write { context in
///       try context.insert(ToDo.self).memo = "Bread"
///     }
///
/// A container is Sendable, so every part of an application can use it. Its stores stay open until ``close()``, or
/// until the container and all its contexts are deallocated. No two containers of a process can have the same file
/// open.
public final class PersistentContainer: Sendable {
  /// The name of the container. It is also the name of its file if the description does not give one.
  public let name: String
  /// The descriptions of the stores, in the order in which they are opened.
  public let persistentStoreDescriptions: [PersistentStoreDescription]
  /// The folder of the files that no description names.
  public let directory: URL
  /// The coordinator that the contexts read from and save to.
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  /// The file or folder in which the model was found. Older versions of the model may be beside it. Nil if the model
  /// was passed.
  let modelURL: URL?
  let place: StoreLocation
  let slots: Mutex<[StoreSlot]>

  /// The host of ``viewContext``, which is made at the first access: a program without views has none.
  @MainActor private var existingViewHost: ViewContext?

  /// Makes a container for a model. No store is opened until ``loadPersistentStores(progress:)`` is called.
  ///
  /// - Parameters:
  ///   - name: the name of the container, and of its file if no description gives another.
  ///   - managedObjectModel: the model that all its stores share.
  ///   - stores: the stores to open; by default a binary store in the container's folder.
  ///   - objectClasses: the classes for the objects of entities; the others are plain ``ManagedObject``s.
  ///   - directory: the folder for files without a URL in their description; nil means
  ///     ``defaultDirectoryURL(applicationName:)``. If it does not exist, it is made when the stores are loaded.
  ///   - registry: the registry of the store types that can be opened.
  ///   - fileSystem: the file system of the stores. Folders are made only in ``POSIXFileSystem``.
  ///   - logger: the logger that receives the messages; see ``PersistentStoreCoordinator/logger``.
  ///   - operationObserver: see ``PersistentStoreCoordinator/operationObserver``.
  /// - Throws: ``PersistenceError/Code/entityUnknown`` and ``PersistenceError/Code/objectClassMismatch``.
  public convenience init(
    name: String,
    managedObjectModel: ManagedObjectModel,
    stores: [PersistentStoreDescription] = [PersistentStoreDescription()],
    objectClasses: [ManagedObject.Type] = [],
    directory: URL? = nil,
    registry: StoreRegistry = .default,
    fileSystem: any FileSystem = POSIXFileSystem(),
    logger: Logger? = nil,
    operationObserver: (any OperationObserver)? = nil
  ) throws(PersistenceError) {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: managedObjectModel,
      registry: registry,
      objectClasses: objectClasses,
      fileSystem: fileSystem,
      logger: logger,
      operationObserver: operationObserver
    )
    self.init(name, coordinator, stores, directory, modelURL: nil)
  }

  /// Makes a container for the model called `name` among the program's resources; see
  /// `ManagedObjectModel.init(named:in:)`. Stores are migrated with the older versions of the model and the mapping
  /// models that lie beside it.
  ///
  /// - Parameters:
  ///   - name: the name of the model and of the container, and of its file if no description gives another.
  ///   - bundles: the bundles or folders to search for the model; nil means the folder of the executable.
  ///   - stores: the stores to open; by default a binary store in the container's folder.
  ///   - objectClasses: the classes for the objects of entities; the others are plain ``ManagedObject``s.
  ///   - directory: the folder for files without a URL in their description; nil means
  ///     ``defaultDirectoryURL(applicationName:)``.
  ///   - registry: the registry of the store types that can be opened.
  ///   - fileSystem: the file system of the stores. The model is always read from the system's.
  ///   - logger: the logger that receives the messages; see ``PersistentStoreCoordinator/logger``.
  ///   - operationObserver: see ``PersistentStoreCoordinator/operationObserver``.
  /// - Throws: ``PersistenceError/Code/modelMissing``, which lists the searched places;
  ///   ``PersistenceError/Code/entityUnknown`` and ``PersistenceError/Code/objectClassMismatch``.
  public convenience init(
    name: String,
    modelIn bundles: [URL]? = nil,
    stores: [PersistentStoreDescription] = [PersistentStoreDescription()],
    objectClasses: [ManagedObject.Type] = [],
    directory: URL? = nil,
    registry: StoreRegistry = .default,
    fileSystem: any FileSystem = POSIXFileSystem(),
    logger: Logger? = nil,
    operationObserver: (any OperationObserver)? = nil
  ) throws(PersistenceError) {
    let url = try ModelSearch(name: name, folders: bundles).url()
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(resourceAt: url),
      registry: registry,
      objectClasses: objectClasses,
      fileSystem: fileSystem,
      logger: logger,
      operationObserver: operationObserver
    )
    self.init(name, coordinator, stores, directory, modelURL: url)
  }

  private init(
    _ name: String,
    _ coordinator: PersistentStoreCoordinator,
    _ stores: [PersistentStoreDescription],
    _ directory: URL?,
    modelURL: URL?
  ) {
    let standard = DefaultDirectory()
    self.name = name
    self.directory = directory ?? standard.url
    self.modelURL = modelURL
    persistentStoreCoordinator = coordinator
    persistentStoreDescriptions = stores
    slots = Mutex(stores.map { _ in .unloaded })
    place = StoreLocation(
      name: name,
      directory: directory ?? standard.url,
      formerDirectory: directory == nil ? standard.formerURL : nil,
      registry: coordinator.registry,
      fileSystem: coordinator.fileSystem
    )
    OpenContainers.shared.add(coordinator, name: name)
  }

  /// Returns the folder for an application's files by the convention of the platform: `$XDG_DATA_HOME/<application>` on
  /// Linux, or `~/.local/share/<application>` if the variable is not set, and
  /// `~/Library/Application Support/<application>` on macOS.
  ///
  /// - Parameter applicationName: the name of the folder; nil means the name of the process.
  public static func defaultDirectoryURL(applicationName: String? = nil) -> URL {
    DefaultDirectory(application: applicationName).url
  }
}

// MARK: Contexts

extension PersistentContainer {
  /// The model of the coordinator and its stores.
  public var managedObjectModel: ManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

  /// The main actor's context, for views. It sees what other contexts save at the next fetch, or without a fetch if
  /// ``ManagedObjectContext/automaticallyMergesChangesFromParent`` is set.
  ///
  /// Its ``ManagedObjectContext/save()`` writes to the stores and returns when they are written;
  /// ``ManagedObjectContext/saveAsynchronously(isolation:)`` leaves the main actor free meanwhile.
  @MainActor public var viewContext: ManagedObjectContext { viewHost.context }

  @MainActor private var viewHost: ViewContext {
    if let existingViewHost { return existingViewHost }
    let host = ViewContext(persistentStoreCoordinator)
    existingViewHost = host
    return host
  }

  /// Makes a background context that reads from and saves to the stores.
  public func newBackgroundContext() -> BackgroundContext {
    BackgroundContext(persistentStoreCoordinator)
  }

  /// Makes a background context that is a child of ``viewContext``: it sees the unsaved changes of the view context,
  /// and its ``ManagedObjectContext/save()`` makes its own changes unsaved changes of the view context.
  @MainActor public func newBackgroundChildContext() -> BackgroundContext {
    BackgroundContext(parent: viewHost)
  }

  /// Runs `body` with a new background context, and returns its result. It saves nothing by itself: call
  /// ``ManagedObjectContext/save()`` in `body`, or use ``write(to:_:)``, which saves what `body` leaves unsaved.
  public func performBackgroundTask<Result, Failure: Error>(
    _ body: sending (ManagedObjectContext) throws(Failure) -> sending Result
  ) async throws(Failure) -> sending Result {
    try await newBackgroundContext().perform(body)
  }
}

// MARK: Writing

extension PersistentContainer {
  /// Runs `body` with a new background context, and saves its changes: ``performBackgroundTask(_:)`` with a save at its
  /// end.
  ///
  ///     try await container.write { context in
  ///       try context.insert(ToDo.self).memo = "Bread"
  ///     }
  ///
  /// If `body` or the save throws, this call saves nothing, and the context is discarded with its changes. If the view
  /// context cannot be saved (``WriteDestination/viewContextAndStores``), the changes stay in it as unsaved changes.
  ///
  /// - Parameters:
  ///   - destination: how far the changes are saved.
  ///   - body: the closure that changes objects in the new context. Objects can neither enter nor leave it.
  /// - Throws: what `body` and ``ManagedObjectContext/save()`` throw.
  /// - Returns: what `body` returns.
  @discardableResult
  public func write<Result>(
    to destination: WriteDestination = .stores,
    _ body: sending (ManagedObjectContext) throws -> sending Result
  ) async throws -> sending Result {
    let background = await context(for: destination)
    let result = try await background.perform { context in
      let result = try body(context)
      try context.save()
      return result
    }
    switch destination {
    case .stores: break
    case .viewContext: await takeChanges()
    case .viewContextAndStores: try await background.saveToPersistentStore()
    }
    return result
  }

  /// Runs `body` with a new context on the calling thread, and saves its changes to the stores: ``write(to:_:)`` for
  /// synchronous code.
  ///
  /// It waits for no actor, so it cannot deadlock; but it reads and writes files on the calling thread. The view
  /// context sees the changes as it sees those that other contexts save.
  ///
  /// - Parameter body: the closure that changes objects in the new context. Objects cannot leave it.
  /// - Throws: what `body` and ``ManagedObjectContext/save()`` throw.
  /// - Returns: what `body` returns.
  @discardableResult
  public func writeAndWait<Result>(
    _ body: (ManagedObjectContext) throws -> sending Result
  ) throws -> sending Result {
    let context = ManagedObjectContext(persistentStoreCoordinator)
    let result = try body(context)
    try context.save()
    return result
  }

  private func context(for destination: WriteDestination) async -> BackgroundContext {
    destination == .stores ? newBackgroundContext() : await newBackgroundChildContext()
  }

  /// Publishes the changes that were saved to the view context, before the caller reads them.
  @MainActor private func takeChanges() {
    viewContext.publishChanges()
  }
}

// MARK: WriteDestination

/// How far ``PersistentContainer/write(to:_:)`` saves its changes.
public enum WriteDestination: String, Sendable, Hashable, CaseIterable {
  /// Saves directly to the stores. Unsaved changes of the view context are not saved.
  case stores
  /// Makes the changes unsaved changes of the view context. Nothing is written until the view context is saved.
  case viewContext
  /// Saves through the view context to the stores, together with the other unsaved changes of the view context.
  case viewContextAndStores
}

// MARK: Closing

extension PersistentContainer {
  /// Closes the stores for good. It waits for saves that are under way; unsaved changes of contexts are not saved.
  ///
  /// From then on, contexts throw ``PersistenceError/Code/coordinatorClosed``, and objects keep the values that they
  /// have read. Another container may open the files.
  public func close() {
    persistentStoreCoordinator.close()
  }

  /// Closes the container and deletes the files of its stores, with everything in them.
  ///
  /// A file that is not a store of its description's type is not deleted, and the call throws.
  ///
  /// - Throws: the error of a file that cannot be removed. The files of the descriptions before it have been deleted
  ///   then.
  public func destroyPersistentStores() async throws(PersistenceError) {
    try await WaitingWork.run { () throws(PersistenceError) in try self.destroyPersistentStoresAndWait() }
  }

  private func destroyPersistentStoresAndWait() throws(PersistenceError) {
    let openings = try zip(persistentStoreDescriptions, slots.withLock { $0 }).map {
      description,
      slot throws(PersistenceError) in
      try opening(of: description, in: slot)
    }
    close()
    for opening in openings {
      try alone(opening) { () throws(PersistenceError) in try opening.destroy() }
    }
  }

  /// Returns how to open the store of a description, at the place where its file is now.
  private func opening(
    of description: PersistentStoreDescription,
    in slot: StoreSlot
  ) throws(PersistenceError) -> StoreOpening {
    guard case .loaded(let first) = slot else { return try opening(of: description) }
    let store = first.newest
    var description = description
    description.type = store.type
    return opening(of: description, at: persistentStoreCoordinator.url(for: store))
  }
}
