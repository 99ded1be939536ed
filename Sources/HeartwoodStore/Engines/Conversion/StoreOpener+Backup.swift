extension StoreOpener {
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
    var backup = request
    backup.path = path
    // try?: the error that made it vain is the one to be told.
    try? destroy(backup)
  }

  private func isCopy(_ path: String, of request: Request) throws -> Bool {
    let source = try file(request)
    let copy = try StoreInput(try fileSystem.openFile(atPath: path))
    switch try Kind(try registry.storeClass(for: request.type)) {
    case .atomic: return try copy.hasSameBytes(as: source)
    case .incremental(let storeClass):
      guard try storeClass.sideFiles(ofStoreAt: path).allSatisfy({ try fileSystem.status(atPath: $0) == nil }) else {
        return false
      }
      return try isCopy(copy, path, ofStoreAt: source.path, storeClass)
    }
  }

  /// Copies of one store are alike, but need not be like its file. So another one is made beside `path` to be held against the first.
  private func isCopy(
    _ copy: StoreInput,
    _ path: String,
    ofStoreAt source: String,
    _ storeClass: any IncrementalStore.Type
  ) throws -> Bool {
    let (directory, name) = PathParts.split(path)
    let other = PathParts.join(directory, TemporaryName.file.make(for: name))
    // try?: what is left of it is nobody's.
    defer { try? StorePlacement(storeClass, fileSystem: fileSystem).remove(other) }
    try storeClass.copyStore(at: source, to: other)
    guard try copy.hasSameBytes(as: try StoreInput(try fileSystem.openFile(atPath: other))) else { return false }
    guard let folder = supportFolder(ofStoreAt: path, storeClass),
      let names = try supportFolder(ofStoreAt: other, storeClass)?.files()
    else { return true }
    return try folder.hasFiles(names)
  }

  private func supportFolder(ofStoreAt path: String, _ storeClass: any IncrementalStore.Type) -> SupportFolder? {
    storeClass.supportFolder(ofStoreAt: path).map { SupportFolder(path: $0, fileSystem: fileSystem) }
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
