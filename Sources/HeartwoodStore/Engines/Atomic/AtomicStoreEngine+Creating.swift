import HeartwoodModel
import Synchronization

// MARK: New stores of old contents

extension AtomicStoreEngine {
  /// Writes `contents` as a new store and opens it.
  ///
  /// - Parameter expected: the file that must still be at the path; nil means any.
  package static func create(
    _ format: any AtomicStoreFormat,
    contents: StoreContents,
    setup: StoreSetup,
    fileSystem: any FileSystem,
    replacing: Bool,
    expecting expected: FileIdentity? = nil
  ) throws -> AtomicStoreEngine {
    let engine = try unwritten(format, contents: contents, setup: setup, fileSystem: fileSystem)
    var contents = engine.state.withLock { $0.contents }
    let expectation = expected.map(AtomicFile.Expectation.unchanged) ?? (replacing ? .anything : .nothing)
    try engine.write(&contents, over: nil, expecting: expectation)
    return engine
  }

  /// Opens a new store with the contents of `source`. The first save creates its file.
  ///
  /// - Parameters:
  ///   - replacing: whether that save replaces a file that is at the path now. A file that appears later is never
  ///     replaced.
  ///   - isOwnFile: whether that file has to be the one that `source` was read from or saved to.
  static func prepare(
    _ format: any AtomicStoreFormat,
    from source: any StoreEngine,
    setup: StoreSetup,
    fileSystem: any FileSystem,
    replacing: Bool,
    isOwnFile: Bool
  ) throws -> AtomicStoreEngine {
    let engine = try unwritten(
      format,
      contents: try source.contents(takenOverBy: setup, format.typeDescription),
      setup: setup,
      fileSystem: fileSystem,
      references: (source as? AtomicStoreEngine)?.references.withLock { $0 }
    )
    if replacing, let path = setup.path {
      let own = isOwnFile ? (source as? AtomicStoreEngine)?.state.withLock { $0.standing } : nil
      let standing = try own ?? fileSystem.status(atPath: path)?.identity
      engine.state.withLock { state in
        state.standing = standing
        // The file at the path differs from what the store is to contain, even if no record changes.
        state.hasUnsavedMetadata = true
      }
    }
    return engine
  }

  private static func unwritten(
    _ format: any AtomicStoreFormat,
    contents: StoreContents,
    setup: StoreSetup,
    fileSystem: any FileSystem,
    references: ReferenceAssigner? = nil
  ) throws -> AtomicStoreEngine {
    try CapabilityCheck(format.typeDescription).check(setup)
    try setup.checkKeeps(contents)
    var metadata = contents.metadata
    metadata.storeType = format.typeDescription.type
    metadata.setModel(setup.entities, versionIdentifiers: setup.model.versionIdentifiers)
    var renewed = StoreContents(
      model: setup.model,
      entities: setup.entities,
      metadata: metadata,
      tables: contents.tables,
      history: setup.keptHistory(of: contents, format.typeDescription)
    )
    renewed.nextReferenceNumber = contents.nextReferenceNumber
    renewed.hasNewReferences = contents.hasNewReferences
    return AtomicStoreEngine(
      store: try format.makeStore(setup),
      typeDescription: format.typeDescription,
      setup: setup,
      fileSystem: fileSystem,
      contents: renewed,
      file: nil,
      references: references ?? ReferenceAssigner()
    )
  }
}

// MARK: Place

// MARK: The file on the disk

extension AtomicStoreEngine {
  package func fileState() throws(PersistenceError) -> StoreFileState {
    let state = state.withLock { $0 }
    guard let path = state.path else { return .absent }
    let found = try fileSystem.status(atPath: path)
    guard let standing = state.standing else {
      return found.map { $0.isRegularFile && $0.size == 0 } ?? true ? .absent : .changed
    }
    if let found { return found.identity == standing ? .unchanged : .changed }
    return try state.file?.file.currentPath().map { .moved(path: $0) } ?? .removed
  }

  package func setPath(_ path: String) throws(PersistenceError) {
    guard self.path != nil else {
      throw PersistenceError(
        .capabilityMissing,
        "The store has no file that can be moved.",
        recovery: "Convert it to a type that has one.",
        context: .init(path: path, storeType: typeDescription.type)
      )
    }
    let found = try fileSystem.status(atPath: path)?.identity
    saving.withLock { _ in
      state.withLock { state in
        state.path = path
        // A file at the new path counts as ours only if it is the one that was loaded or saved, moved there.
        let known = [state.standing, state.file?.status.identity]
        state.standing = known.contains(found) ? found : nil
      }
    }
  }

  /// Returns the saved file, opened so that the system can follow it when it is moved. It was opened by its temporary
  /// name: systems follow it if it was renamed from there, but not if it got its own name through a link, as a new file
  /// may. In that case this opens it again by its own name.
  func byItsName(_ file: StoreInput) -> StoreInput {
    // try?: without it the file is followed by the name that it was opened by.
    let isKnown = ((try? file.file.currentPath()) ?? nil) != nil
    guard !isKnown, let opened = try? fileSystem.openFile(atPath: file.path),
      let named = try? StoreInput(opened), named.status.identity == file.status.identity
    else { return file }
    return named
  }
}
