#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file that POSIX calls write.
final class POSIXWritableFile: WritableFile {
  let descriptor: Int32
  let path: String

  init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(PersistenceError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let chunk = UnsafeRawBufferPointer(rebasing: rest.prefix(POSIXFileSystem.greatestTransfer))
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
