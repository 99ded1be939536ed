#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that POSIX calls read.
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
    // A file that has no name any more may be told by its last one, and another may have that by now.
    let found = try POSIXFileSystem().status(atPath: path)?.identity
    return try found?.isSameFile(as: status().identity) == true ? path : nil
  }

  /// What the system calls the file that is open.
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
      // The call asks for a buffer of PATH_MAX bytes, and ends what it writes with a zero.
      fcntl(file, F_GETPATH, buffer) == 0 ? strlen(buffer) : 0
    }
  #else
    private static func readPath(of file: Int32, into buffer: UnsafeMutablePointer<CChar>, _ capacity: Int) -> Int {
      readlink("/proc/self/fd/\(file)", buffer, capacity)
    }
  #endif
}
