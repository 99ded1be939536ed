import Synchronization

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
  private let writtenCount = Atomic(0)
  /// How many of the bytes written are on their way to the disk.
  private let startedCount = Atomic(0)
  /// What uses the descriptor on other threads.
  private let writeBack = Mutex<[Errand<Void>]>([])

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

  /// Lets the system begin to bring to the disk what has been written, without waiting: when the file is flushed, most of it is
  /// there.
  private func startWriteBack(afterWriting count: Int) {
    #if !canImport(Darwin)
      let written = writtenCount.wrappingAdd(count, ordering: .relaxed).newValue
      let started = startedCount.load(ordering: .relaxed)
      guard written - started >= Self.writeBackStep else { return }
      startedCount.store(written, ordering: .relaxed)
      // Finding places on the disk takes the system a while, in which the next bytes can be made.
      let errand = Errand { [descriptor] in
        // Linux answers this advice by writing bytes that are not on the disk yet. They stay in memory meanwhile. A failure shows
        // when the file is flushed.
        _ = posix_fadvise(descriptor, off_t(started), off_t(written - started), POSIX_FADV_DONTNEED)
      }
      writeBack.withLock { $0.append(errand) }
    #endif
  }

  /// Lets nothing use the descriptor on another thread any more. What has not begun is not missed: a flush writes all bytes.
  private func endWriteBack() {
    let errands = writeBack.withLock { errands in
      defer { errands = [] }
      return errands
    }
    for errand in errands { errand.callOff() }
  }

  /// Far less than the 2 GiB beyond which Darwin refuses to transfer at once.
  private static let writeBackStep = 1 << 22

  func synchronize() throws(PersistenceError) {
    // Of a file that is on the disk the advice would take the bytes out of the memory.
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
