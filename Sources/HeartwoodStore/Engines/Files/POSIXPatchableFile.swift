#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A file whose bytes POSIX calls write over.
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

  /// The clock by which systems note changes may stand still for milliseconds, in which somebody may have opened the file. This one does
  /// not. Only the owner may set the time; for others it is as the system has it.
  private func noteTime() {
    var now = timespec()
    guard clock_gettime(CLOCK_REALTIME, &now) == 0 else { return }
    _ = futimens(descriptor, [now, now])
  }

  func synchronize() throws(PersistenceError) {
    try POSIXFileSystem.flush(descriptor, path: path)
  }
}
