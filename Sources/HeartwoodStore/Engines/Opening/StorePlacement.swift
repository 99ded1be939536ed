/// Gives a store that was written beside its place that place in one step, with what belongs to its file.
package struct StorePlacement {
  private let storeClass: any IncrementalStore.Type
  private let fileSystem: any FileSystem

  package init(_ storeClass: any IncrementalStore.Type, fileSystem: any FileSystem) {
    self.storeClass = storeClass
    self.fileSystem = fileSystem
  }

  /// Lets `body` write a whole store at a path beside `path`, and moves that to `path`. On failure the old store stands, and nothing of
  /// the new one does.
  ///
  /// - Parameter expected: the file that must still stand at the place; nil means any.
  package func write<Result>(
    at path: String,
    replacing: Bool,
    expecting expected: FileIdentity? = nil,
    _ body: (_ temporaryPath: String) throws -> Result
  ) throws -> Result {
    let target = try fileSystem.resolvingSymbolicLinks(inPath: path)
    if !replacing { try fileSystem.checkFree(target) }
    let (directory, name) = PathParts.split(target)
    let temporary = PathParts.join(directory, TemporaryName.file.make(for: name))
    do {
      let result = try body(temporary)
      try move(temporary, to: target, replacing: replacing, expecting: expected)
      return result
    } catch {
      // try?: what is left of it is nobody's, and its name tells nobody anything.
      try? remove(temporary)
      throw (error as? PersistenceError)?.relocating(from: temporary, to: path) ?? error
    }
  }

  private func move(
    _ temporary: String,
    to path: String,
    replacing: Bool,
    expecting expected: FileIdentity?
  ) throws {
    // Whoever else makes a store here waits.
    let lock = try fileSystem.lockFile(atPath: PathParts.split(path).directory)
    defer { lock?.release() }
    let isThere = try fileSystem.status(atPath: path).map { $0.size > 0 } ?? false
    // Before anything is moved: in most cases what stands in the way is there already.
    if isThere { try gather(path, expecting: expected) } else { try check(path, expected) }
    let folder = supportFolder(path)
    // try?: what cannot be listed is not removed.
    let oldFiles = Set((try? folder?.files()) ?? [])
    let newFolder = supportFolder(temporary)
    // Who must not read the old store must not read any of the new one.
    if isThere { try newFolder?.copyPermissions(ofFileAtPath: path) }
    let files = try folder.flatMap { try newFolder?.move(to: $0) }
    do {
      if isThere {
        try fileSystem.copyPermissions(ofFileAtPath: path, toPath: temporary)
        // Others may have opened the store since, and the new file must not come to lie beside their log.
        try gather(path, expecting: expected)
      } else {
        try removeSideFiles(path)
      }
      try fileSystem.moveFile(atPath: temporary, toPath: path, exclusively: !replacing)
    } catch {
      // try?: the error that made them vain is thrown.
      try? folder?.remove(files?.added ?? [])
      throw error
    }
    try fileSystem.synchronizeDirectory(ofPath: path)
    // The new store stands: what only the old one had may wait for another day, and who has opened the new one may have added to it.
    let leftFiles = oldFiles.subtracting(files?.all ?? [])
    // try?: as above; they are looked for again when the store is next replaced.
    if let folder, !isShared(folder, path) { try? folder.remove(where: leftFiles.contains) }
  }

  /// Brings what lies beside the old file into it, so that this can be replaced.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` where somebody uses the file, ``PersistenceError/Code/fileChangedOnDisk`` where it is not
  ///   `expected`.
  private func gather(_ path: String, expecting expected: FileIdentity?) throws {
    let before = try sideFileIdentities(path)
    try storeClass.checkpoint(storeAt: path)
    try check(path, expected)
    // What was there before and still is belongs to nobody who is at work.
    guard try sideFileIdentities(path).isSubset(of: before) else {
      throw PersistenceError(
        .storeBusy,
        "Somebody has opened the store while it was to be replaced. It is as it was.",
        recovery: "Try again when it is closed.",
        context: .init(path: path, storeType: storeClass.typeDescription.type)
      )
    }
  }

  private func check(_ path: String, _ expected: FileIdentity?) throws(PersistenceError) {
    guard let expected else { return }
    _ = try AtomicFile(path: path, fileSystem: fileSystem).check(.unchanged(expected), at: path)
  }

  private func sideFileIdentities(_ path: String) throws(PersistenceError) -> Set<FileIdentity> {
    var identities: Set<FileIdentity> = []
    for sideFile in storeClass.sideFiles(ofStoreAt: path) {
      if let status = try fileSystem.status(atPath: sideFile) { identities.insert(status.identity) }
    }
    return identities
  }

  /// Removes the store at `path`, of which nothing may be in use.
  func remove(_ path: String) throws {
    try fileSystem.removeFile(atPath: path)
    try removeSideFiles(path)
    try fileSystem.synchronizeDirectory(ofPath: path)
    if let folder = supportFolder(path), !isShared(folder, path) { try folder.remove() }
  }

  /// Removes what lies beside a file that is not there: with another file it would be taken for that one's.
  private func removeSideFiles(_ path: String) throws(PersistenceError) {
    for sideFile in storeClass.sideFiles(ofStoreAt: path) { try fileSystem.removeFile(atPath: sideFile) }
  }

  private func supportFolder(_ path: String) -> SupportFolder? {
    storeClass.supportFolder(ofStoreAt: path).map { SupportFolder(path: $0, fileSystem: fileSystem) }
  }

  /// Whether another store's files are in the folder too: one beside it may have the same name but for the extension.
  package func isShared(_ folder: SupportFolder, _ path: String) -> Bool {
    let (directory, name) = PathParts.split(path)
    let sideFiles = Set(storeClass.sideFiles(ofStoreAt: path))
    // try?: where nobody can tell, nothing is removed.
    guard let entries = try? fileSystem.entries(ofFolderAtPath: directory) else { return true }
    return entries.contains { entry in
      let other = PathParts.join(directory, entry.name)
      return entry.kind != .folder && entry.name != name && !sideFiles.contains(other) && !leads(other, to: path)
        && storeClass.supportFolder(ofStoreAt: other) == folder.path && isStore(other)
    }
  }

  /// Whether `link` is a symbolic link that leads to `path`.
  private func leads(_ link: String, to path: String) -> Bool {
    // try?: a link that leads nowhere does not lead there.
    (try? fileSystem.resolvingSymbolicLinks(inPath: link)) == path
  }

  private func isStore(_ path: String) -> Bool {
    let description = storeClass.typeDescription
    if description.fileExtensions.contains(PathParts.fileExtension(path)) { return true }
    do {
      let file = try StoreInput(try fileSystem.openFile(atPath: path))
      return storeClass.recognizes(prefix: try file.bytes(from: 0, count: StoreRegistry.prefixLength))
    } catch {
      // What cannot be read may be a store, whose files are not removed. A link that leads nowhere is none.
      return error.code != .fileNotFound
    }
  }
}

extension FileSystem {
  /// Makes sure that a store which takes the place of the file at `path`, and gets its permissions, can be opened there as the options say.
  func checkWritable(_ path: String, _ type: StoreType, _ options: StoreOptions) throws(PersistenceError) {
    if options[.isReadOnly] || isWritableFile(atPath: path) { return }
    throw PersistenceError(
      .storeReadOnly,
      "The permissions of the file that is to be replaced do not let it be written. It is as it was.",
      recovery: "Change them, or choose another place.",
      context: .init(path: path, storeType: type)
    )
  }

  /// Makes sure that nothing is at `path`.
  func checkFree(_ path: String) throws(PersistenceError) {
    guard try status(atPath: path) != nil else { return }
    throw PersistenceError(
      .fileExists,
      "There is a file already.",
      recovery: .replaceFile,
      context: .init(path: path)
    )
  }
}
