// MARK: Files of stores that are not open

extension StoreOpener {
  /// Removes a store: its file, what lies beside it, and what links to it there.
  package func destroy(_ request: Request) throws {
    guard let path = request.path else { return }
    let target = try fileSystem.resolvingSymbolicLinks(inPath: path)
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
    if try fileSystem.isLink(atPath: path) {
      try fileSystem.removeFile(atPath: path)
      try fileSystem.synchronizeDirectory(ofPath: path)
    }
  }

  /// Replaces the store at `path`, or makes it, by a copy of the store of `request`, in one step.
  package func replaceStore(at path: String, by request: Request) throws {
    _ = try metadata(request)
    let source = try file(request)
    switch try Kind(try registry.storeClass(for: request.type)) {
    case .atomic:
      let replacement = try AtomicFile(path: path, fileSystem: fileSystem).replace(expecting: .anything) { output in
        try output.write(contentsOf: source)
      }
      if let failure = replacement.flushFailure { throw failure }
    case .incremental(let storeClass):
      try StorePlacement(storeClass, fileSystem: fileSystem).write(at: path, replacing: true) { temporaryPath in
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
