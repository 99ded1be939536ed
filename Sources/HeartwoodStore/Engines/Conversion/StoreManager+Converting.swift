import HeartwoodModel

// MARK: Making stores of others

extension StoreManager {
  /// Writes the contents of `store` as a store of another type or at another place, and opens that.
  ///
  /// The identifier, the metadata and the references stay the same, and so does the history if the other type keeps one
  /// and the options do not discard it; if they do not mention it, tracking stays on or off as it was. Tables are
  /// handed over and no object is created: the records have the same rows. Contents that the other type cannot hold are
  /// refused before anything is written; but an incremental store that cannot use the records' references gives them
  /// references of its own.
  ///
  /// - Parameter replacing: whether a file at the destination is replaced.
  package func convert(_ store: PersistentStore, to request: Request, replacing: Bool) throws -> PersistentStore {
    try successor(of: store, request) { kind, setup in
      try create(kind, try contents(of: store, for: setup, kind), setup, replacing: replacing)
    }
  }

  /// Returns the contents of a store, with its references stored in an attribute, or taken from it, if the options ask
  /// for that.
  private func contents(of store: PersistentStore, for setup: StoreSetup, _ kind: Kind) throws -> StoreContents {
    var contents = try store.engine.contents(takenOverBy: setup, kind.typeDescription)
    guard let name = setup.options[.referenceAttribute] else { return contents }
    let capabilities = kind.typeDescription.capabilities
    if !(capabilities.supports(.history) && setup.options[.tracksPersistentHistory]) { contents.forgetHistory() }
    return try KeptReferences(in: name, of: contents).contents(for: capabilities.referenceKinds)
  }

  /// Makes the same store as ``convert(_:to:replacing:)``, but the records need not have the same rows: if a store can
  /// make another one of its type itself, they do not go through memory, and the new store has read none of them.
  ///
  /// - Parameter progress: the progress of a store that makes the other one itself; otherwise nothing is reported
  ///   there.
  package func copy(
    _ store: PersistentStore,
    to request: Request,
    replacing: Bool,
    progress: MigrationProgress = MigrationProgress()
  ) throws -> PersistentStore {
    if try copyInStore(store, to: request, replacing: replacing, progress) { return try open(request) }
    return try convert(store, to: request, replacing: replacing)
  }

  /// Makes a store copy itself to another one of its type, as a migration to the model that it already has. Returns
  /// whether it did.
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
  /// - Parameter expected: the file that must still be at the place; nil means any.
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

  /// Makes the same store as ``convert(_:to:replacing:)``, but writes nothing: the first save of the new store does.
  ///
  /// - Parameters:
  ///   - replacing: whether that save replaces a file that is at the place now.
  ///   - isOwnFile: whether that file has to be the store's own, as it was last read or saved.
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
  /// Copies a store to `path` as a backup. A copy that is already there is used as it is: a migration that was killed
  /// has left it.
  ///
  /// - Returns: whether the copy was made.
  /// - Throws: ``PersistenceError/Code/fileExists`` if something else is at the path.
  package func backUp(_ request: Request, to path: String) throws -> Bool {
    if try hasBackup(request, at: path) { return false }
    do {
      try copyStore(request, to: path, replacing: false)
      return true
    } catch {
      // A copy that may not be durable is no backup. A file that another process has made meanwhile is left alone.
      if (error as? PersistenceError)?.code != .fileExists { removeBackup(of: request, at: path) }
      throw error
    }
  }

  /// The number of copies of one store beside each other.
  private static let mostCopies = 10_000

  /// Copies the file of a store, with the files that belong to it, to the first free name beside it: `NAME.backup`,
  /// `NAME.2.backup`, and so on. What has such a name stays as it is.
  ///
  /// - Returns: the path of the copy.
  /// - Throws: ``PersistenceError/Code/fileExists`` if there are 10,000 copies, and the errors of copying.
  package func makeBackup(of request: Request) throws -> String {
    guard let store = request.path else { throw fileMissing(request) }
    for number in 1...Self.mostCopies {
      let path = "\(store)\(number == 1 ? "" : ".\(number)").backup"
      guard try fileSystem.status(atPath: path) == nil else { continue }
      do {
        try copyStore(request, to: path, replacing: false)
        return path
      } catch let error as PersistenceError where error.code == .fileExists {
        // Another process was faster, or a link without a destination has the name.
        continue
      }
    }
    throw PersistenceError(
      .fileExists,
      "There are \(Self.mostCopies) backups of the store already.",
      recovery: "Move some of them away.",
      context: .init(path: store)
    )
  }

  private func fileMissing(_ request: Request) -> PersistenceError {
    PersistenceError(
      .capabilityMissing,
      "Only a store in a file can be copied beside it.",
      context: .init(path: request.placeName, storeType: request.type)
    )
  }

  /// Returns whether the file at `path` is a copy of a store, byte for byte; false if there is no file.
  ///
  /// - Throws: ``PersistenceError/Code/fileExists`` if something else is at the path.
  package func hasBackup(_ request: Request, at path: String) throws -> Bool {
    let target = try fileSystem.resolvingSymbolicLinks(inPath: path)
    guard let status = try fileSystem.status(atPath: target) else { return false }
    // The store itself is no copy of it. A hard link is one, because a new file only takes the store's name.
    let isStore = try request.path.map { try fileSystem.resolvingSymbolicLinks(inPath: $0) } == target
    if !isStore, status.isRegularFile, try isCopy(target, of: request) { return true }
    try checkFree(target)
    return false
  }

  /// Removes a copy that is not needed because of an error.
  package func removeBackup(of request: Request, at path: String) {
    // try?: the caller throws the error because of which the copy is not needed.
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

  /// Copies of one store are the same as each other, but need not be the same as its file. So this makes another one
  /// beside `path` and compares it with the first.
  private func isCopy(
    _ copy: StoreInput,
    _ path: String,
    ofStoreAt source: String,
    _ format: any FileFormat
  ) throws -> Bool {
    let (directory, name) = PathParts.split(path)
    let other = PathParts.join(directory, TemporaryName.file.make(for: name))
    // try?: a leftover of it has a temporary name and is not used.
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

  /// Returns whether both have the same bytes. O(bytes) if both have the same length.
  fileprivate func hasSameBytes(as other: StoreInput) throws(PersistenceError) -> Bool {
    guard size == other.size else { return false }
    for offset in stride(from: 0, to: size, by: Self.comparedByteCount) {
      let count = min(Self.comparedByteCount, size - offset)
      guard try bytes(from: offset, count: count) == other.bytes(from: offset, count: count) else { return false }
    }
    return true
  }
}
