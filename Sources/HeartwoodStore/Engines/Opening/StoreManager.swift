import HeartwoodFoundation
package import HeartwoodModel

/// Opens, creates, reads and removes stores of the types that a registry contains.
package struct StoreManager: Sendable {
  package let model: ManagedObjectModel
  package let registry: StoreRegistry
  package let fileSystem: any FileSystem

  package init(model: ManagedObjectModel, registry: StoreRegistry, fileSystem: any FileSystem) {
    self.model = model
    self.registry = registry
    self.fileSystem = fileSystem
  }

  /// The place of a store and the options for opening it.
  package struct Request: Sendable {
    package var type: StoreType
    package var place: StorePlace?
    package var configurationName: String?
    package var options: StoreOptions

    package init(type: StoreType, place: StorePlace?, configurationName: String? = nil, options: StoreOptions) {
      self.type = type
      self.place = place
      self.configurationName = configurationName
      self.options = options
    }

    package init(type: StoreType, path: String?, configurationName: String? = nil, options: StoreOptions) {
      let place = path.map { StorePlace.file(path: $0) }
      self.init(type: type, place: place, configurationName: configurationName, options: options)
    }

    /// The path of the store's file; nil for a store without one.
    package var path: String? { place?.path }

    /// The place as errors name it.
    package var placeName: String? { place?.description }

    /// Returns the same request for a store at another place.
    package func moved(to place: StorePlace) -> Request {
      var request = self
      request.place = place
      return request
    }
  }

  package func open(_ request: Request) throws -> PersistentStore {
    let setup = try setup(request)
    let format = try registry.format(for: request.type)
    do {
      let engine = try engine(format, setup)
      return PersistentStore(engine: engine, setup: setup, typeDescription: format.typeDescription)
    } catch let error as PersistenceError where error.code == .modelIncompatible {
      throw explained(error, request)
    }
  }

  /// Returns the error for a store of another version of the model, with the differences if the store's file contains
  /// its model.
  private func explained(_ error: PersistenceError, _ request: Request) -> PersistenceError {
    // try?: the error is thrown without the explanation.
    guard let old = try? embeddedModel(request) else { return error }
    let changes = ModelDifferences(from: old, to: model).changes.filter(\.changesStores)
    guard !changes.isEmpty else { return error }
    let more = changes.count > Self.mostChanges ? ["  and \(changes.count - Self.mostChanges) more"] : []
    let lines = changes.prefix(Self.mostChanges).map { "  \($0)" } + more
    return error.explaining("\(error.problem) From the store's model to this one:\n" + lines.joined(separator: "\n"))
  }

  /// The greatest number of changes that an error lists.
  private static let mostChanges = 20

  private func engine(_ format: any StoreFormat, _ setup: StoreSetup) throws -> any StoreEngine {
    switch try Kind(format) {
    case .atomic(let format): try AtomicStoreEngine.open(format, setup: setup, fileSystem: fileSystem)
    case .incremental(let format): try IncrementalStoreEngine.open(format, setup: setup, fileSystem: fileSystem)
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
        context: .init(path: request.placeName)
      )
    }
    return StoreSetup(
      model: model,
      configurationName: request.configurationName,
      entities: entities,
      place: request.place,
      options: request.options
    )
  }
}

// MARK: Kinds of stores

extension StoreManager {
  /// A format, by the engine that drives its stores.
  enum Kind {
    case atomic(any AtomicStoreFormat)
    case incremental(any IncrementalStoreFormat)

    init(_ format: any StoreFormat) throws(PersistenceError) {
      if let atomic = format as? any AtomicStoreFormat {
        self = .atomic(atomic)
      } else if let incremental = format as? any IncrementalStoreFormat {
        self = .incremental(incremental)
      } else {
        throw Self.isNeither("format", format.typeDescription.type, "AtomicStoreFormat nor IncrementalStoreFormat")
      }
    }

    init(_ storeClass: any StoreClass.Type) throws(PersistenceError) {
      if let atomic = storeClass as? any (AtomicStore & StoreClass).Type {
        self = .atomic(AtomicClassFormat(atomic))
      } else if let incremental = storeClass as? any (IncrementalStore & StoreClass).Type {
        self = .incremental(IncrementalClassFormat(incremental))
      } else {
        throw Self.isNeither("class", storeClass.typeDescription.type, "AtomicStore nor IncrementalStore")
      }
    }

    private static func isNeither(_ what: String, _ type: StoreType, _ protocols: String) -> PersistenceError {
      PersistenceError(
        .capabilityMissing,
        "The \(what) of the type \(type) conforms to neither \(protocols).",
        recovery: "Conform to one of them.",
        context: .init(storeType: type)
      )
    }

    var format: any StoreFormat {
      switch self {
      case .atomic(let format): format
      case .incremental(let format): format
      }
    }

    var typeDescription: StoreTypeDescription { format.typeDescription }

    func atomic() throws(PersistenceError) -> any AtomicStoreFormat {
      switch self {
      case .atomic(let format): return format
      case .incremental(let format):
        let type = format.typeDescription.type
        throw PersistenceError(
          .capabilityMissing,
          "A store of type \(type) is incremental: it is written when it is made, and not by its first save.",
          recovery: "Choose a type that is atomic, or use convert(_:to:).",
          context: .init(storeType: type)
        )
      }
    }
  }

  func kind(_ type: StoreType) throws(PersistenceError) -> Kind { try Kind(try registry.format(for: type)) }

  /// Returns the description of the files of a type's stores.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` if such stores are no files.
  func fileFormat(for type: StoreType) throws(PersistenceError) -> any FileFormat {
    if let format = try registry.format(for: type) as? any FileFormat { return format }
    throw PersistenceError(
      .capabilityMissing,
      "A store of type \(type) is not a file.",
      recovery: .chooseAnotherType,
      context: .init(storeType: type)
    )
  }
}

// MARK: Metadata

extension StoreManager {
  /// Returns the metadata of a store that need not be open.
  package func metadata(_ request: Request) throws -> StoreMetadata {
    if case .url(let url) = request.place { return try remoteMetadata(request, url) }
    let format = try fileFormat(for: request.type)
    let file = try file(request)
    return try file.reading { try format.readMetadata(from: file, options: request.options) }
  }

  /// Returns the metadata of a store at a URL.
  private func remoteMetadata(_ request: Request, _ url: URL) throws -> StoreMetadata {
    if let metadata = try remoteFormat(request).readMetadata(at: url, options: request.options) { return metadata }
    throw PersistenceError(
      .fileNotFound,
      "There is no store.",
      recovery: "Add it to a coordinator to make it, or choose another URL.",
      context: .init(path: request.placeName, storeType: request.type)
    )
  }

  /// Returns the format for a store at a URL, whose scheme is one of the format's.
  func remoteFormat(_ request: Request) throws(PersistenceError) -> any IncrementalStoreFormat {
    let format = try registry.format(for: request.type)
    try CapabilityCheck(format.typeDescription).check(request.place)
    if let format = format as? any IncrementalStoreFormat { return format }
    throw CapabilityCheck(format.typeDescription).isAtNoURL(request.place)
  }

  /// Returns whether the store exists: a file that is not empty, or a store at a URL.
  package func isThere(_ request: Request) throws -> Bool {
    switch request.place {
    case nil: false
    case .file(let path): try fileSystem.status(atPath: path).map { $0.size > 0 } ?? false
    case .url(let url): try remoteFormat(request).readMetadata(at: url, options: request.options) != nil
    }
  }

  /// Writes the metadata of a store that is not open: over the old metadata if the format has room for that, as a
  /// change of an incremental store, or else with the whole file.
  package func setMetadata(_ metadata: StoreMetadata, _ request: Request) throws {
    let embedded = try embeddedModel(request)
    let old = try self.metadata(request)
    let storeManager = StoreManager(model: embedded ?? model, registry: registry, fileSystem: fileSystem)
    var request = request
    // The metadata shows which entities the store keeps.
    request.configurationName =
      request.configurationName ?? StoreOrigin(old, models: [storeManager.model])?.configurationName
    let setup = try storeManager.setup(request)
    var metadata = metadata
    metadata.storeType = request.type
    metadata.setModel(setup.entities, versionIdentifiers: setup.model.versionIdentifiers)
    let format = try registry.format(for: request.type)
    if let atomic = format as? any AtomicStoreFormat,
      try patchMetadata(metadata, over: old, of: try file(request), atomic, setup)
    {
      return
    }
    let engine = try storeManager.engine(format, setup)
    try engine.replaceMetadata(metadata)
    _ = engine.close(unlessSavedSince: nil)
  }

  /// Writes metadata over that of a file, and returns whether that was possible. If the change is refused, the other
  /// way of writing reports it.
  private func patchMetadata(
    _ metadata: StoreMetadata,
    over old: StoreMetadata,
    of file: StoreInput,
    _ format: any AtomicStoreFormat,
    _ setup: StoreSetup
  ) throws -> Bool {
    let capabilities = format.typeDescription.capabilities
    guard !setup.options[.isReadOnly], capabilities.supports(.userMetadata) || metadata.userInfo.isEmpty,
      let patches = try file.reading({ try format.metadataPatches(metadata, in: file, options: setup.options) })
    else { return false }
    try CapabilityCheck(format.typeDescription).check(setup)
    try ModelCompatibility.check(old, setup: setup)
    return try AtomicFile(path: file.path, fileSystem: fileSystem).patch(patches, expecting: file.status.identity)
  }

  func file(_ request: Request) throws(PersistenceError) -> StoreInput {
    guard let path = request.path else {
      if request.place != nil {
        throw CapabilityCheck(try registry.format(for: request.type).typeDescription).isNoFile(request.place)
      }
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
        "The file is empty. A new store has no metadata until it is opened and saved.",
        context: .init(path: path, storeType: request.type)
      )
    }
    return file
  }
}

// MARK: Stores that are not open

extension StoreManager {
  /// Removes a store: its file, the files beside it, and a symbolic link to it at the path; or the store at a URL.
  package func destroy(_ request: Request) throws {
    try checkWritable(request)
    switch request.place {
    case nil: return
    case .file(let path): try destroyFile(request, path)
    case .url(let url):
      _ = try metadata(request)
      try remoteFormat(request).removeStore(at: url, options: request.options)
    }
  }

  private func destroyFile(_ request: Request, _ path: String) throws {
    let target = try fileSystem.resolvingSymbolicLinks(inPath: path)
    let isLink = try fileSystem.isLink(atPath: path)
    // No other file is ever removed. An empty file is a store that has not been saved yet.
    let isEmpty = try fileSystem.status(atPath: target)?.size == 0
    if !isEmpty { _ = try metadata(request) }
    if let format = try filesOfIncrementalStore(request.type) {
      if !isEmpty { try format.checkpoint(storeAt: target) }
      try StorePlacement(format, fileSystem: fileSystem).remove(target)
    } else {
      try fileSystem.removeFile(atPath: target)
      try fileSystem.removeAbandonedTemporaryFiles(besidePath: target)
      try fileSystem.synchronizeDirectory(ofPath: target)
    }
    if isLink {
      try fileSystem.removeFile(atPath: path)
      try fileSystem.synchronizeDirectory(ofPath: path)
    }
  }

  /// Returns the description of the files of a type whose stores save single changes; nil for a type whose files are
  /// loaded and saved as a whole.
  func filesOfIncrementalStore(_ type: StoreType) throws(PersistenceError) -> (any FileFormat)? {
    guard case .incremental = try kind(type) else { return nil }
    return try fileFormat(for: type)
  }

  /// Moves data from the files beside the file of a store that is not open into it, so that the file alone is the
  /// store.
  package func checkpoint(_ request: Request) throws {
    guard let path = request.path, let size = try fileSystem.status(atPath: path)?.size, size > 0 else { return }
    try filesOfIncrementalStore(request.type)?.checkpoint(storeAt: path)
  }

  /// Replaces the store at `place` with a copy of the store of `request`, or creates it, in one step. Both are files.
  package func replaceStore(at place: StorePlace, by request: Request) throws {
    try checkWritable(request.moved(to: place))
    guard let path = place.path else {
      var error = CapabilityCheck(try registry.format(for: request.type).typeDescription).isNoFile(place)
      error.recovery = "Convert a store to the URL, or copy it there."
      throw error
    }
    _ = try metadata(request)
    try copyStore(request, to: path, replacing: true)
  }

  /// Refuses a type whose stores belong to another program.
  private func checkWritable(_ request: Request) throws(PersistenceError) {
    guard try registry.format(for: request.type).isReadOnly else { return }
    throw PersistenceError(
      .storeReadOnly,
      "Files of this type can only be read, and not replaced or removed.",
      recovery: "If the file is yours, give a type that can be written.",
      context: .init(path: request.placeName, storeType: request.type)
    )
  }

  /// Makes the store at `path` a copy of the store of `request`, as far as possible byte by byte, in one step. If there
  /// is no file, the copy has the permissions of the original.
  package func copyStore(_ request: Request, to path: String, replacing: Bool) throws {
    let source = try file(request)
    if let format = try filesOfIncrementalStore(request.type) {
      try StorePlacement(format, fileSystem: fileSystem).write(at: path, replacing: replacing) { temporaryPath in
        try format.copyStore(at: source.path, to: temporaryPath)
      }
    } else {
      let expectation: AtomicFile.Expectation = replacing ? .anything : .nothing
      let file = AtomicFile(path: path, fileSystem: fileSystem)
      try file.copy(source, expecting: expectation, permissions: source.status.permissions)
    }
  }
}

extension FileSystem {
  /// Returns whether the last component of `path` is a symbolic link.
  fileprivate func isLink(atPath path: String) throws(PersistenceError) -> Bool {
    let (directory, name) = PathParts.split(path)
    return try resolvingSymbolicLinks(inPath: path)
      != PathParts.join(try resolvingSymbolicLinks(inPath: directory), name)
  }
}
