package import HeartwoodModel

/// Opens, makes, reads and removes stores of the types that a registry knows.
package struct StoreOpener: Sendable {
  package let model: ManagedObjectModel
  package let registry: StoreRegistry
  package let fileSystem: any FileSystem

  package init(model: ManagedObjectModel, registry: StoreRegistry, fileSystem: any FileSystem) {
    self.model = model
    self.registry = registry
    self.fileSystem = fileSystem
  }

  /// Where a store is and how it is opened.
  package struct Request: Sendable {
    package var type: StoreType
    package var path: String?
    package var configurationName: String?
    package var options: StoreOptions

    package init(type: StoreType, path: String?, configurationName: String? = nil, options: StoreOptions) {
      self.type = type
      self.path = path
      self.configurationName = configurationName
      self.options = options
    }
  }

  package func open(_ request: Request) throws -> PersistentStore {
    let setup = try setup(request)
    let storeClass = try registry.storeClass(for: request.type)
    let engine = try AtomicStoreEngine.open(try atomic(storeClass), setup: setup, fileSystem: fileSystem)
    return PersistentStore(engine: engine, setup: setup, typeDescription: storeClass.typeDescription)
  }

  /// Writes all that `store` keeps as a store of another type or at another place, and opens that.
  ///
  /// The identifier, the metadata and the references stay the same, and so does the history where the other type keeps one and the
  /// options do not say that it is to go; where they say nothing, it goes on as it did. Both are atomic, so tables are handed over and no object is
  /// made. What the other type cannot hold is refused before anything is written.
  ///
  /// - Parameter replacing: whether a file that stands there is replaced.
  package func convert(_ store: PersistentStore, to request: Request, replacing: Bool) throws -> PersistentStore {
    try successor(of: store, request) { storeClass, setup in
      try AtomicStoreEngine.create(
        storeClass,
        contents: try store.engine.contents(),
        setup: setup,
        fileSystem: fileSystem,
        replacing: replacing
      )
    }
  }

  /// Makes what ``convert(_:to:replacing:)`` makes, but writes nothing: the first save of the new store does.
  ///
  /// - Parameter replacing: whether that save replaces a file that stands there now.
  package func prepare(_ store: PersistentStore, as request: Request, replacing: Bool) throws -> PersistentStore {
    try successor(of: store, request) { storeClass, setup in
      try AtomicStoreEngine.prepare(
        storeClass,
        from: store.engine,
        setup: setup,
        fileSystem: fileSystem,
        replacing: replacing
      )
    }
  }

  private func successor(
    of store: PersistentStore,
    _ request: Request,
    _ makeEngine: (any AtomicStore.Type, StoreSetup) throws -> AtomicStoreEngine
  ) throws -> PersistentStore {
    let storeClass = try registry.storeClass(for: request.type)
    var request = request
    if storeClass.typeDescription.capabilities.supportsHistory, request.options[.tracksPersistentHistory] == nil {
      request.options[.tracksPersistentHistory] = store.options[.tracksPersistentHistory]
    }
    let setup = try setup(request)
    let engine = try makeEngine(try atomic(storeClass), setup)
    return PersistentStore(engine: engine, setup: setup, typeDescription: storeClass.typeDescription)
  }

  private func setup(_ request: Request) throws(PersistenceError) -> StoreSetup {
    guard let entities = model.entities(forConfiguration: request.configurationName) else {
      let known = model.configurations.keys.sorted().joined(separator: ", ")
      throw PersistenceError(
        .entityUnknown,
        "The model has no configuration called \(request.configurationName ?? ""). "
          + (known.isEmpty ? "It has none; give nil for all entities." : "It has \(known)."),
        context: .init(path: request.path)
      )
    }
    return StoreSetup(
      model: model,
      configurationName: request.configurationName,
      entities: entities,
      path: request.path,
      options: request.options
    )
  }

  private func atomic(_ storeClass: any StoreClass.Type) throws(PersistenceError) -> any AtomicStore.Type {
    if let atomic = storeClass as? any AtomicStore.Type { return atomic }
    let type = storeClass.typeDescription.type
    throw PersistenceError(
      .capabilityMissing,
      "A store of type \(type) is incremental; this version of Heartwood opens atomic stores only. Convert its data to a type "
        + "that is atomic.",
      context: .init(storeType: type)
    )
  }
}

// MARK: Metadata

extension StoreOpener {
  /// The metadata of a store that need not be open.
  package func metadata(_ request: Request) throws -> StoreMetadata {
    let storeClass = try registry.storeClass(for: request.type)
    let file = try file(request)
    return try file.reading { try storeClass.readMetadata(from: file, options: request.options) }
  }

  /// Writes the metadata of a store that is not open. An atomic store is written as a whole.
  package func setMetadata(_ metadata: StoreMetadata, _ request: Request) throws {
    let storeClass = try atomic(try registry.storeClass(for: request.type))
    let file = try file(request)
    let embedded = try file.reading { try storeClass.readModel(from: file, options: request.options) }
    let opener = StoreOpener(model: embedded ?? model, registry: registry, fileSystem: fileSystem)
    let engine = try AtomicStoreEngine.open(storeClass, setup: try opener.setup(request), fileSystem: fileSystem)
    try engine.replaceMetadata(metadata)
  }

  private func file(_ request: Request) throws(PersistenceError) -> StoreInput {
    guard let path = request.path else {
      throw PersistenceError(
        .fileNotFound,
        "A store without a file has no metadata on the disk.",
        context: .init(storeType: request.type)
      )
    }
    return try StoreInput(try fileSystem.openFile(atPath: path))
  }
}
