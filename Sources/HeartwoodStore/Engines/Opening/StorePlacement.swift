import HeartwoodFoundation

/// Moves a store that was written beside its final path there in one step, with the files that belong to it.
///
///     // A backup of a store whose file others may write to.
///     let placement = StorePlacement(NotesStore.format, fileSystem: POSIXFileSystem())
///     try placement.write(at: backup, replacing: true) { try NotesStore.copyStore(at: path, to: $0) }
public struct StorePlacement {
  private let format: any FileFormat
  private let fileSystem: any FileSystem

  /// Makes a placement for files of a format.
  public init(_ format: any FileFormat, fileSystem: any FileSystem) {
    self.format = format
    self.fileSystem = fileSystem
  }

  /// Calls `body` to write a whole store at a path beside `path`, and moves that to `path`. On failure the old store
  /// stays in place, and nothing of the new one does.
  ///
  /// - Parameters:
  ///   - replacing: whether there may be a store at `path`.
  ///   - expected: the file that must still be at the path; nil means any.
  ///   - body: writes the store, and the files that belong to it.
  /// - Throws: ``PersistenceError/Code/fileExists``; ``PersistenceError/Code/storeBusy`` if another process uses the
  ///   store that is to be replaced; ``PersistenceError/Code/fileChangedOnDisk`` if it is not `expected`; and the errors
  ///   of `body` and of writing.
  public func write<Result>(
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
      // try?: a leftover of it has a temporary name and is not used.
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
    // Other processes that create a store here wait.
    let lock = try fileSystem.lockFile(atPath: PathParts.split(path).directory)
    defer { lock?.release() }
    let isThere = try fileSystem.status(atPath: path).map { $0.size > 0 } ?? false
    // This comes before anything is moved: in most cases the obstacle is there already.
    if isThere { try gather(path, expecting: expected) } else { try check(path, expected) }
    let folder = supportFolder(path)
    // try?: files that cannot be listed are not removed.
    let oldFiles = Set((try? folder?.files()) ?? [])
    let newFolder = supportFolder(temporary)
    // Users that must not read the old store must not read any of the new one.
    if isThere { try newFolder?.copyPermissions(ofFileAtPath: path) }
    let files = try folder.flatMap { try newFolder?.move(to: $0) }
    do {
      if isThere {
        try fileSystem.copyPermissions(ofFileAtPath: path, toPath: temporary)
        // Other processes may have opened the store since, and the new file must not come to lie beside their log.
        try gather(path, expecting: expected)
      } else {
        try removeSideFiles(path)
      }
      try fileSystem.moveFile(atPath: temporary, toPath: path, exclusively: !replacing)
    } catch {
      // try?: the error because of which they are not needed is thrown.
      try? folder?.remove(files?.added ?? [])
      throw error
    }
    try fileSystem.synchronizeDirectory(ofPath: path)
    // The new store is in place. Files that only the old one used may be removed later, and a process that has opened
    // the new one may have added to the folder.
    let leftFiles = oldFiles.subtracting(files?.all ?? [])
    // try?: as above; they are looked for again when the store is next replaced.
    if let folder, !isShared(folder, path) { try? folder.remove(where: leftFiles.contains) }
  }

  /// Moves data from the files beside the old file into it, so that it can be replaced.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` if another process uses the file,
  ///   ``PersistenceError/Code/fileChangedOnDisk`` if it is not `expected`.
  private func gather(_ path: String, expecting expected: FileIdentity?) throws {
    let before = try sideFileIdentities(path)
    try format.checkpoint(storeAt: path)
    try check(path, expected)
    // Files that were there before and still are belong to no process that is running.
    guard try sideFileIdentities(path).isSubset(of: before) else {
      throw PersistenceError(
        .storeBusy,
        "Another process has opened the store that was to be replaced. It is unchanged.",
        recovery: "Try again when it is closed.",
        context: .init(path: path, storeType: format.typeDescription.type)
      )
    }
  }

  private func check(_ path: String, _ expected: FileIdentity?) throws(PersistenceError) {
    guard let expected else { return }
    _ = try AtomicFile(path: path, fileSystem: fileSystem).check(.unchanged(expected), at: path)
  }

  private func sideFileIdentities(_ path: String) throws(PersistenceError) -> Set<FileIdentity> {
    var identities: Set<FileIdentity> = []
    for sideFile in format.sideFiles(ofStoreAt: path) {
      if let status = try fileSystem.status(atPath: sideFile) { identities.insert(status.identity) }
    }
    return identities
  }

  /// Removes the store at `path`, which must not be in use.
  func remove(_ path: String) throws {
    try fileSystem.removeFile(atPath: path)
    try removeSideFiles(path)
    try fileSystem.synchronizeDirectory(ofPath: path)
    if let folder = supportFolder(path), !isShared(folder, path) { try folder.remove() }
  }

  /// Removes the files beside a missing file: they would be taken for those of another file at the path.
  private func removeSideFiles(_ path: String) throws(PersistenceError) {
    for sideFile in format.sideFiles(ofStoreAt: path) { try fileSystem.removeFile(atPath: sideFile) }
  }

  private func supportFolder(_ path: String) -> SupportFolder? {
    format.supportFolder(ofStoreAt: path).map { SupportFolder(path: $0, fileSystem: fileSystem) }
  }

  /// Returns whether files of another store are in the folder too: a store beside it may have the same name except for
  /// the extension. A folder of which that is unknown counts as shared. I/O in the folder of the store.
  public func isShared(_ folder: SupportFolder, _ path: String) -> Bool {
    let (directory, name) = PathParts.split(path)
    let sideFiles = Set(format.sideFiles(ofStoreAt: path))
    // try?: if it is unknown, nothing is removed.
    guard let entries = try? fileSystem.entries(ofFolderAtPath: directory) else { return true }
    return entries.contains { entry in
      let other = PathParts.join(directory, entry.name)
      return entry.kind != .folder && entry.name != name && !sideFiles.contains(other) && !leads(other, to: path)
        && format.supportFolder(ofStoreAt: other) == folder.path && isStore(other)
    }
  }

  /// Returns whether `link` is a symbolic link to `path`.
  private func leads(_ link: String, to path: String) -> Bool {
    // try?: a link without an existing destination does not refer to the path.
    (try? fileSystem.resolvingSymbolicLinks(inPath: link)) == path
  }

  private func isStore(_ path: String) -> Bool {
    let description = format.typeDescription
    if description.fileExtensions.contains(PathParts.fileExtension(path)) { return true }
    do {
      let file = try StoreInput(try fileSystem.openFile(atPath: path))
      return format.recognizes(prefix: try file.bytes(from: 0, count: StoreRegistry.prefixLength))
    } catch {
      // A file that cannot be read may be a store, whose files are not removed. A link without an existing destination
      // is none.
      return error.code != .fileNotFound
    }
  }
}

// MARK: NewStorePlace

/// The place of a store that is to be created: a file, or a URL. It is created at another place, and moved to its own
/// in one step.
struct NewStorePlace {
  private let format: any IncrementalStoreFormat
  private let place: StorePlace
  private let options: StoreOptions
  private let fileSystem: any FileSystem

  init(
    _ format: any IncrementalStoreFormat,
    at place: StorePlace,
    _ options: StoreOptions,
    fileSystem: any FileSystem
  ) {
    self.format = format
    self.place = place
    self.options = options
    self.fileSystem = fileSystem
  }

  /// Calls `body` to create a whole store at another place, and moves it to this one. On failure the old store stays in
  /// place, and nothing of the new one does.
  ///
  /// - Parameters:
  ///   - replacing: whether there may be a store at the place.
  ///   - expected: the file that must still be there; nil means any.
  func make<Result>(
    replacing: Bool,
    expecting expected: FileIdentity?,
    _ body: (_ temporary: StorePlace) throws -> Result
  ) throws -> Result {
    switch place {
    case .file(let path):
      guard let files = format as? any FileFormat else { throw CapabilityCheck(format.typeDescription).isNoFile(place) }
      try fileSystem.checkWritable(path, format.typeDescription.type, options)
      let placement = StorePlacement(files, fileSystem: fileSystem)
      return try placement.write(at: path, replacing: replacing, expecting: expected) { try body(.file(path: $0)) }
    case .url(let url): return try make(at: url, replacing: replacing, body)
    }
  }

  private func make<Result>(
    at url: URL,
    replacing: Bool,
    _ body: (_ temporary: StorePlace) throws -> Result
  ) throws -> Result {
    guard let temporary = try format.temporaryURL(for: url) else {
      // It refuses an existing store itself, whether or not that may be replaced.
      return try body(place)
    }
    do {
      let result = try body(.url(temporary))
      try format.moveStore(at: temporary, to: url, replacing: replacing, options: options)
      return result
    } catch {
      // try?: a leftover of it is not used, and the error because of which it is not needed is thrown.
      try? format.removeStore(at: temporary, options: options)
      throw error
    }
  }
}

extension FileSystem {
  /// Checks that a store which replaces the file at `path`, and gets its permissions, can be opened there as the
  /// options ask.
  func checkWritable(_ path: String, _ type: StoreType, _ options: StoreOptions) throws(PersistenceError) {
    if options[.isReadOnly] || isWritableFile(atPath: path) { return }
    throw PersistenceError(
      .storeReadOnly,
      "The permissions of the file to be replaced do not allow writing. It is unchanged.",
      recovery: "Change them, or choose another place.",
      context: .init(path: path, storeType: type)
    )
  }

  /// Checks that there is no file at `path`.
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
