package import HeartwoodModel

/// Opens, makes, reads and removes stores of the types that a registry knows.
package struct StoreManager: Sendable {
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
    do {
      let engine = try engine(storeClass, setup)
      return PersistentStore(engine: engine, setup: setup, typeDescription: storeClass.typeDescription)
    } catch let error as PersistenceError where error.code == .modelIncompatible {
      throw explained(error, request)
    }
  }

  /// The error of a store of another version of the model, with what differs, where the store's file holds its model.
  private func explained(_ error: PersistenceError, _ request: Request) -> PersistenceError {
    // try?: the error is thrown without the explanation.
    guard let old = try? embeddedModel(request) else { return error }
    let changes = ModelDifferences(from: old, to: model).changes.filter(\.changesStores)
    guard !changes.isEmpty else { return error }
    let more = changes.count > Self.mostChanges ? ["  and \(changes.count - Self.mostChanges) more"] : []
    let lines = changes.prefix(Self.mostChanges).map { "  \($0)" } + more
    return error.explaining("\(error.problem) From the store's model to this one:\n" + lines.joined(separator: "\n"))
  }

  /// How many changes an error lists.
  private static let mostChanges = 20

  private func engine(_ storeClass: any StoreClass.Type, _ setup: StoreSetup) throws -> any StoreEngine {
    switch try Kind(storeClass) {
    case .atomic(let storeClass): try AtomicStoreEngine.open(storeClass, setup: setup, fileSystem: fileSystem)
    case .incremental(let storeClass): try IncrementalStoreEngine.open(storeClass, setup: setup, fileSystem: fileSystem)
    }
  }

  func setup(_ request: Request) throws(PersistenceError) -> StoreSetup {
    guard let entities = model.entities(forConfiguration: request.configurationName) else {
      let known = model.configurations.keys.sorted().joined(separator: ", ")
      throw PersistenceError(
        .entityUnknown,
        "The model has no configuration called \(request.configurationName ?? "").",
        recovery: known.isEmpty
          ? "It has none: give nil for all entities." : "Give one of \(known), or nil for all entities.",
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
}

// MARK: Kinds of stores

extension StoreManager {
  /// A store class by what drives its stores.
  enum Kind {
    case atomic(any AtomicStore.Type)
    case incremental(any IncrementalStore.Type)

    init(_ storeClass: any StoreClass.Type) throws(PersistenceError) {
      if let atomic = storeClass as? any AtomicStore.Type {
        self = .atomic(atomic)
      } else if let incremental = storeClass as? any IncrementalStore.Type {
        self = .incremental(incremental)
      } else {
        let type = storeClass.typeDescription.type
        throw PersistenceError(
          .capabilityMissing,
          "The class of the type \(type) conforms to neither AtomicStore nor IncrementalStore.",
          recovery: "Let it conform to one of them.",
          context: .init(storeType: type)
        )
      }
    }

    var typeDescription: StoreTypeDescription {
      switch self {
      case .atomic(let storeClass): storeClass.typeDescription
      case .incremental(let storeClass): storeClass.typeDescription
      }
    }

    func atomic() throws(PersistenceError) -> any AtomicStore.Type {
      switch self {
      case .atomic(let storeClass): return storeClass
      case .incremental(let storeClass):
        let type = storeClass.typeDescription.type
        throw PersistenceError(
          .capabilityMissing,
          "A store of type \(type) is incremental: it is written when it is made, and not by its first save.",
          recovery: "Choose a type that is atomic, or use convert(_:to:).",
          context: .init(storeType: type)
        )
      }
    }
  }
}

// MARK: Metadata

extension StoreManager {
  /// The metadata of a store that need not be open.
  package func metadata(_ request: Request) throws -> StoreMetadata {
    let storeClass = try registry.storeClass(for: request.type)
    let file = try file(request)
    return try file.reading { try storeClass.readMetadata(from: file, options: request.options) }
  }

  /// Writes the metadata of a store that is not open: over the old ones where the format has room for that, as a change of an incremental
  /// store, or else with the whole file.
  package func setMetadata(_ metadata: StoreMetadata, _ request: Request) throws {
    let storeClass = try registry.storeClass(for: request.type)
    let file = try file(request)
    let embedded = try file.reading { try storeClass.readModel(from: file, options: request.options) }
    let old = try file.reading { try storeClass.readMetadata(from: file, options: request.options) }
    let storeManager = StoreManager(model: embedded ?? model, registry: registry, fileSystem: fileSystem)
    var request = request
    // Which entities the store keeps, its file tells.
    request.configurationName =
      request.configurationName ?? StoreOrigin(old, models: [storeManager.model])?.configurationName
    let setup = try storeManager.setup(request)
    var metadata = metadata
    metadata.storeType = request.type
    metadata.setModel(setup.entities, versionIdentifiers: setup.model.versionIdentifiers)
    if case .atomic(let atomic) = try Kind(storeClass),
      try patchMetadata(metadata, over: old, of: file, atomic, setup)
    {
      return
    }
    let engine = try storeManager.engine(storeClass, setup)
    try engine.replaceMetadata(metadata)
    _ = engine.close(unlessSavedSince: nil)
  }

  /// Writes metadata over those of a file, and tells whether that was possible. What is refused is left to the other way.
  private func patchMetadata(
    _ metadata: StoreMetadata,
    over old: StoreMetadata,
    of file: StoreInput,
    _ storeClass: any AtomicStore.Type,
    _ setup: StoreSetup
  ) throws -> Bool {
    let capabilities = storeClass.typeDescription.capabilities
    guard !setup.options[.isReadOnly], capabilities.supports(.userMetadata) || metadata.userInfo.isEmpty,
      let patches = try file.reading({ try storeClass.metadataPatches(metadata, in: file, options: setup.options) })
    else { return false }
    try CapabilityCheck(storeClass.typeDescription).check(setup)
    try ModelCompatibility.check(old, setup: setup)
    return try AtomicFile(path: file.path, fileSystem: fileSystem).patch(patches, expecting: file.status.identity)
  }

  func file(_ request: Request) throws(PersistenceError) -> StoreInput {
    guard let path = request.path else {
      throw PersistenceError(
        .fileNotFound,
        "A store without a file has no metadata on the disk.",
        context: .init(storeType: request.type)
      )
    }
    let file = try StoreInput(try fileSystem.openFile(atPath: path))
    guard file.size > 0 else {
      throw PersistenceError(
        .fileMalformed,
        "The file is empty: it asks for a new store, which has no metadata before it is opened and saved.",
        context: .init(path: path, storeType: request.type)
      )
    }
    return file
  }
}

// MARK: Files

// MARK: Files of stores that are not open

extension StoreManager {
  /// Removes a store: its file, what lies beside it, and what links to it there.
  package func destroy(_ request: Request) throws {
    guard let path = request.path else { return }
    try checkWritable(request.type, path)
    let target = try fileSystem.resolvingSymbolicLinks(inPath: path)
    let isLink = try fileSystem.isLink(atPath: path)
    // No other file is ever removed. One without a byte is a store that nobody has saved yet.
    if try fileSystem.status(atPath: target)?.size != 0 { _ = try metadata(request) }
    switch try Kind(try registry.storeClass(for: request.type)) {
    case .atomic:
      try fileSystem.removeFile(atPath: target)
      try fileSystem.removeAbandonedTemporaryFiles(besidePath: target)
      try fileSystem.synchronizeDirectory(ofPath: target)
    case .incremental(let storeClass):
      if try fileSystem.status(atPath: target)?.size != 0 { try storeClass.checkpoint(storeAt: target) }
      try StorePlacement(storeClass, fileSystem: fileSystem).remove(target)
    }
    if isLink {
      try fileSystem.removeFile(atPath: path)
      try fileSystem.synchronizeDirectory(ofPath: path)
    }
  }

  /// Brings what lies beside the file of a store that is not open into it, so that the file alone is the store.
  package func checkpoint(_ request: Request) throws {
    guard let path = request.path, let size = try fileSystem.status(atPath: path)?.size, size > 0,
      case .incremental(let storeClass) = try Kind(try registry.storeClass(for: request.type))
    else { return }
    try storeClass.checkpoint(storeAt: path)
  }

  /// Replaces the store at `path`, or makes it, by a copy of the store of `request`, in one step.
  package func replaceStore(at path: String, by request: Request) throws {
    try checkWritable(request.type, path)
    _ = try metadata(request)
    try copyStore(request, to: path, replacing: true)
  }

  /// Refuses a type whose files belong to somebody else.
  private func checkWritable(_ type: StoreType, _ path: String) throws(PersistenceError) {
    guard try registry.storeClass(for: type).isReadOnly else { return }
    throw PersistenceError(
      .storeReadOnly,
      "Files of this type are only read: none is replaced or removed.",
      recovery: "Name a type that is written, if the file is yours.",
      context: .init(path: path, storeType: type)
    )
  }

  /// Makes the store at `path` a copy of the store of `request`, byte by byte as far as that can be, in one step. Where nothing stands there,
  /// the copy has the permissions of what it is a copy of.
  package func copyStore(_ request: Request, to path: String, replacing: Bool) throws {
    let source = try file(request)
    switch try Kind(try registry.storeClass(for: request.type)) {
    case .atomic:
      let expectation: AtomicFile.Expectation = replacing ? .anything : .nothing
      let file = AtomicFile(path: path, fileSystem: fileSystem)
      try file.copy(source, expecting: expectation, permissions: source.status.permissions)
    case .incremental(let storeClass):
      try StorePlacement(storeClass, fileSystem: fileSystem).write(at: path, replacing: replacing) { temporaryPath in
        try storeClass.copyStore(at: source.path, to: temporaryPath)
      }
    }
  }
}

extension FileSystem {
  /// Whether the last component of `path` is a symbolic link.
  fileprivate func isLink(atPath path: String) throws(PersistenceError) -> Bool {
    let (directory, name) = PathParts.split(path)
    return try resolvingSymbolicLinks(inPath: path)
      != PathParts.join(try resolvingSymbolicLinks(inPath: directory), name)
  }
}
