import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that is read with POSIX calls.
final class POSIXReadableFile: ReadableFile {
  let descriptor: Int32
  let path: String

  init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit {
    HeldFiles.close(descriptor)
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
      let room = min(buffer.count - filled, POSIXFileSystem.greatestTransfer)
      let count = pread(descriptor, base + filled, room, off_t(offset + filled))
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

  func currentPath() throws(PersistenceError) -> String? {
    guard let path = systemPath() else { return nil }
    // For a file without a name, the system may report its last name, which another file may have by now.
    let found = try POSIXFileSystem().status(atPath: path)?.identity
    return try found?.isSameFile(as: status().identity) == true ? path : nil
  }

  /// Returns the path that the system reports for the open file.
  private func systemPath() -> String? {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let length = buffer.withUnsafeMutableBytes { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        characters.baseAddress.map { Self.readPath(of: descriptor, into: $0, characters.count) } ?? 0
      }
    }
    return length > 0 ? String(validating: buffer[..<length], as: UTF8.self) : nil
  }

  #if canImport(Darwin)
    private static func readPath(of file: Int32, into buffer: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Int {
      // The call needs a buffer of PATH_MAX bytes, and terminates the path with a zero.
      fcntl(file, F_GETPATH, buffer) == 0 ? strlen(buffer) : 0
    }
  #else
    private static func readPath(of file: Int32, into buffer: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Int {
      readlink("/proc/self/fd/\(file)", buffer, capacity)
    }
  #endif
}

// MARK: POSIXWritableFile

/// A file that is written with POSIX calls.
final class POSIXWritableFile: WritableFile {
  let descriptor: Int32
  let path: String
  private let writtenCount = Atomic(0)
  /// The number of written bytes for which writing to the disk has been started.
  private let startedCount = Atomic(0)
  /// The tasks that use the descriptor on other threads.
  private let writeBack = Mutex<[StealableTask<Void>]>([])

  init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(PersistenceError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let chunk = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.writeBackStep))
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
      startWriteBack(afterWriting: count)
    }
  }

  /// Makes the system begin to write the bytes so far to the disk, without waiting: when the file is flushed, most of
  /// it is there already.
  private func startWriteBack(afterWriting count: Int) {
    #if !canImport(Darwin)
      let written = writtenCount.wrappingAdd(count, ordering: .relaxed).newValue
      let started = startedCount.load(ordering: .relaxed)
      guard written - started >= Self.writeBackStep else { return }
      startedCount.store(written, ordering: .relaxed)
      // Allocating space on the disk takes the system a while, in which the caller can make the next bytes.
      let task = StealableTask { [descriptor] in
        // Linux answers this advice by writing bytes that are not on the disk yet. They stay in memory meanwhile. A
        // failure shows when the file is flushed.
        _ = posix_fadvise(descriptor, off_t(started), off_t(written - started), POSIX_FADV_DONTNEED)
      }
      writeBack.withLock { $0.append(task) }
    #endif
  }

  /// Ends all use of the descriptor on other threads. Tasks that have not begun are not needed: a flush writes all
  /// bytes.
  private func endWriteBack() {
    let tasks = writeBack.withLock { tasks in
      defer { tasks = [] }
      return tasks
    }
    for task in tasks { task.callOff() }
  }

  /// Far less than the 2 GiB beyond which Darwin refuses to transfer at once.
  private static let writeBackStep = 1 << 22

  func synchronize() throws(PersistenceError) {
    // For bytes that are on the disk already, the advice would evict them from memory.
    endWriteBack()
    try POSIXFileSystem.flush(descriptor, path: path)
  }

  func close() throws(PersistenceError) {
    endWriteBack()
    guard HeldFiles.close(descriptor, isReadable: false) == 0 || errno == EINTR else {
      throw .system(.fileWriteFailed, "The file cannot be closed", path: path)
    }
  }
}

// MARK: POSIXPatchableFile

/// A file whose bytes are overwritten with POSIX calls.
final class POSIXPatchableFile: PatchableFile {
  let descriptor: Int32
  let path: String

  init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  deinit {
    HeldFiles.close(descriptor, isReadable: false)
  }

  func write(_ bytes: [UInt8], at offset: Int) throws(PersistenceError) {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { rest in
        pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + written))
      }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system(.fileWriteFailed, "The file cannot be written", path: path) }
      written += count
    }
    noteTime()
  }

  func truncate(to length: Int) throws(PersistenceError) {
    var result = ftruncate(descriptor, off_t(length))
    while result != 0, errno == EINTR { result = ftruncate(descriptor, off_t(length)) }
    guard result == 0 else { throw .system(.fileWriteFailed, "The file cannot be cut", path: path) }
    noteTime()
  }

  /// Sets the time of modification. The clock that systems use for it may stand still for milliseconds, in which
  /// another process may have opened the file; this clock does not. Only the owner may set the time; for other users it
  /// stays as the system set it.
  private func noteTime() {
    var now = timespec()
    guard clock_gettime(CLOCK_REALTIME, &now) == 0 else { return }
    _ = futimens(descriptor, [now, now])
  }

  func synchronize() throws(PersistenceError) {
    try POSIXFileSystem.flush(descriptor, path: path)
  }
}
