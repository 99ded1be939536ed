import Dispatch
import HeartwoodFoundation
import HeartwoodStore
import Synchronization

/// A file of an in-memory file system, independent of its names.
final class InMemoryFile: Sendable {
  private struct State {
    var bytes: [UInt8] = []
    var permissions: UInt32
    var modification: Int64
    var isBeingWritten = false
  }

  private let number: UInt64
  private let clock: InMemoryClock
  private let state: Mutex<State>
  /// The lock of the file. Its initial value is 0, because a semaphore must not be released while its value is less
  /// than the initial one.
  private let gate = DispatchSemaphore(value: 0)

  init(number: UInt64, permissions: UInt32, clock: InMemoryClock) {
    self.number = number
    self.clock = clock
    state = Mutex(State(permissions: permissions, modification: clock.next()))
    gate.signal()
  }

  var bytes: [UInt8] { state.withLock { $0.bytes } }

  var status: FileStatus {
    state.withLock { state in
      FileStatus(
        identity: FileIdentity(
          device: 0,
          number: number,
          size: state.bytes.count,
          modificationSeconds: state.modification,
          modificationNanoseconds: 0
        ),
        size: state.bytes.count,
        permissions: state.permissions,
        isRegularFile: true
      )
    }
  }

  func setPermissions(_ permissions: UInt32) {
    state.withLock { $0.permissions = permissions }
  }

  func replaceBytes(_ bytes: [UInt8]) {
    state.withLock { state in
      state.bytes = bytes
      state.modification = clock.next()
    }
  }

  func append(_ bytes: UnsafeRawBufferPointer) {
    state.withLock { state in
      state.bytes.append(contentsOf: bytes)
      state.modification = clock.next()
    }
  }

  /// Overwrites bytes from `offset` on, which is at most the length. The file grows if they go beyond its end.
  func patch(_ bytes: [UInt8], at offset: Int) {
    state.withLock { state in
      guard offset >= 0, offset <= state.bytes.count else { return }
      state.bytes.replaceSubrange(offset..<min(offset + bytes.count, state.bytes.count), with: bytes)
      state.modification = clock.next()
    }
  }

  func truncate(to length: Int) {
    state.withLock { state in
      state.bytes.removeLast(max(0, state.bytes.count - length))
      state.modification = clock.next()
    }
  }

  /// Copies bytes from `offset` on into `buffer`, and returns their number.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    state.withLock { state in
      guard offset >= 0, offset < state.bytes.count else { return 0 }
      let part = state.bytes[offset...].prefix(buffer.count)
      buffer.copyBytes(from: part)
      return part.count
    }
  }

  /// Whether a writer has the file open, so that it is not abandoned.
  var isBeingWritten: Bool {
    get { state.withLock { $0.isBeingWritten } }
    set { state.withLock { $0.isBeingWritten = newValue } }
  }

  func lock() {
    gate.wait()
  }

  func unlock() {
    gate.signal()
  }
}

/// Gives every change a different time, which real clocks do not.
final class InMemoryClock: Sendable {
  private let time = Atomic<Int64>(0)

  func next() -> Int64 { time.wrappingAdd(1, ordering: .relaxed).newValue }
}

// MARK: InMemoryFileHandles

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

/// A file of an in-memory file system that is overwritten in parts.
struct InMemoryPatchableFile: PatchableFile {
  let file: InMemoryFile
  let path: String

  func write(_ bytes: [UInt8], at offset: Int) throws(PersistenceError) {
    file.patch(bytes, at: offset)
  }

  func truncate(to length: Int) throws(PersistenceError) {
    file.truncate(to: length)
  }

  func synchronize() throws(PersistenceError) {}
}

/// A lock of a file in an in-memory file system.
struct InMemoryFileLock: FileLock {
  private let file: InMemoryFile

  /// Waits until the lock is free, and takes it.
  init(_ file: InMemoryFile) {
    self.file = file
    file.lock()
  }

  func release() {
    file.unlock()
  }
}
