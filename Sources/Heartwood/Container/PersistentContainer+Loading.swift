public import HeartwoodFoundation
public import HeartwoodGraph
public import HeartwoodModel
public import HeartwoodStore
public import Logging
import Synchronization

extension PersistentContainer {
  /// Opens the stores that the descriptions tell, away from the caller's isolation and from Swift's cooperative threads: all of them, or none.
  ///
  /// A store of an older version of the model is migrated first, where its description allows it. Where a store cannot be opened, those
  /// before it are closed again, and loading can be tried once more.
  ///
  /// - Parameter progress: tells how far a migration has come, and stops it.
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen`` where the container has loaded its stores already, or another container of the
  ///   process has one of the files open; ``PersistenceError/Code/coordinatorClosed``; and why a store cannot be opened or migrated, with
  ///   the store's path.
  public func loadPersistentStores(
    progress: MigrationProgress = MigrationProgress()
  ) async throws(PersistenceError) {
    try await WaitingWork.run { () throws(PersistenceError) in try self.loadPersistentStoresAndWait(progress: progress)
    }
  }

  /// Opens the stores as ``loadPersistentStores(progress:)`` does, on the thread of the caller, which waits: for programs that have nothing
  /// else to do.
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

  /// Opens the stores that the descriptions tell, away from the caller's isolation, and tells for each what became of it: one that cannot
  /// be opened does not keep the others from being.
  ///
  /// Called again, it tries those that could not be opened.
  ///
  /// - Throws: ``PersistenceError/Code/storeAlreadyOpen`` where all stores are open already, ``PersistenceError/Code/coordinatorClosed``.
  /// - Returns: a result for each description that had no store yet, in their order.
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

  /// The migrations that the stores need before they can be opened; empty where they need none. Nothing is changed.
  ///
  ///     for migration in try container.migrations() { try migration.run() }
  ///     try await container.loadPersistentStores()
  ///
  /// Loading does it by itself; this is for those who ask or tell somebody before.
  ///
  /// - Throws: ``PersistenceError/Code/migrationModelMissing`` and ``PersistenceError/Code/mappingModelMissing``, where a store cannot be
  ///   migrated, and what reading one can throw.
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
  /// The store of a description where it is found, or is to be.
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

  /// Does something with a store's file, unless another container has it open.
  func alone<Result>(
    _ opening: StoreOpening,
    _ body: () throws(PersistenceError) -> Result
  ) throws(PersistenceError) -> Result {
    guard let url = opening.url else { return try body() }
    return try OpenContainers.shared.opening(url, of: persistentStoreCoordinator, name: name, body)
  }

  /// Makes the container's folder, where the file is to be in it.
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
    // try?: whoever has removed it already has done what is wanted.
    if case .loaded(let store) = slot { try? persistentStoreCoordinator.remove(store) }
  }
}

// MARK: What is loaded

extension PersistentContainer {
  private func isUnloaded(_ index: Int) -> Bool { slots.withLock { $0[index].isUnloaded } }

  /// The descriptions that have no store, which the caller loads now.
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

  /// Lets those be loaded again that were not.
  private func endLoading(_ indices: [Int]) {
    slots.withLock { slots in
      for index in indices {
        if case .loading = slots[index] { slots[index] = .unloaded }
      }
    }
  }
}

// MARK: PersistentStoreLoading

/// What became of one description of a container: its store, or why there is none.
public struct PersistentStoreLoading: Sendable {
  /// The description, as it was given.
  public let description: PersistentStoreDescription
  /// The open store, or the error.
  public let result: Result<PersistentStore, PersistenceError>

  // try?: `error` has the other half of the result.
  /// The open store; nil if it could not be opened.
  public var store: PersistentStore? { try? result.get() }

  /// Why the store could not be opened; nil if it could.
  public var error: PersistenceError? {
    if case .failure(let error) = result { error } else { nil }
  }
}

// MARK: Opening

extension PersistentContainer {
  /// Makes a container and loads its stores: all of a set-up in one line.
  ///
  ///     let container = try await PersistentContainer.open("ToDo")
  ///     let container = try await PersistentContainer.open("ToDo", at: PersistentStoreDescription(url: url))
  ///     let container = try await PersistentContainer.open("ToDo", at: .inMemory)
  ///
  /// - Parameters:
  ///   - name: the name of the container, and of the model if none is given.
  ///   - stores: what is opened; none means a binary store in the container's folder.
  ///   - managedObjectModel: the model; nil means the one of this name among the resources of the program.
  ///   - bundles: the bundles or folders to look for the model in; nil means beside the executable.
  ///   - objectClasses: the classes of the objects of entities that have one.
  ///   - directory: the folder of the files that no description names; nil means ``defaultDirectoryURL(applicationName:)``.
  ///   - registry: the kinds of stores that there are.
  ///   - logger: what it reports to; see ``PersistentStoreCoordinator/logger``.
  /// - Throws: what the initializers and ``loadPersistentStores(progress:)`` throw.
  public static func open(
    _ name: String,
    at stores: PersistentStoreDescription...,
    managedObjectModel: ManagedObjectModel? = nil,
    modelIn bundles: [URL]? = nil,
    objectClasses: [ManagedObject.Type] = [],
    directory: URL? = nil,
    registry: StoreRegistry = .default,
    logger: Logger? = nil
  ) async throws(PersistenceError) -> PersistentContainer {
    let stores = stores.isEmpty ? [PersistentStoreDescription()] : stores
    // To find a model, and to read it, takes files too.
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
          logger: logger
        )
      } else {
        container = try PersistentContainer(
          name: name,
          modelIn: bundles,
          stores: stores,
          objectClasses: objectClasses,
          directory: directory,
          registry: registry,
          logger: logger
        )
      }
      try container.loadPersistentStoresAndWait()
      return container
    }
  }
}
