import HeartwoodFoundation
public import HeartwoodStore
import Synchronization

/// A file system in memory, for tests that save and load without a disk.
///
///     let files = InMemoryFileSystem()
///     try files.setContents(Array("#D35CF030-…".utf8), ofFileAtPath: "/todo.csv")
///
/// Folders need not be created: the folders in the path of a file exist. Relative paths begin at the root. Locks wait
/// like those of the system, but only between threads. Otherwise, files behave like those on a disk: symbolic links are
/// followed, an open file stays the same file if another one takes its name, and each change of a file's bytes changes
/// its ``FileIdentity``. Permissions are kept but not enforced.
public final class InMemoryFileSystem: FileSystem {
  private struct State {
    var names = InMemoryNames()
    var readOnlyFolders: Set<String> = []
    var lastNumber: UInt64 = 0
  }

  private let state = Mutex(State())
  private let clock = InMemoryClock()

  /// Creates a file system without files.
  public init() {}
}

// MARK: For tests

extension InMemoryFileSystem {
  /// The paths of all files and symbolic links, sorted.
  public var paths: [String] { state.withLock { $0.names.paths } }

  /// Returns the bytes of the file at `path`, after following symbolic links; nil if there is none.
  public func contents(ofFileAtPath path: String) -> [UInt8]? {
    // try?: nil says that there is no such file.
    (try? state.withLock { state throws(PersistenceError) in try state.names.file(at: path) })?.bytes
  }

  /// Writes a file in place, as an editor does: an existing file stays the same file and keeps its permissions.
  ///
  /// - Parameters:
  ///   - bytes: the new contents of the file.
  ///   - path: the path of the file.
  ///   - permissions: the permission bits of a new file.
  /// - Throws: ``PersistenceError/Code/fileReadFailed`` if symbolic links form a cycle.
  public func setContents(
    _ bytes: [UInt8],
    ofFileAtPath path: String,
    permissions: UInt32 = 0o644
  ) throws(PersistenceError) {
    try state.withLock { state throws(PersistenceError) in
      if let file = try state.names.file(at: path) { return file.replaceBytes(bytes) }
      let file = newFile(permissions: permissions, &state)
      file.replaceBytes(bytes)
      state.names.set(.file(file), at: try state.names.resolved(path))
    }
  }

  /// Sets the permission bits of the file at `path`. They are kept and reported, but not enforced.
  ///
  /// - Throws: ``PersistenceError/Code/fileNotFound`` if there is no file, and ``PersistenceError/Code/fileReadFailed``
  ///   if there is a folder.
  public func setPermissions(_ permissions: UInt32, ofFileAtPath path: String) throws(PersistenceError) {
    try existingFile(at: path).setPermissions(permissions)
  }

  /// Gives a file the permission bits of another file. Does nothing if there is no other file.
  public func copyPermissions(ofFileAtPath source: String, toPath destination: String) throws(PersistenceError) {
    if let permissions = try status(atPath: source)?.permissions {
      try setPermissions(permissions, ofFileAtPath: destination)
    }
  }

  /// Creates a symbolic link, whose destination need not exist. It replaces a file or link at `path`.
  ///
  /// - Parameters:
  ///   - path: the path of the link.
  ///   - destination: an absolute path, or a path relative to the folder of the link.
  public func createSymbolicLink(atPath path: String, destination: String) throws(PersistenceError) {
    try state.withLock { state throws(PersistenceError) in
      state.names.set(.link(destination), at: try state.names.resolvedFolder(of: path))
    }
  }

  /// Makes the creation, renaming and removal of files in a folder fail, or allows it again.
  public func setFolder(atPath path: String, isReadOnly: Bool) throws(PersistenceError) {
    try state.withLock { state throws(PersistenceError) in
      let folder = try state.names.resolved(path)
      if isReadOnly { state.readOnlyFolders.insert(folder) } else { state.readOnlyFolders.remove(folder) }
    }
  }
}

// MARK: For stores

extension InMemoryFileSystem {
  /// Returns the status of the file or folder at a path; nil if there is none.
  public func status(atPath path: String) throws(PersistenceError) -> FileStatus? {
    try state.withLock { state throws(PersistenceError) in
      let resolved = try state.names.resolved(path)
      if case .file(let file) = state.names[resolved] { return file.status }
      return state.names.hasFolder(resolved) ? .inMemoryFolder : nil
    }
  }

  /// Returns a path with its symbolic links resolved.
  public func resolvingSymbolicLinks(inPath path: String) throws(PersistenceError) -> String {
    try state.withLock { state throws(PersistenceError) in try state.names.resolved(path) }
  }

  /// Opens a file for reading. It stays the same file if another one takes its name.
  public func openFile(atPath path: String) throws(PersistenceError) -> any ReadableFile {
    InMemoryReadableFile(file: try existingFile(at: path), path: path, owner: self)
  }

  /// Opens a file to overwrite parts of it.
  public func openFileForPatching(atPath path: String) throws(PersistenceError) -> (any PatchableFile)? {
    InMemoryPatchableFile(file: try existingFile(at: path), path: path)
  }

  /// Returns the path of a file; nil if it has been removed.
  func path(of file: InMemoryFile) -> String? { state.withLock { $0.names.path(of: file) } }

  /// Creates an empty file with a unique name.
  public func createTemporaryFile(
    besidePath path: String,
    permissions: UInt32?
  ) throws(PersistenceError) -> any WritableFile {
    try state.withLock { state throws(PersistenceError) in
      let (folder, name) = PathParts.split(try state.names.resolvedFolder(of: path))
      try checkWritable(folder, path: path, state)
      var candidate = PathParts.join(folder, TemporaryName.file.make(for: name))
      while state.names[candidate] != nil { candidate = PathParts.join(folder, TemporaryName.file.make(for: name)) }
      let file = newFile(permissions: permissions ?? 0o644, &state)
      state.names.set(.file(file), at: candidate)
      return InMemoryWritableFile(file: file, path: candidate)
    }
  }

  /// Removes temporary files that no writer has open.
  public func removeAbandonedTemporaryFiles(besidePath path: String) throws(PersistenceError) {
    try state.withLock { state throws(PersistenceError) in
      let (folder, name) = PathParts.split(try state.names.resolvedFolder(of: path))
      try checkWritable(folder, path: path, state)
      for candidate in state.names.paths {
        let (candidateFolder, candidateName) = PathParts.split(candidate)
        guard candidateFolder == folder, TemporaryName.file.belongs(candidateName, to: name),
          case .file(let file) = state.names[candidate], !file.isBeingWritten
        else { continue }
        state.names.remove(candidate)
      }
    }
  }

  /// Renames a file in one step.
  public func moveFile(
    atPath source: String,
    toPath destination: String,
    exclusively: Bool
  ) throws(PersistenceError) {
    try state.withLock { state throws(PersistenceError) in
      let old = try state.names.resolvedFolder(of: source)
      let new = try state.names.resolvedFolder(of: destination)
      for path in [old, new] { try checkWritable(PathParts.split(path).directory, path: path, state) }
      guard case .file(let file) = state.names[old] else { throw .inMemoryFileNotFound(source) }
      if state.names.hasFolder(new) {
        throw PersistenceError(.fileWriteFailed, "A folder has the name.", context: .init(path: destination))
      }
      if exclusively, state.names[new] != nil {
        throw PersistenceError(
          .fileExists,
          "Another process has created the file in the meantime.",
          context: .init(path: destination)
        )
      }
      state.names.remove(old)
      state.names.set(.file(file), at: new)
    }
  }

  /// Does nothing: names in memory are never delayed.
  public func synchronizeDirectory(ofPath path: String) throws(PersistenceError) {}

  /// Removes a file. It is not an error if there is none.
  public func removeFile(atPath path: String) throws(PersistenceError) {
    try state.withLock { state throws(PersistenceError) in
      let resolved = try state.names.resolvedFolder(of: path)
      try checkWritable(PathParts.split(resolved).directory, path: path, state)
      state.names.remove(resolved)
    }
  }

  /// Waits for the lock of a file and takes it. Returns nil if there is no file.
  public func lockFile(atPath path: String) throws(PersistenceError) -> (any FileLock)? {
    let file = try state.withLock { state throws(PersistenceError) in try state.names.file(at: path) }
    return file.map { InMemoryFileLock($0) }
  }
}

extension InMemoryFileSystem {
  private func newFile(permissions: UInt32, _ state: inout State) -> InMemoryFile {
    state.lastNumber += 1
    return InMemoryFile(number: state.lastNumber, permissions: permissions, clock: clock)
  }

  private func existingFile(at path: String) throws(PersistenceError) -> InMemoryFile {
    try state.withLock { state throws(PersistenceError) in
      if let file = try state.names.file(at: path) { return file }
      guard state.names.hasFolder(try state.names.resolved(path)) else { throw .inMemoryFileNotFound(path) }
      throw PersistenceError(.fileReadFailed, "It is not a regular file.", context: .init(path: path))
    }
  }

  private func checkWritable(_ folder: String, path: String, _ state: borrowing State) throws(PersistenceError) {
    guard state.readOnlyFolders.contains(folder) else { return }
    throw PersistenceError(.fileWriteFailed, "The folder is read-only.", context: .init(path: path))
  }
}

extension FileStatus {
  /// Folders are not stored, so their status never changes.
  fileprivate static let inMemoryFolder = FileStatus(
    identity: FileIdentity(device: 0, number: 0, size: 0, modificationSeconds: 0, modificationNanoseconds: 0),
    size: 0,
    permissions: 0o755,
    isRegularFile: false
  )
}

extension PersistenceError {
  fileprivate static func inMemoryFileNotFound(_ path: String) -> PersistenceError {
    PersistenceError(.fileNotFound, "There is no such file.", context: .init(path: path))
  }
}

// MARK: InMemoryNames

/// The names in an in-memory file system, with the files and links.
struct InMemoryNames: Sendable {
  enum Entry: Sendable {
    case file(InMemoryFile)
    case link(String)
  }

  /// The number of links that systems follow.
  private static let linkLimit = 40
  /// The entries by absolute path, without empty components, `.` and `..`.
  private var entries: [String: Entry] = [:]

  var paths: [String] { entries.keys.sorted() }

  subscript(path: String) -> Entry? { entries[path] }

  mutating func set(_ entry: Entry, at path: String) {
    entries[path] = entry
  }

  mutating func remove(_ path: String) {
    entries[path] = nil
  }

  /// Returns whether `path` is the folder of a file, or the root.
  func hasFolder(_ path: String) -> Bool {
    let prefix = path.hasSuffix("/") ? path : path + "/"
    return path == "/" || entries.keys.contains { $0.hasPrefix(prefix) }
  }

  /// Returns the file at `path`, after following links.
  func file(at path: String) throws(PersistenceError) -> InMemoryFile? {
    guard case .file(let file) = entries[try resolved(path)] else { return nil }
    return file
  }

  /// Returns the path of `file`; nil if it has been removed.
  func path(of file: InMemoryFile) -> String? {
    paths.first { path in
      if case .file(let other) = entries[path] { other === file } else { false }
    }
  }

  /// Returns `path` as an absolute path, with all links resolved.
  func resolved(_ path: String) throws(PersistenceError) -> String {
    var pending = Array(path.split(separator: "/").reversed())
    var resolved: [Substring] = []
    var linksLeft = Self.linkLimit
    while let component = pending.popLast() {
      if component == "." { continue }
      if component == ".." {
        _ = resolved.popLast()
        continue
      }
      resolved.append(component)
      guard case .link(let destination) = entries[Self.path(resolved)] else { continue }
      guard linksLeft > 0 else {
        throw PersistenceError(.fileReadFailed, "Too many symbolic links.", context: .init(path: path))
      }
      linksLeft -= 1
      if destination.hasPrefix("/") { resolved = [] } else { resolved.removeLast() }
      pending += destination.split(separator: "/").reversed()
    }
    return Self.path(resolved)
  }

  /// Returns `path` with all links resolved except a link at its end.
  func resolvedFolder(of path: String) throws(PersistenceError) -> String {
    let (folder, name) = PathParts.split(path)
    return PathParts.join(try resolved(folder), name)
  }

  private static func path(_ components: [Substring]) -> String {
    "/" + components.joined(separator: "/")
  }
}
