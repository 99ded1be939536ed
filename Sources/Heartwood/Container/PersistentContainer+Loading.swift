public import HeartwoodFoundation
public import HeartwoodGraph
public import HeartwoodModel
public import HeartwoodStore
public import Logging
import Synchronization

extension PersistentContainer {
  /// Opens the stores of all descriptions, or none of them. The work runs outside the caller's isolation and outside
  /// Swift's cooperative thread pool.
  ///
  /// A store of an older version of the model is migrated first if its description allows that. If a store cannot be
  /// opened, the stores opened before it are closed again, and the call can be repeated.
  ///
  /// - Parameter progress: reports how far a migration has come, and can cancel it.
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen`` if the container has already loaded its stores, or another
  ///   container of the process has one of the files open; ``PersistenceError/Code/coordinatorClosed`` if the container
  ///   was closed; and the error of a store that cannot be opened or migrated, with the store's path.
  public func loadPersistentStores(
    progress: MigrationProgress = MigrationProgress()
  ) async throws(PersistenceError) {
    try await WaitingWork.run { () throws(PersistenceError) in try self.loadPersistentStoresAndWait(progress: progress)
    }
  }

  /// Opens the stores as ``loadPersistentStores(progress:)`` does, and blocks the calling thread until they are open.
  /// Use it in programs that have nothing else to do meanwhile.
  public func loadPersistentStoresAndWait(
    progress: MigrationProgress = MigrationProgress()
  ) throws(PersistenceError) {
    var loaded: [Int] = []
    let indices = try beginLoading()
    for index in indices {
      do {
        try load(index, progress)
        loaded.append(index)
      } catch {
        loaded.forEach(unload)
        endLoading(indices)
        throw error
      }
    }
  }

  /// Opens the stores of all descriptions outside the caller's isolation, and returns a result for each. If one store
  /// cannot be opened, the others are opened all the same.
  ///
  /// A second call tries the stores that could not be opened.
  ///
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen`` if all stores are open already, and
  ///   ``PersistenceError/Code/coordinatorClosed`` if the container was closed.
  /// - Returns: a result for each description that had no open store, in the order of the descriptions.
  public func loadEachPersistentStore(
    progress: MigrationProgress = MigrationProgress()
  ) async throws(PersistenceError) -> [PersistentStoreLoading] {
    try await WaitingWork.run { () throws(PersistenceError) in try self.loadEachPersistentStoreAndWait(progress) }
  }

  private func loadEachPersistentStoreAndWait(
    _ progress: MigrationProgress
  ) throws(PersistenceError) -> [PersistentStoreLoading] {
    let indices = try beginLoading()
    let results = indices.map { index in
      PersistentStoreLoading(
        description: persistentStoreDescriptions[index],
        result: Result { () throws(PersistenceError) in try load(index, progress) }
      )
    }
    endLoading(indices)
    return results
  }

  /// Returns the migrations that the stores need before they can be opened, or an empty array if they need none. It
  /// changes no store.
  ///
  ///     for migration in try container.migrations() { try migration.run() }
  ///     try await container.loadPersistentStores()
  ///
  /// Loading migrates by itself. Call this function if the application asks or informs its user first.
  ///
  /// - Throws: ``PersistenceError/Code/migrationModelMissing`` and ``PersistenceError/Code/mappingModelMissing`` if a
  ///   store cannot be migrated, and the errors of reading a store.
  public func migrations() throws(PersistenceError) -> [StoreMigration] {
    var migrations: [StoreMigration] = []
    for (index, description) in persistentStoreDescriptions.enumerated() where isUnloaded(index) {
      if let migration = try opening(of: description).migration() { migrations.append(migration) }
    }
    return migrations
  }
}

// MARK: One store

extension PersistentContainer {
  /// Returns how to open the store of a description, at the place where its file is or will be made.
  func opening(of description: PersistentStoreDescription) throws(PersistenceError) -> StoreOpening {
    opening(of: description, at: try place.url(of: description))
  }

  func opening(of description: PersistentStoreDescription, at url: URL?) -> StoreOpening {
    StoreOpening(coordinator: persistentStoreCoordinator, description: description, url: url, modelURL: modelURL)
  }

  @discardableResult
  private func load(_ index: Int, _ progress: MigrationProgress) throws(PersistenceError) -> PersistentStore {
    let opening = try opening(of: persistentStoreDescriptions[index])
    if opening.description.url == nil, let url = opening.url { try makeFolder(of: url, opening.description) }
    let store = try alone(opening) { () throws(PersistenceError) in try opening.open(progress) }
    slots.withLock { $0[index] = .loaded(store) }
    return store
  }

  /// Runs `body` with a store's file, unless another container has the file open.
  func alone<Result>(
    _ opening: StoreOpening,
    _ body: () throws(PersistenceError) -> Result
  ) throws(PersistenceError) -> Result {
    guard let url = opening.url else { return try body() }
    return try OpenContainers.shared.opening(url, of: persistentStoreCoordinator, name: name, body)
  }

  /// Makes the folder of the file at `url` if it does not exist, unless the store is opened for reading only.
  private func makeFolder(of url: URL, _ description: PersistentStoreDescription) throws(PersistenceError) {
    let folder = url.deletingLastPathComponent()
    guard url.isFileURL, persistentStoreCoordinator.fileSystem is POSIXFileSystem, !description.isReadOnly,
      !FileManager.default.fileExists(atPath: folder.path)
    else { return }
    do {
      try DefaultDirectory.make(folder)
    } catch {
      throw .of(error, .fileWriteFailed, "The folder of the store cannot be made.", context: .init(path: folder.path))
    }
  }

  private func unload(_ index: Int) {
    let slot = slots.withLock { slots in
      let slot = slots[index]
      slots[index] = .unloaded
      return slot
    }
    // try?: if the store has been removed already, nothing is left to do.
    if case .loaded(let store) = slot { try? persistentStoreCoordinator.remove(store) }
  }
}

// MARK: What is loaded

extension PersistentContainer {
  private func isUnloaded(_ index: Int) -> Bool { slots.withLock { $0[index].isUnloaded } }

  /// Returns the indices of the descriptions without a store, and marks them as loading.
  private func beginLoading() throws(PersistenceError) -> [Int] {
    guard !persistentStoreCoordinator.isClosed else {
      throw PersistenceError(.coordinatorClosed, "The container \(name) was closed.", recovery: "Make another one.")
    }
    return try slots.withLock { slots throws(PersistenceError) in
      let indices = slots.indices.filter { slots[$0].isUnloaded }
      guard !indices.isEmpty || slots.isEmpty else {
        throw PersistenceError(
          .storeAlreadyOpen,
          "The container \(name) has loaded its stores already, or is about to.",
          recovery: "Load them once."
        )
      }
      for index in indices { slots[index] = .loading }
      return indices
    }
  }

  /// Marks the descriptions that were not loaded as unloaded, so that the next call tries them again.
  private func endLoading(_ indices: [Int]) {
    slots.withLock { slots in
      for index in indices {
        if case .loading = slots[index] { slots[index] = .unloaded }
      }
    }
  }
}

// MARK: PersistentStoreLoading

/// The outcome of loading one description of a container: the open store, or the error.
public struct PersistentStoreLoading: Sendable {
  /// The description that was passed to the container.
  public let description: PersistentStoreDescription
  /// The open store, or the error that kept it from being opened.
  public let result: Result<PersistentStore, PersistenceError>

  // try?: `error` has the other half of the result.
  /// The open store; nil if it could not be opened.
  public var store: PersistentStore? { try? result.get() }

  /// The error that kept the store from being opened; nil if it is open.
  public var error: PersistenceError? {
    if case .failure(let error) = result { error } else { nil }
  }
}

// MARK: Opening

extension PersistentContainer {
  /// Makes a container and loads its stores in one call.
  ///
  ///     let container = try await PersistentContainer.open("ToDo")
  ///     let container = try await PersistentContainer.open("ToDo", at: PersistentStoreDescription(url: url))
  ///     let container = try await PersistentContainer.open("ToDo", at: .inMemory)
  ///
  /// - Parameters:
  ///   - name: the name of the container, and of the model if `managedObjectModel` is nil.
  ///   - stores: the stores to open; without any, a binary store in the container's folder.
  ///   - managedObjectModel: the model; nil means the model called `name` among the program's resources.
  ///   - bundles: the bundles or folders to search for the model; nil means the folder of the executable.
  ///   - objectClasses: the classes for the objects of entities; the others are plain ``ManagedObject``s.
  ///   - directory: the folder for files without a URL in their description; nil means
  ///     ``defaultDirectoryURL(applicationName:)``.
  ///   - registry: the registry of the store types that can be opened.
  ///   - logger: the logger that receives the messages; see ``PersistentStoreCoordinator/logger``.
  ///   - operationObserver: see ``PersistentStoreCoordinator/operationObserver``.
  /// - Throws: what the initializers and ``loadPersistentStores(progress:)`` throw.
  public static func open(
    _ name: String,
    at stores: PersistentStoreDescription...,
    managedObjectModel: ManagedObjectModel? = nil,
    modelIn bundles: [URL]? = nil,
    objectClasses: [ManagedObject.Type] = [],
    directory: URL? = nil,
    registry: StoreRegistry = .default,
    logger: Logger? = nil,
    operationObserver: (any OperationObserver)? = nil
  ) async throws(PersistenceError) -> PersistentContainer {
    let stores = stores.isEmpty ? [PersistentStoreDescription()] : stores
    // Finding and reading the model uses files too, so it does not belong on a cooperative thread.
    return try await WaitingWork.run { () throws(PersistenceError) in
      let container: PersistentContainer
      if let managedObjectModel {
        container = try PersistentContainer(
          name: name,
          managedObjectModel: managedObjectModel,
          stores: stores,
          objectClasses: objectClasses,
          directory: directory,
          registry: registry,
          logger: logger,
          operationObserver: operationObserver
        )
      } else {
        container = try PersistentContainer(
          name: name,
          modelIn: bundles,
          stores: stores,
          objectClasses: objectClasses,
          directory: directory,
          registry: registry,
          logger: logger,
          operationObserver: operationObserver
        )
      }
      try container.loadPersistentStoresAndWait()
      return container
    }
  }
}
