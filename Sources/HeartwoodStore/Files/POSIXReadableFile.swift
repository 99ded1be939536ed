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
}
