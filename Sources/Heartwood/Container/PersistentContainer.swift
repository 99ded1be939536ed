public import HeartwoodFoundation
public import HeartwoodGraph
public import HeartwoodModel
public import HeartwoodStore
public import Logging
import Synchronization

/// A model, its stores and its contexts, put together.
///
///     let container = try PersistentContainer(name: "ToDo")
///     try await container.loadPersistentStores()
///     try await container.write { context in
///       try context.insert(ToDo.self).memo = "Bread"
///     }
///
/// It is Sendable: every part of an application may have it. What is open stays open as long as somebody holds the container or one of its
/// contexts, or until ``close()``. No two containers of a process have the same file open.
public final class PersistentContainer: Sendable {
  /// What the container is called, and its file where nothing else is said.
  public let name: String
  /// What is opened, in this order.
  public let persistentStoreDescriptions: [PersistentStoreDescription]
  /// The folder of the files that no description names.
  public let directory: URL
  /// What the contexts read from and save to.
  public let persistentStoreCoordinator: PersistentStoreCoordinator
  /// Where the model was found, which tells older versions of it.
  let modelURL: URL?
  let place: StoreLocation
  let slots: Mutex<[StoreSlot]>

  /// Made when it is first asked for: a program without views has none.
  @MainActor private var existingViewHost: ViewContext?

  /// Makes a container of a model. It opens nothing: ``loadPersistentStores(progress:)`` does.
  ///
  /// - Parameters:
  ///   - name: what the container is called, and its file where no description says otherwise.
  ///   - managedObjectModel: the model of all its stores.
  ///   - stores: what is opened; by default a binary store in the container's folder.
  ///   - objectClasses: the classes of the objects of entities that have one.
  ///   - directory: the folder of the files that no description names; nil means ``defaultDirectoryURL(applicationName:)``. Where it is not
  ///     there, it is made when stores are loaded.
  ///   - registry: the kinds of stores that there are.
  ///   - fileSystem: where the files are. Folders are made in the system's only.
  ///   - logger: what it reports to; see ``PersistentStoreCoordinator/logger``.
  /// - Throws: ``PersistenceError/Code/entityUnknown`` and ``PersistenceError/Code/objectClassMismatch``.
  public convenience init(
    name: String,
    managedObjectModel: ManagedObjectModel,
    stores: [PersistentStoreDescription] = [PersistentStoreDescription()],
    objectClasses: [ManagedObject.Type] = [],
    directory: URL? = nil,
    registry: StoreRegistry = .default,
    fileSystem: any FileSystem = POSIXFileSystem(),
    logger: Logger? = nil
  ) throws(PersistenceError) {
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: managedObjectModel,
      registry: registry,
      objectClasses: objectClasses,
      fileSystem: fileSystem,
      logger: logger
    )
    self.init(name, coordinator, stores, directory, modelURL: nil)
  }

  /// Makes a container of the model of its name, which is found among the resources of the program; see
  /// `ManagedObjectModel.init(named:in:)`. Older versions of the model and mapping models that lie there serve to migrate stores.
  ///
  /// - Parameters:
  ///   - name: what the model, the container, and its file where no description says otherwise, are called.
  ///   - bundles: the bundles or folders to look in; nil means beside the executable.
  ///   - stores: what is opened; by default a binary store in the container's folder.
  ///   - objectClasses: the classes of the objects of entities that have one.
  ///   - directory: the folder of the files that no description names; nil means ``defaultDirectoryURL(applicationName:)``.
  ///   - registry: the kinds of stores that there are.
  ///   - fileSystem: where the files are, but for the model.
  ///   - logger: what it reports to; see ``PersistentStoreCoordinator/logger``.
  /// - Throws: ``PersistenceError/Code/modelMissing``, which lists where was looked; ``PersistenceError/Code/entityUnknown`` and
  ///   ``PersistenceError/Code/objectClassMismatch``.
  public convenience init(
    name: String,
    modelIn bundles: [URL]? = nil,
    stores: [PersistentStoreDescription] = [PersistentStoreDescription()],
    objectClasses: [ManagedObject.Type] = [],
    directory: URL? = nil,
    registry: StoreRegistry = .default,
    fileSystem: any FileSystem = POSIXFileSystem(),
    logger: Logger? = nil
  ) throws(PersistenceError) {
    let url = try ModelSearch(name: name, folders: bundles).url()
    let coordinator = try PersistentStoreCoordinator(
      managedObjectModel: try ManagedObjectModel(resourceAt: url),
      registry: registry,
      objectClasses: objectClasses,
      fileSystem: fileSystem,
      logger: logger
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

  /// The folder of an application's files by the convention of the platform: `$XDG_DATA_HOME/<application>` on Linux, which is
  /// `~/.local/share/<application>` where the variable is not set, and `~/Library/Application Support/<application>` on macOS.
  ///
  /// - Parameter applicationName: nil means as the process is called.
  public static func defaultDirectoryURL(applicationName: String? = nil) -> URL {
    DefaultDirectory(application: applicationName).url
  }
}

// MARK: Contexts

extension PersistentContainer {
  /// The model whose objects the stores keep.
  public var managedObjectModel: ManagedObjectModel { persistentStoreCoordinator.managedObjectModel }

  /// The main actor's context, which views show. What others save shows with the next fetch, and by itself where
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

  /// Makes a context in the background, over the stores.
  public func newBackgroundContext() -> BackgroundContext {
    BackgroundContext(persistentStoreCoordinator)
  }

  /// Makes a context in the background that is a child of ``viewContext``: it sees the unsaved changes there, and its
  /// ``ManagedObjectContext/save()`` makes its own changes unsaved changes of the view context.
  @MainActor public func newBackgroundChildContext() -> BackgroundContext {
    BackgroundContext(parent: viewHost)
  }

  /// Runs `body` with a new context in the background, and returns its result. It saves nothing by itself: call
  /// ``ManagedObjectContext/save()`` in `body`, or use ``write(to:_:)``, which saves what `body` leaves unsaved.
  public func performBackgroundTask<Result, Failure: Error>(
    _ body: sending (ManagedObjectContext) throws(Failure) -> sending Result
  ) async throws(Failure) -> sending Result {
    try await newBackgroundContext().perform(body)
  }
}

// MARK: Writing

extension PersistentContainer {
  /// Changes objects with a new context in the background, and saves them: ``performBackgroundTask(_:)`` with a save at its end.
  ///
  ///     try await container.write { context in
  ///       try context.insert(ToDo.self).memo = "Bread"
  ///     }
  ///
  /// Where `body` throws, or the save, nothing is saved by this call, and the context goes with its changes. Where the view context cannot be saved
  /// (``WriteDestination/viewContextAndStores``), the changes are unsaved ones of that.
  ///
  /// - Parameters:
  ///   - destination: how far the changes are saved.
  ///   - body: what is done with a new context; no object gets out of it or in.
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

  /// Changes objects with a new context on the thread of the caller, and saves them to the stores: ``write(to:_:)`` for code that
  /// is not asynchronous.
  ///
  /// It waits for no actor, so nobody can wait for it in a circle; but it reads and writes files where it is called. The view context
  /// sees what was saved as it sees what others save.
  ///
  /// - Parameter body: what is done with a new context; no object gets out of it.
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

  /// Lets the view context have what was saved to it before the caller looks.
  @MainActor private func takeChanges() {
    viewContext.publishChanges()
  }
}

// MARK: WriteDestination

/// How far what ``PersistentContainer/write(to:_:)`` changes is saved.
public enum WriteDestination: String, Sendable, Hashable, CaseIterable {
  /// To the stores, at once. Unsaved changes of the view context have no part in it.
  case stores
  /// To the view context, whose unsaved changes it becomes. Nothing is written before that is saved.
  case viewContext
  /// Through the view context to the stores. What else the view context has to save is saved too.
  case viewContextAndStores
}

// MARK: Closing

extension PersistentContainer {
  /// Closes the stores for good. Saves that are under way are waited for; what is unsaved in contexts is not saved.
  ///
  /// Contexts throw ``PersistenceError/Code/coordinatorClosed`` from then on; objects keep the values that they have read. Another container may
  /// open the files.
  public func close() {
    persistentStoreCoordinator.close()
  }

  /// Closes the container and deletes the files of its stores, with all that they keep.
  ///
  /// What is there and is no store of its description is left, with an error.
  ///
  /// - Throws: why a file cannot be removed; those before it are gone then.
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

  /// The store of a description where it is now.
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
