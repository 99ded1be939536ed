/// A file of an in-memory file system that is open for reading.
struct InMemoryReadableFile: ReadableFile {
  let file: InMemoryFile
  let path: String
  let owner: InMemoryFileSystem

  func status() throws(PersistenceError) -> FileStatus { file.status }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(PersistenceError) -> Int {
    file.read(into: buffer, at: offset)
  }

  func mapped() throws(PersistenceError) -> FileBytes { FileBytes(copying: file.bytes) }

  func currentPath() throws(PersistenceError) -> String? { owner.path(of: file) }
}

/// A new file of an in-memory file system.
struct InMemoryWritableFile: WritableFile {
  private let file: InMemoryFile
  let path: String

  init(file: InMemoryFile, path: String) {
    self.file = file
    self.path = path
    file.isBeingWritten = true
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(PersistenceError) {
    file.append(bytes)
  }

  func synchronize() throws(PersistenceError) {}

  func close() throws(PersistenceError) {
    file.isBeingWritten = false
  }
}

/// A file of an in-memory file system that is written over.
struct InMemoryPatchableFile: PatchableFile {
  let file: InMemoryFile
  let path: String

  func write(_ bytes: [UInt8], at offset: Int) throws(PersistenceError) {
    file.patch(bytes, at: offset)
  }

  func synchronize() throws(PersistenceError) {}
}

/// A lock on a file of an in-memory file system.
struct InMemoryFileLock: FileLock {
  private let file: InMemoryFile

  /// Waits until nobody else has the lock.
  init(_ file: InMemoryFile) {
    self.file = file
    file.lock()
  }

  func release() {
    file.unlock()
  }
}
