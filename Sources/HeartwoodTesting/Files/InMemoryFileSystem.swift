import HeartwoodFoundation
public import HeartwoodStore
import Synchronization

/// Files that are kept in memory: for tests that save and load without touching a disk.
///
///     let files = InMemoryFileSystem()
///     files.setContents(Array("#D35CF030-…".utf8), ofFileAtPath: "/todo.csv")
///
/// Folders need not be made: every file has those that its path names. Relative paths begin at the root. Locks wait as those of
/// the system do, between threads. Everything else is as in the system's files: links are followed, a file that is open stays
/// the same file when another takes its name, permissions are kept but not enforced, and every change of a file's bytes changes
/// its ``FileIdentity``.
public final class InMemoryFileSystem: FileSystem {
  private struct State {
    var names = InMemoryNames()
    var readOnlyFolders: Set<String> = []
    var lastNumber: UInt64 = 0
  }

  private let state = Mutex(State())
  private let clock = InMemoryClock()

  /// Makes a file system without files.
  public init() {}
}

// MARK: What a test does with it

extension InMemoryFileSystem {
  /// The paths of all files and links, sorted.
  public var paths: [String] { state.withLock { $0.names.paths } }

  /// The bytes of the file at `path`, after following symbolic links, or nil where there is none.
  public func contents(ofFileAtPath path: String) -> [UInt8]? {
    // try?: nil says that there is no such file.
    (try? state.withLock { state throws(PersistenceError) in try state.names.file(at: path) })?.bytes
  }

  /// Writes a file in place, as an editor does: a file that stands there stays the same file and keeps its permissions.
  ///
  /// - Parameters:
  ///   - bytes: what the file has from now on.
  ///   - path: where it is.
  ///   - permissions: those of a new file.
  /// - Throws: ``PersistenceError/Code/fileReadFailed`` where symbolic links lead in a circle.
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

  /// Sets the permission bits of the file at `path`. They are told and kept, but not enforced.
  ///
  /// - Throws: ``PersistenceError/Code/fileNotFound``.
  public func setPermissions(_ permissions: UInt32, ofFileAtPath path: String) throws(PersistenceError) {
    try existingFile(at: path).setPermissions(permissions)
  }

  /// Gives a file the permission bits of another one.
  public func copyPermissions(ofFileAtPath source: String, toPath destination: String) throws(PersistenceError) {
    if let permissions = try status(atPath: source)?.permissions {
      try setPermissions(permissions, ofFileAtPath: destination)
    }
  }

  /// Makes a symbolic link, which may lead to nothing. It replaces what stood at `path`.
  ///
  /// - Parameters:
  ///   - path: where the link is.
  ///   - destination: an absolute path, or one relative to the folder of the link.
  public func createSymbolicLink(atPath path: String, destination: String) throws(PersistenceError) {
    try state.withLock { state throws(PersistenceError) in
      state.names.set(.link(destination), at: try state.names.resolvedFolder(of: path))
    }
  }

  /// Makes a folder refuse to gain or lose names, or lets it again.
  public func setFolder(atPath path: String, isReadOnly: Bool) throws(PersistenceError) {
    try state.withLock { state throws(PersistenceError) in
      let folder = try state.names.resolved(path)
      if isReadOnly { state.readOnlyFolders.insert(folder) } else { state.readOnlyFolders.remove(folder) }
    }
  }
}

// MARK: What stores do with it

extension InMemoryFileSystem {
  /// What is at a path.
  public func status(atPath path: String) throws(PersistenceError) -> FileStatus? {
    try state.withLock { state throws(PersistenceError) in
      let resolved = try state.names.resolved(path)
      if case .file(let file) = state.names[resolved] { return file.status }
      return state.names.hasFolder(resolved) ? .inMemoryFolder : nil
    }
  }

  /// A path with its symbolic links followed.
  public func resolvingSymbolicLinks(inPath path: String) throws(PersistenceError) -> String {
    try state.withLock { state throws(PersistenceError) in try state.names.resolved(path) }
  }

  /// Opens a file for reading; it stays the same file when another takes its name.
  public func openFile(atPath path: String) throws(PersistenceError) -> any ReadableFile {
    InMemoryReadableFile(file: try existingFile(at: path), path: path, owner: self)
  }

  /// Opens a file for writing over parts of it.
  public func openFileForPatching(atPath path: String) throws(PersistenceError) -> (any PatchableFile)? {
    InMemoryPatchableFile(file: try existingFile(at: path), path: path)
  }

  /// The name of a file, or nil where it has none any more.
  func path(of file: InMemoryFile) -> String? { state.withLock { $0.names.path(of: file) } }

  /// Makes an empty file with a name that nobody else has.
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

  /// Removes what dead writers left beside a path.
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

  /// Gives a file another name in one step.
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
          "Somebody else has made the file meanwhile.",
          context: .init(path: destination)
        )
      }
      state.names.remove(old)
      state.names.set(.file(file), at: new)
    }
  }

  /// Does nothing: names in memory are kept at once.
  public func synchronizeDirectory(ofPath path: String) throws(PersistenceError) {}

  /// Removes a file; it is no error if there is none.
  public func removeFile(atPath path: String) throws(PersistenceError) {
    try state.withLock { state throws(PersistenceError) in
      let resolved = try state.names.resolvedFolder(of: path)
      try checkWritable(PathParts.split(resolved).directory, path: path, state)
      state.names.remove(resolved)
    }
  }

  /// Waits for the lock of a file and takes it.
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
  /// Folders are not kept, so they have no state that could change.
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

/// The names in an in-memory file system: which file or link stands at which path.
struct InMemoryNames: Sendable {
  enum Entry: Sendable {
    case file(InMemoryFile)
    case link(String)
  }

  /// As many links as a system follows.
  private static let linkLimit = 40
  /// By absolute path, without empty components, `.` or `..`.
  private var entries: [String: Entry] = [:]

  var paths: [String] { entries.keys.sorted() }

  subscript(path: String) -> Entry? { entries[path] }

  mutating func set(_ entry: Entry, at path: String) {
    entries[path] = entry
  }

  mutating func remove(_ path: String) {
    entries[path] = nil
  }

  /// Whether `path` is a folder of some file, or the root.
  func hasFolder(_ path: String) -> Bool {
    let prefix = path.hasSuffix("/") ? path : path + "/"
    return path == "/" || entries.keys.contains { $0.hasPrefix(prefix) }
  }

  /// The file at `path`, after following links.
  func file(at path: String) throws(PersistenceError) -> InMemoryFile? {
    guard case .file(let file) = entries[try resolved(path)] else { return nil }
    return file
  }

  /// The path of `file`, or nil where it has none.
  func path(of file: InMemoryFile) -> String? {
    paths.first { path in
      if case .file(let other) = entries[path] { other === file } else { false }
    }
  }

  /// `path` as an absolute path, with every link followed.
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

  /// `path` with every link followed but a last one.
  func resolvedFolder(of path: String) throws(PersistenceError) -> String {
    let (folder, name) = PathParts.split(path)
    return PathParts.join(try resolved(folder), name)
  }

  private static func path(_ components: [Substring]) -> String {
    "/" + components.joined(separator: "/")
  }
}
