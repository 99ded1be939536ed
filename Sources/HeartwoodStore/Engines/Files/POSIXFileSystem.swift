#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The system's files, accessed through POSIX calls.
public struct POSIXFileSystem: FileSystem {
  /// The greatest number of bytes that one call moves: some systems refuse 2 GiB and more.
  static let greatestTransfer = 1 << 30

  /// Makes a file system; all instances are equivalent.
  public init() {}

  /// Returns the status of the file at a path.
  public func status(atPath path: String) throws(PersistenceError) -> FileStatus? {
    var info = stat()
    guard stat(path, &info) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .system(.fileReadFailed, "The file's state cannot be read", path: path)
    }
    return FileStatus(info)
  }

  /// Returns a path with its symbolic links followed.
  public func resolvingSymbolicLinks(inPath path: String) throws(PersistenceError) -> String {
    if let resolved = realpath(path, nil) {
      defer { free(resolved) }
      return String(cString: resolved)
    }
    guard errno == ENOENT else { throw .system(.fileReadFailed, "The path cannot be resolved", path: path) }
    return try resolvingMissingFile(path, linksLeft: 40)
  }

  /// Resolves the path of a file that does not exist yet: its name may be a link whose destination does not exist.
  private func resolvingMissingFile(_ path: String, linksLeft: Int) throws(PersistenceError) -> String {
    let (directory, name) = PathParts.split(path)
    guard let resolvedDirectory = realpath(directory, nil) else {
      throw .system(
        .fileNotFound,
        "Its folder cannot be found",
        recovery: "Create it, or choose another name.",
        path: path
      )
    }
    defer { free(resolvedDirectory) }
    let resolved = PathParts.join(String(cString: resolvedDirectory), name)
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let length = buffer.withUnsafeMutableBytes { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        characters.baseAddress.map { readlink(resolved, $0, characters.count) } ?? 0
      }
    }
    guard length > 0 else { return resolved }
    guard linksLeft > 0 else {
      throw PersistenceError(.fileReadFailed, "Too many symbolic links.", context: .init(path: path))
    }
    let link = String(decoding: buffer[..<length], as: UTF8.self)
    let target = link.hasPrefix("/") ? link : PathParts.join(String(cString: resolvedDirectory), link)
    return try resolvingMissingFile(target, linksLeft: linksLeft - 1)
  }

  /// Opens a file for reading.
  public func openFile(atPath path: String) throws(PersistenceError) -> any ReadableFile {
    // Without O_NONBLOCK, opening a pipe would block until another process writes to it.
    let descriptor = HeldFiles.takeDescriptor(ofFileAt: path) ?? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw .system(errno == ENOENT ? .fileNotFound : .fileReadFailed, "The file cannot be opened", path: path)
    }
    let file = POSIXReadableFile(descriptor: descriptor, path: path)
    guard try file.status().isRegularFile else {
      throw PersistenceError(.fileReadFailed, "It is not a regular file.", context: .init(path: path))
    }
    return file
  }

  /// Opens a file to overwrite parts of it in place; nil if its permissions or the disk do not allow that.
  public func openFileForPatching(atPath path: String) throws(PersistenceError) -> (any PatchableFile)? {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
    if descriptor >= 0 { return POSIXPatchableFile(descriptor: descriptor, path: path) }
    // A new file may take the name all the same.
    if [EACCES, EPERM, EROFS, ETXTBSY].contains(errno) { return nil }
    throw .system(.fileWriteFailed, "The file cannot be opened for writing", path: path)
  }

  /// Creates an empty file with an unused name.
  public func createTemporaryFile(
    besidePath path: String,
    permissions: UInt32?
  ) throws(PersistenceError) -> any WritableFile {
    let (directory, name) = PathParts.split(path)
    for _ in 0..<100 {
      let candidate = PathParts.join(directory, TemporaryName.file.make(for: name))
      // No other user may open the file before it has the permissions of the old one.
      let mode = mode_t(permissions == nil ? 0o666 : 0o600)
      let descriptor = open(candidate, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
      if descriptor < 0, errno == EEXIST { continue }
      guard descriptor >= 0 else {
        throw .system(.fileWriteFailed, "No file can be created in the folder", path: path)
      }
      guard takeTemporaryFile(descriptor) else {
        close(descriptor)
        continue
      }
      if let permissions { keepOwnerAndPermissions(permissions, ofFileAt: path, on: descriptor) }
      return POSIXWritableFile(descriptor: descriptor, path: candidate)
    }
    throw PersistenceError(.fileWriteFailed, "No name is free for a temporary file.", context: .init(path: path))
  }

  /// Locks a new temporary file, which distinguishes it from one that a killed process left. Returns false if another
  /// process took it for such a file a moment before and removed it.
  private func takeTemporaryFile(_ descriptor: Int32) -> Bool {
    while flock(descriptor, LOCK_EX) != 0 {
      guard errno == EINTR else { return true }
    }
    var info = stat()
    return fstat(descriptor, &info) != 0 || info.st_nlink > 0
  }

  private func keepOwnerAndPermissions(_ permissions: UInt32, ofFileAt path: String, on descriptor: Int32) {
    var info = stat()
    // Only root may change the owner of files; for other users the owner is the same, or the file becomes theirs. They
    // may set one of their own groups.
    if stat(path, &info) == 0, fchown(descriptor, info.st_uid, info.st_gid) != 0 {
      _ = fchown(descriptor, uid_t.max, info.st_gid)
    }
    _ = fchmod(descriptor, mode_t(permissions))
  }

  /// Sets the permission bits of a file to those of another, and its owner too if that is allowed; a folder gets the
  /// bits that correspond to those of a file.
  public func copyPermissions(ofFileAtPath source: String, toPath destination: String) throws(PersistenceError) {
    guard let original = try status(atPath: source) else {
      throw PersistenceError(.fileNotFound, "There is no such file.", context: .init(path: source))
    }
    let descriptor = open(destination, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .system(.fileWriteFailed, "The permissions of the file cannot be set", path: destination)
    }
    defer { HeldFiles.close(descriptor) }
    let folderPermissions = original.isRegularFile ? Self.folderPermissions(descriptor, for: original.permissions) : nil
    keepOwnerAndPermissions(folderPermissions ?? original.permissions, ofFileAt: source, on: descriptor)
  }

  /// Returns whether this process may write the file at a path.
  public func isWritableFile(atPath path: String) -> Bool {
    faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 || ![EACCES, EPERM, EROFS].contains(errno)
  }

  /// Removes the temporary files that dead writers left beside a path.
  public func removeAbandonedTemporaryFiles(besidePath path: String) throws(PersistenceError) {
    let (directory, name) = PathParts.split(path)
    guard let stream = opendir(directory) else { return }
    defer { closedir(stream) }
    let target = HeldFiles.File(atPath: path)
    while let entry = readdir(stream) {
      let entryName = Self.name(entry)
      if TemporaryName.file.belongs(entryName, to: name) {
        removeIfAbandoned(PathParts.join(directory, entryName), besideFile: target)
      }
    }
  }

  private func removeIfAbandoned(_ path: String, besideFile target: HeldFiles.File?) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return }
    defer { HeldFiles.close(descriptor) }
    // A writer that died between link and unlink has left the file itself under a second name, and its lock is the
    // saver's.
    let isTarget = target != nil && HeldFiles.File(descriptor) == target
    if isTarget || flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
  }

  /// Renames a file in one step.
  public func moveFile(
    atPath source: String,
    toPath destination: String,
    exclusively: Bool
  ) throws(PersistenceError) {
    guard exclusively else { return try rename(source, to: destination) }
    // A link fails if the name is taken; a rename would replace the file.
    if link(source, destination) == 0 {
      unlink(source)
      return
    }
    switch errno {
    case EEXIST: throw .system(.fileExists, Self.fileIsMade, path: destination)
    case EPERM, ENOTSUP, EOPNOTSUPP, ENOSYS: break
    default: throw .system(.fileWriteFailed, "The new file cannot be renamed", path: destination)
    }
    // Some file systems have no links. There, this detects which process came first, except for a short moment.
    var info = stat()
    guard lstat(destination, &info) != 0 else {
      throw PersistenceError(.fileExists, "\(Self.fileIsMade).", context: .init(path: destination))
    }
    try rename(source, to: destination)
  }

  private static let fileIsMade = "Another process has created the file in the meantime"

  /// Returns the name in an entry that `readdir` has found.
  static func name(_ entry: UnsafeMutablePointer<dirent>) -> String {
    withUnsafePointer(to: &entry.pointee.d_name) { pointer in
      pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
    }
  }

  private func rename(_ source: String, to destination: String) throws(PersistenceError) {
    #if canImport(Darwin)
      let result = Darwin.rename(source, destination)
    #elseif canImport(Musl)
      let result = Musl.rename(source, destination)
    #else
      let result = Glibc.rename(source, destination)
    #endif
    guard result == 0 else {
      throw .system(.fileWriteFailed, "The new file cannot replace the old one", path: destination)
    }
  }

  /// Waits until the names in a directory are on the disk.
  public func synchronizeDirectory(ofPath path: String) throws(PersistenceError) {
    let (directory, _) = PathParts.split(path)
    let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(.fileWriteFailed, "The folder cannot be flushed", path: path) }
    defer { close(descriptor) }
    // Some file systems do not flush directories and report that; their names are as safe as they can be.
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
      throw .system(.fileWriteFailed, "The folder cannot be flushed", path: path)
    }
  }

  /// Waits until the bytes of an open file are on the disk.
  static func flush(_ descriptor: Int32, path: String) throws(PersistenceError) {
    #if canImport(Darwin)
      // Only this call makes the disk write the bytes in its own cache.
      let result = fcntl(descriptor, F_FULLFSYNC) == -1 ? fsync(descriptor) : 0
    #else
      let result = fsync(descriptor)
    #endif
    guard result == 0 else { throw .system(.fileWriteFailed, "The file cannot be flushed", path: path) }
  }

  /// Removes a file; it is no error if there is none.
  public func removeFile(atPath path: String) throws(PersistenceError) {
    guard unlink(path) == 0 || errno == ENOENT else {
      throw .system(.fileWriteFailed, "The file cannot be removed", path: path)
    }
  }

  /// Waits for the lock of a file and takes it.
  public func lockFile(atPath path: String) throws(PersistenceError) -> (any FileLock)? {
    lock(path, LOCK_EX)
  }

  /// Takes the lock of a file; returns nil if another process holds it.
  public func lockFileIfFree(atPath path: String) -> (any FileLock)? {
    lock(path, LOCK_EX | LOCK_NB)
  }

  private func lock(_ path: String, _ operation: Int32) -> (any FileLock)? {
    let descriptor = HeldFiles.takeDescriptor(ofFileAt: path) ?? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    while flock(descriptor, operation) != 0 {
      if errno == EWOULDBLOCK {
        HeldFiles.close(descriptor)
        return nil
      }
      // On a file system without locks only the check of the identity remains, which detects everything but a race.
      guard errno == EINTR else { break }
    }
    return POSIXFileLock(descriptor: descriptor)
  }
}

extension FileStatus {
  init(_ info: stat) {
    #if canImport(Darwin)
      let modified = info.st_mtimespec
    #else
      let modified = info.st_mtim
    #endif
    self.init(
      identity: FileIdentity(
        device: UInt64(truncatingIfNeeded: info.st_dev),
        number: UInt64(info.st_ino),
        size: Int(info.st_size),
        modificationSeconds: Int64(modified.tv_sec),
        modificationNanoseconds: Int64(modified.tv_nsec)
      ),
      size: Int(info.st_size),
      permissions: UInt32(info.st_mode) & 0o7777,
      isRegularFile: UInt32(info.st_mode) & UInt32(S_IFMT) == UInt32(S_IFREG)
    )
  }
}

private struct POSIXFileLock: FileLock {
  let descriptor: Int32

  func release() {
    // The descriptor may stay open, and the lock belongs to it.
    flock(descriptor, LOCK_UN)
    HeldFiles.close(descriptor)
  }
}

// MARK: Folders

// MARK: Folders

extension POSIXFileSystem {
  /// Returns the entries of a folder. Does not follow a symbolic link at the path: entries that are removed must not be
  /// those of another folder.
  public func entries(ofFolderAtPath path: String) throws(PersistenceError) -> [FolderEntry] {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return [] }
      throw .system(.fileReadFailed, "The folder cannot be read", path: path)
    }
    guard let stream = fdopendir(descriptor) else {
      close(descriptor)
      throw .system(.fileReadFailed, "The folder cannot be read", path: path)
    }
    defer { closedir(stream) }
    var entries: [FolderEntry] = []
    while let entry = readdir(stream) {
      let name = Self.name(entry)
      if name != ".", name != ".." { entries.append(FolderEntry(name: name, kind: Self.kind(name, in: descriptor))) }
    }
    return entries
  }

  private static func kind(_ name: String, in folder: Int32) -> FolderEntry.Kind {
    var info = stat()
    guard fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return .other }
    return switch UInt32(info.st_mode) & UInt32(S_IFMT) {
    case UInt32(S_IFREG): .file
    case UInt32(S_IFDIR): .folder
    default: .other
    }
  }

  /// Creates a folder; it is no error if it is already there.
  public func createFolder(atPath path: String) throws(PersistenceError) {
    guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
      throw .system(.fileWriteFailed, "The folder cannot be created", path: path)
    }
  }

  /// Returns the permission bits of an open folder for files with `permissions`; nil if it is no folder. Users that may
  /// read such files may search the folder, users that may write them may add to it, and so may the owner. The bit that
  /// gives files the group of the folder stays as it is.
  static func folderPermissions(_ descriptor: Int32, for permissions: UInt32) -> UInt32? {
    var info = stat()
    guard fstat(descriptor, &info) == 0, UInt32(info.st_mode) & UInt32(S_IFMT) == UInt32(S_IFDIR) else { return nil }
    let searching = (permissions & 0o444) >> 2
    return UInt32(info.st_mode) & 0o7000 | 0o700 | permissions & 0o666 | searching
  }

  /// Removes a folder, unless it has entries.
  public func removeFolder(atPath path: String) throws(PersistenceError) {
    guard rmdir(path) == 0 || [ENOENT, ENOTEMPTY, EEXIST].contains(errno) else {
      throw .system(.fileWriteFailed, "The folder cannot be removed", path: path)
    }
  }
}

// MARK: POSIXError

extension PersistenceError {
  /// Returns the error of a system call that has failed and has left its reason in `errno`.
  static func system(
    _ code: Code,
    _ message: String,
    recovery: Recovery? = nil,
    path: String
  ) -> PersistenceError {
    let number = errno
    return PersistenceError(
      code,
      "\(message): \(String(cString: strerror(number))).",
      recovery: recovery,
      context: Context(path: path, systemError: number)
    )
  }
}
