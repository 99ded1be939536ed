// MARK: Files of stores that are not open

extension StoreOpener {
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
      if try fileSystem.status(atPath: target)?.size != 0 { try storeClass.gatherSideFiles(ofStoreAt: target) }
      try StorePlacement(storeClass, fileSystem: fileSystem).remove(target)
    }
    if isLink {
      try fileSystem.removeFile(atPath: path)
      try fileSystem.synchronizeDirectory(ofPath: path)
    }
  }

  /// Brings what lies beside the file of a store that is not open into it, so that the file alone is the store.
  package func gatherSideFiles(_ request: Request) throws {
    guard let path = request.path, let size = try fileSystem.status(atPath: path)?.size, size > 0,
      case .incremental(let storeClass) = try Kind(try registry.storeClass(for: request.type))
    else { return }
    try storeClass.gatherSideFiles(ofStoreAt: path)
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
