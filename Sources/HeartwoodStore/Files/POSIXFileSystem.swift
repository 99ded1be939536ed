#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The files of the system, through POSIX calls.
public struct POSIXFileSystem: FileSystem {
  public init() {}

  public func status(atPath path: String) throws(PersistenceError) -> FileStatus? {
    var info = stat()
    guard stat(path, &info) == 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .system(.fileReadFailed, "The file's state cannot be read", path: path)
    }
    return FileStatus(info)
  }

  public func resolvingSymbolicLinks(inPath path: String) throws(PersistenceError) -> String {
    if let resolved = realpath(path, nil) {
      defer { free(resolved) }
      return String(cString: resolved)
    }
    guard errno == ENOENT else { throw .system(.fileReadFailed, "The path cannot be resolved", path: path) }
    return try resolvingMissingFile(path, linksLeft: 40)
  }

  /// The path of a file that is not there yet: its name may be a link that leads to nothing.
  private func resolvingMissingFile(_ path: String, linksLeft: Int) throws(PersistenceError) -> String {
    let (directory, name) = PathParts.split(path)
    guard let resolvedDirectory = realpath(directory, nil) else {
      throw .system(.fileNotFound, "The folder \(directory) cannot be found", path: path)
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

  public func openFile(atPath path: String) throws(PersistenceError) -> any ReadableFile {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .system(errno == ENOENT ? .fileNotFound : .fileReadFailed, "The file cannot be opened", path: path)
    }
    let file = POSIXReadableFile(descriptor: descriptor, path: path)
    guard try file.status().isRegularFile else {
      throw PersistenceError(.fileReadFailed, "It is not a regular file.", context: .init(path: path))
    }
    return file
  }

  public func createTemporaryFile(
    besidePath path: String,
    permissions: UInt32?
  ) throws(PersistenceError) -> any WritableFile {
    let (directory, name) = PathParts.split(path)
    for _ in 0..<100 {
      let candidate = PathParts.join(directory, TemporaryName.make(for: name))
      let descriptor = open(candidate, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(0o666))
      if descriptor < 0, errno == EEXIST { continue }
      guard descriptor >= 0 else {
        throw .system(.fileWriteFailed, "No file can be made in the folder", path: path)
      }
      // The lock tells a file that is being written from one that a killed process left.
      _ = flock(descriptor, LOCK_EX | LOCK_NB)
      if let permissions { _ = fchmod(descriptor, mode_t(permissions)) }
      return POSIXWritableFile(descriptor: descriptor, path: candidate)
    }
    throw PersistenceError(.fileWriteFailed, "No name is free for a temporary file.", context: .init(path: path))
  }

  public func removeAbandonedTemporaryFiles(besidePath path: String) throws(PersistenceError) {
    let (directory, name) = PathParts.split(path)
    guard let stream = opendir(directory) else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let entryName = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if TemporaryName.belongs(entryName, to: name) { removeIfAbandoned(PathParts.join(directory, entryName)) }
    }
  }

  private func removeIfAbandoned(_ path: String) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
  }

  public func moveFile(
    atPath source: String,
    toPath destination: String,
    exclusively: Bool
  ) throws(PersistenceError) {
    if exclusively {
      // A link is refused where the name is taken; a rename would replace.
      guard link(source, destination) == 0 else {
        if errno == EEXIST {
          throw .system(.fileExists, "Somebody else has made the file meanwhile", path: destination)
        }
        return try rename(source, to: destination)
      }
      unlink(source)
    } else {
      try rename(source, to: destination)
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
      throw .system(.fileWriteFailed, "The new file cannot take the name of the old one", path: destination)
    }
  }

  public func synchronizeDirectory(ofPath path: String) throws(PersistenceError) {
    let (directory, _) = PathParts.split(path)
    let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(.fileWriteFailed, "The folder cannot be flushed", path: path) }
    defer { close(descriptor) }
    // Some file systems do not flush directories and say so; their names are as safe as they can be.
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
      throw .system(.fileWriteFailed, "The folder cannot be flushed", path: path)
    }
  }

  public func removeFile(atPath path: String) throws(PersistenceError) {
    guard unlink(path) == 0 || errno == ENOENT else {
      throw .system(.fileWriteFailed, "The file cannot be removed", path: path)
    }
  }

  public func lockFile(atPath path: String) throws(PersistenceError) -> (any FileLock)? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    while flock(descriptor, LOCK_EX) != 0 {
      // A file system without locks leaves the check of the identity, which catches all but a race.
      guard errno == EINTR else { break }
    }
    return POSIXFileLock(descriptor: descriptor)
  }
}

extension FileStatus {
  fileprivate init(_ info: stat) {
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

extension PersistenceError {
  /// A system call has failed and has left its reason in `errno`.
  fileprivate static func system(_ code: Code, _ message: String, path: String) -> PersistenceError {
    let number = errno
    return PersistenceError(
      code,
      "\(message): \(String(cString: strerror(number))).",
      context: Context(path: path, systemError: number)
    )
  }
}

private struct POSIXFileLock: FileLock {
  let descriptor: Int32

  func release() {
    close(descriptor)
  }
}

private final class POSIXReadableFile: ReadableFile {
  let descriptor: Int32
  let path: String

  init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit {
    close(descriptor)
  }

  func status() throws(PersistenceError) -> FileStatus {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else {
      throw .system(.fileReadFailed, "The file's state cannot be read", path: path)
    }
    return FileStatus(info)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(PersistenceError) -> Int {
    var filled = 0
    while filled < buffer.count, let base = buffer.baseAddress {
      let count = pread(descriptor, base + filled, buffer.count - filled, off_t(offset + filled))
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system(.fileReadFailed, "The file cannot be read", path: path) }
      if count == 0 { break }
      filled += count
    }
    return filled
  }

  func mapped() throws(PersistenceError) -> FileBytes {
    let size = try status().size
    guard size > 0 else { return FileBytes(copying: []) }
    let base = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0)
    guard let base, base != MAP_FAILED else {
      throw .system(.fileReadFailed, "The file cannot be mapped", path: path)
    }
    return FileBytes(ByteRegion.unsafeAdopting(mapping: base, count: size))
  }
}

private final class POSIXWritableFile: WritableFile {
  let descriptor: Int32
  let path: String

  init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(PersistenceError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let chunk = UnsafeRawBufferPointer(rebasing: rest)
      #if canImport(Darwin)
        let count = Darwin.write(descriptor, chunk.baseAddress, chunk.count)
      #elseif canImport(Musl)
        let count = Musl.write(descriptor, chunk.baseAddress, chunk.count)
      #else
        let count = Glibc.write(descriptor, chunk.baseAddress, chunk.count)
      #endif
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system(.fileWriteFailed, "The file cannot be written", path: path) }
      rest = rest.dropFirst(count)
    }
  }

  func synchronize() throws(PersistenceError) {
    #if canImport(Darwin)
      // Only this call makes the disk write what it holds in its own memory.
      let result = fcntl(descriptor, F_FULLFSYNC) == -1 ? fsync(descriptor) : 0
    #else
      let result = fsync(descriptor)
    #endif
    guard result == 0 else { throw .system(.fileWriteFailed, "The file cannot be flushed", path: path) }
  }

  func close() throws(PersistenceError) {
    #if canImport(Darwin)
      let result = Darwin.close(descriptor)
    #elseif canImport(Musl)
      let result = Musl.close(descriptor)
    #else
      let result = Glibc.close(descriptor)
    #endif
    guard result == 0 || errno == EINTR else {
      throw .system(.fileWriteFailed, "The file cannot be closed", path: path)
    }
  }
}
