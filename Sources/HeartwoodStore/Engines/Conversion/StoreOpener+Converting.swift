import HeartwoodModel

// MARK: Making stores of others

extension StoreOpener {
  /// Writes all that `store` keeps as a store of another type or at another place, and opens that.
  ///
  /// The identifier, the metadata and the references stay the same, and so does the history where the other type keeps one and the
  /// options do not say that it is to go; where they say nothing, it goes on as it did. Tables are handed over and no object is made:
  /// the records have the same rows. What the other type cannot hold is refused before anything is written; but an incremental store that
  /// cannot call records as they are called gives them references of its own.
  ///
  /// - Parameter replacing: whether a file that stands there is replaced.
  package func convert(_ store: PersistentStore, to request: Request, replacing: Bool) throws -> PersistentStore {
    try successor(of: store, request) { storeClass, setup in
      try create(storeClass, try store.engine.contents(), setup, replacing: replacing)
    }
  }

  /// Makes what ``convert(_:to:replacing:)`` makes, but the records need not have the same rows: where a store makes another one of its type
  /// itself, they do not go through memory, and the new store has read none of them.
  ///
  /// - Parameter progress: how far a store has come that makes the other one itself; otherwise nothing is told there.
  package func copy(
    _ store: PersistentStore,
    to request: Request,
    replacing: Bool,
    progress: MigrationProgress = MigrationProgress()
  ) throws -> PersistentStore {
    if try copyInStore(store, to: request, replacing: replacing, progress) { return try open(request) }
    return try convert(store, to: request, replacing: replacing)
  }

  /// Lets a store make another one of its type itself, in a migration to the model that it has. Tells whether it did.
  private func copyInStore(
    _ store: PersistentStore,
    to request: Request,
    replacing: Bool,
    _ progress: MigrationProgress
  ) throws -> Bool {
    guard let path = store.path, request.type == store.type, request.configurationName == store.configurationName,
      try canMigrateInStore(request.type)
    else { return false }
    try progress.begin(.migrating)
    do {
      _ = try migrateInStore(
        TablePlan(keeping: model),
        of: StoreOrigin(store.engine.metadata, model, configurationName: store.configurationName),
        from: Request(type: request.type, path: path, options: store.options),
        to: request,
        replacing: replacing,
        allowsLoss: true,
        progress: progress,
        willMove: {}
      )
      return true
    } catch is InStoreMigration.Obstacle {
      return false
    }
  }

  /// Writes a store of `contents`.
  ///
  /// - Parameter expected: the file that must still stand at the place; nil means any.
  func create(
    _ storeClass: Kind,
    _ contents: StoreContents,
    _ setup: StoreSetup,
    replacing: Bool,
    expecting expected: FileIdentity? = nil
  ) throws -> any StoreEngine {
    switch storeClass {
    case .atomic(let storeClass):
      try AtomicStoreEngine.create(
        storeClass,
        contents: contents,
        setup: setup,
        fileSystem: fileSystem,
        replacing: replacing,
        expecting: expected
      )
    case .incremental(let storeClass):
      try IncrementalStoreEngine.create(
        storeClass,
        contents: contents,
        setup: setup,
        fileSystem: fileSystem,
        replacing: replacing,
        expecting: expected
      )
    }
  }

  /// Makes what ``convert(_:to:replacing:)`` makes, but writes nothing: the first save of the new store does.
  ///
  /// - Parameters:
  ///   - replacing: whether that save replaces a file that stands there now.
  ///   - isOwnFile: whether that file has to be the store's own, as it was read or saved last.
  package func prepare(
    _ store: PersistentStore,
    as request: Request,
    replacing: Bool,
    isOwnFile: Bool = false
  ) throws -> PersistentStore {
    try successor(of: store, request) { storeClass, setup in
      try AtomicStoreEngine.prepare(
        try storeClass.atomic(),
        from: store.engine,
        setup: setup,
        fileSystem: fileSystem,
        replacing: replacing,
        isOwnFile: isOwnFile
      )
    }
  }

  private func successor(
    of store: PersistentStore,
    _ request: Request,
    _ makeEngine: (Kind, StoreSetup) throws -> any StoreEngine
  ) throws -> PersistentStore {
    let storeClass = try registry.storeClass(for: request.type)
    var request = request
    if storeClass.typeDescription.capabilities.supportsHistory, request.options[.tracksPersistentHistory] == nil {
      request.options[.tracksPersistentHistory] = store.options[.tracksPersistentHistory]
    }
    let setup = try setup(request)
    let engine = try makeEngine(try Kind(storeClass), setup)
    return PersistentStore(engine: engine, setup: setup, typeDescription: storeClass.typeDescription)
  }
}
