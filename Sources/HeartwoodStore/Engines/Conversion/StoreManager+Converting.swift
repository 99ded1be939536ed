import HeartwoodModel

// MARK: Making stores of others

extension StoreManager {
  /// Writes all that `store` keeps as a store of another type or at another place, and opens that.
  ///
  /// The identifier, the metadata and the references stay the same, and so does the history where the other type keeps one and the
  /// options do not say that it is to go; where they say nothing, it goes on as it did. Tables are handed over and no object is made:
  /// the records have the same rows. What the other type cannot hold is refused before anything is written; but an incremental store that
  /// cannot call records as they are called gives them references of its own.
  ///
  /// - Parameter replacing: whether a file that stands there is replaced.
  package func convert(_ store: PersistentStore, to request: Request, replacing: Bool) throws -> PersistentStore {
    try successor(of: store, request) { kind, setup in
      try create(kind, try contents(of: store, for: setup, kind), setup, replacing: replacing)
    }
  }

  /// What a store keeps, with its references kept in an attribute, or taken from there, if the options say so.
  private func contents(of store: PersistentStore, for setup: StoreSetup, _ kind: Kind) throws -> StoreContents {
    var contents = try store.engine.contents(takenOverBy: setup, kind.typeDescription)
    guard let name = setup.options[.referenceAttribute] else { return contents }
    let capabilities = kind.typeDescription.capabilities
    if !(capabilities.supports(.history) && setup.options[.tracksPersistentHistory]) { contents.forgetHistory() }
    return try KeptReferences(in: name, of: contents).contents(for: capabilities.referenceKinds)
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
    guard let place = store.place, request.type == store.type, request.configurationName == store.configurationName,
      request.options[.referenceAttribute] == nil, try canMigrateInStore(request.type)
    else { return false }
    try progress.begin(.migrating)
    do {
      _ = try migrateInStore(
        MigrationPlan(keeping: model),
        of: StoreOrigin(store.engine.metadata, model, configurationName: store.configurationName),
        from: Request(type: request.type, place: place, options: store.options),
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
    _ kind: Kind,
    _ contents: StoreContents,
    _ setup: StoreSetup,
    replacing: Bool,
    expecting expected: FileIdentity? = nil
  ) throws -> any StoreEngine {
    switch kind {
    case .atomic(let format):
      try AtomicStoreEngine.create(
        format,
        contents: contents,
        setup: setup,
        fileSystem: fileSystem,
        replacing: replacing,
        expecting: expected
      )
    case .incremental(let format):
      try IncrementalStoreEngine.create(
        format,
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
    try successor(of: store, request) { kind, setup in
      try AtomicStoreEngine.prepare(
        try kind.atomic(),
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
    let kind = try kind(request.type)
    var request = request
    if kind.typeDescription.capabilities.supports(.history),
      !request.options.isSet(.tracksPersistentHistory), store.options.isSet(.tracksPersistentHistory)
    {
      request.options[.tracksPersistentHistory] = store.options[.tracksPersistentHistory]
    }
    let setup = try setup(request)
    let engine = try makeEngine(kind, setup)
    return PersistentStore(engine: engine, setup: setup, typeDescription: kind.typeDescription)
  }
}

// MARK: Backup

extension StoreManager {
  /// Keeps a copy of a store at `path`. One that stands there already is taken for it: a migration has left it that was killed.
  ///
  /// - Returns: whether the copy was made.
  /// - Throws: ``PersistenceError/Code/fileExists`` where something else is there.
  package func backUp(_ request: Request, to path: String) throws -> Bool {
    if try hasBackup(request, at: path) { return false }
    do {
      try copyStore(request, to: path, replacing: false)
      return true
    } catch {
      // What was made and may not be durable is no copy; what somebody else has made meanwhile is theirs.
      if (error as? PersistenceError)?.code != .fileExists { removeBackup(of: request, at: path) }
      throw error
    }
  }

  /// Whether what is at `path` is a copy of a store, byte for byte; false where nothing is there.
  ///
  /// - Throws: ``PersistenceError/Code/fileExists`` where something else is there.
  package func hasBackup(_ request: Request, at path: String) throws -> Bool {
    let target = try fileSystem.resolvingSymbolicLinks(inPath: path)
    guard let status = try fileSystem.status(atPath: target) else { return false }
    // The store itself is no copy of it. A hard link is one, for the new file gets the store's name alone.
    let isStore = try request.path.map { try fileSystem.resolvingSymbolicLinks(inPath: $0) } == target
    if !isStore, status.isRegularFile, try isCopy(target, of: request) { return true }
    try checkFree(target)
    return false
  }

  /// Removes a copy that was made in vain.
  package func removeBackup(of request: Request, at path: String) {
    // try?: the error that made it vain is the one to be told.
    try? destroy(request.moved(to: .file(path: path)))
  }

  private func isCopy(_ path: String, of request: Request) throws -> Bool {
    let source = try file(request)
    let copy = try StoreInput(try fileSystem.openFile(atPath: path))
    guard let format = try filesOfIncrementalStore(request.type) else { return try copy.hasSameBytes(as: source) }
    guard try format.sideFiles(ofStoreAt: path).allSatisfy({ try fileSystem.status(atPath: $0) == nil }) else {
      return false
    }
    return try isCopy(copy, path, ofStoreAt: source.path, format)
  }

  /// Copies of one store are alike, but need not be like its file. So another one is made beside `path` to be held against the first.
  private func isCopy(
    _ copy: StoreInput,
    _ path: String,
    ofStoreAt source: String,
    _ format: any FileFormat
  ) throws -> Bool {
    let (directory, name) = PathParts.split(path)
    let other = PathParts.join(directory, TemporaryName.file.make(for: name))
    // try?: what is left of it is nobody's.
    defer { try? StorePlacement(format, fileSystem: fileSystem).remove(other) }
    try format.copyStore(at: source, to: other)
    guard try copy.hasSameBytes(as: try StoreInput(try fileSystem.openFile(atPath: other))) else { return false }
    guard let folder = supportFolder(ofStoreAt: path, format),
      let names = try supportFolder(ofStoreAt: other, format)?.files()
    else { return true }
    return try folder.hasFiles(names)
  }

  private func supportFolder(ofStoreAt path: String, _ format: any FileFormat) -> SupportFolder? {
    format.supportFolder(ofStoreAt: path).map { SupportFolder(path: $0, fileSystem: fileSystem) }
  }
}

extension StoreInput {
  private static let comparedByteCount = 1 << 20

  /// Whether both have the same bytes. O(bytes) where they are as long.
  fileprivate func hasSameBytes(as other: StoreInput) throws(PersistenceError) -> Bool {
    guard size == other.size else { return false }
    for offset in stride(from: 0, to: size, by: Self.comparedByteCount) {
      let count = min(Self.comparedByteCount, size - offset)
      guard try bytes(from: offset, count: count) == other.bytes(from: offset, count: count) else { return false }
    }
    return true
  }
}
