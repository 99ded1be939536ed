import Dispatch
public import Heartwood
import Synchronization

/// A file system for tests, in which any operation can fail or "crash".
///
/// It counts the operations, from 1, and passes them on to another file system. A test runs a save once to find out how
/// many operations it takes, and then once for each operation, with a fault at that operation:
///
///     let files = FaultInjectingFileSystem(wrapping: InMemoryFileSystem())
///     try save(files)
///     for step in 1...files.operations.count {
///       files.restart()
///       files.crash(atOperation: step)
///       _ = try? save(files)
///       files.restart()
///       // The file now has the old contents or the new ones.
///     }
public final class FaultInjectingFileSystem: FileSystem {
  private let base: any FileSystem
  private let plan = Mutex(FaultPlan())
  private let diskStall = DiskStall()

  /// Creates a file system over `base`, without faults.
  public init(wrapping base: any FileSystem) {
    self.base = base
  }
}

// MARK: For tests

extension FaultInjectingFileSystem {
  /// The operations since the beginning or the last ``restart()``, including those that failed.
  public var operations: [FileOperation] { plan.withLock { $0.operations } }

  /// Whether a crash has happened since the last ``restart()``.
  public var hasCrashed: Bool { plan.withLock { $0.hasCrashed } }

  /// Makes one operation fail. Later operations are not affected. If the operation is a write, half of the bytes reach
  /// the file.
  ///
  /// - Parameters:
  ///   - number: the number of the operation, counted from 1 since the beginning or the last ``restart()``.
  ///   - error: the error to throw. By default, it is the error of a full disk.
  public func failOperation(_ number: Int, with error: PersistenceError? = nil) {
    plan.withLock { $0.failures[number] = error ?? .fullDisk(nil) }
  }

  /// Makes an operation and all later ones fail without effect until ``restart()``, as if the process had crashed. If
  /// the operation is a write, half of the bytes reach the file.
  ///
  /// - Parameter number: the number of the operation, counted from 1 since the beginning or the last ``restart()``.
  public func crash(atOperation number: Int) {
    plan.withLock { $0.crashPoint = number }
  }

  /// Makes writes to new files fail as on a full disk, after `count` more bytes. Writes over parts of an existing file
  /// are not limited.
  public func limitWrites(toByteCount count: Int) {
    plan.withLock { $0.bytesLeft = count }
  }

  /// Makes flushes of files and folders wait until ``endStall()``, as on a busy disk.
  ///
  /// A test must call ``endStall()`` in every case: a waiting flush cannot be cancelled.
  public func stall() { diskStall.begin() }

  /// Continues the waiting flushes.
  public func endStall() { diskStall.end() }

  /// The number of flushes that wait.
  public var stalledCount: Int { diskStall.waitingCount }

  /// Removes all faults and forgets the operations, as if a new process began. Files that were left open are closed and
  /// locks are released, as the system does when a process ends. Files that were opened before can no longer be used.
  public func restart() {
    let orphans = plan.withLock { $0.restart() }
    for file in orphans.files { try? file.close() }
    for lock in orphans.locks { lock.release() }
  }
}

// MARK: For stores

extension FaultInjectingFileSystem {
  /// Returns the status of the file or folder at a path, unless a fault is planned.
  public func status(atPath path: String) throws(PersistenceError) -> FileStatus? {
    try admit(.status(path: path))
    return try base.status(atPath: path)
  }

  /// Returns a path with its symbolic links resolved, unless a fault is planned.
  public func resolvingSymbolicLinks(inPath path: String) throws(PersistenceError) -> String {
    try admit(.resolveSymbolicLinks(path: path))
    return try base.resolvingSymbolicLinks(inPath: path)
  }

  /// Opens a file for reading, unless a fault is planned.
  public func openFile(atPath path: String) throws(PersistenceError) -> any ReadableFile {
    let life = try admit(.open(path: path))
    return FaultInjectingReadableFile(base: try base.openFile(atPath: path), owner: self, life: life)
  }

  /// Creates an empty file with a unique name, unless a fault is planned.
  public func createTemporaryFile(
    besidePath path: String,
    permissions: UInt32?
  ) throws(PersistenceError) -> any WritableFile {
    let life = try admit(.createTemporaryFile(besidePath: path))
    let file = try base.createTemporaryFile(besidePath: path, permissions: permissions)
    let handle = plan.withLock { $0.note(file) }
    return FaultInjectingWritableFile(base: file, owner: self, life: life, handle: handle)
  }

  /// Opens a file to overwrite parts of it, unless a fault is planned.
  public func openFileForPatching(atPath path: String) throws(PersistenceError) -> (any PatchableFile)? {
    let life = try admit(.openForPatching(path: path))
    return try base.openFileForPatching(atPath: path).map {
      FaultInjectingPatchableFile(base: $0, owner: self, life: life)
    }
  }

  /// Removes temporary files that ended processes have left for a path, unless a fault is planned.
  public func removeAbandonedTemporaryFiles(besidePath path: String) throws(PersistenceError) {
    try admit(.removeAbandonedTemporaryFiles(besidePath: path))
    try base.removeAbandonedTemporaryFiles(besidePath: path)
  }

  /// Renames a file in one step, unless a fault is planned.
  public func moveFile(
    atPath source: String,
    toPath destination: String,
    exclusively: Bool
  ) throws(PersistenceError) {
    try admit(.move(source: source, destination: destination, exclusively: exclusively))
    try base.moveFile(atPath: source, toPath: destination, exclusively: exclusively)
  }

  /// Waits until the names in a directory are on the disk, unless a fault is planned.
  public func synchronizeDirectory(ofPath path: String) throws(PersistenceError) {
    diskStall.wait()
    try admit(.synchronizeDirectory(ofPath: path))
    try base.synchronizeDirectory(ofPath: path)
  }

  /// Removes a file, unless a fault is planned.
  public func removeFile(atPath path: String) throws(PersistenceError) {
    try admit(.remove(path: path))
    try base.removeFile(atPath: path)
  }

  /// Waits for the lock of a file and takes it, unless a fault is planned.
  public func lockFile(atPath path: String) throws(PersistenceError) -> (any FileLock)? {
    try admit(.lock(path: path))
    guard let lock = try base.lockFile(atPath: path) else { return nil }
    return FaultInjectingLock(owner: self, handle: plan.withLock { $0.note(lock) })
  }

  /// Returns the contents of a folder, unless a fault is planned. It counts as a request for the folder's status.
  public func entries(ofFolderAtPath path: String) throws(PersistenceError) -> [FolderEntry] {
    try admit(.status(path: path))
    return try base.entries(ofFolderAtPath: path)
  }

  /// Creates a folder, unless a fault is planned. It counts as the creation of a file.
  public func createFolder(atPath path: String) throws(PersistenceError) {
    try admit(.createTemporaryFile(besidePath: path))
    try base.createFolder(atPath: path)
  }

  /// Removes an empty folder, unless a fault is planned. It counts as the removal of a file.
  public func removeFolder(atPath path: String) throws(PersistenceError) {
    try admit(.remove(path: path))
    try base.removeFolder(atPath: path)
  }

  /// Gives a file the permissions of another file. It is not counted.
  public func copyPermissions(ofFileAtPath source: String, toPath destination: String) throws(PersistenceError) {
    try base.copyPermissions(ofFileAtPath: source, toPath: destination)
  }

  /// Returns whether the file can be written according to the other file system. It is not counted.
  public func isWritableFile(atPath path: String) -> Bool { base.isWritableFile(atPath: path) }
}

// MARK: For open files

extension FaultInjectingFileSystem {
  /// Counts an operation on paths, and returns the current life, to which an opened file belongs.
  @discardableResult
  private func admit(_ operation: FileOperation) throws(PersistenceError) -> Int {
    let (refusal, life) = plan.withLock { ($0.refusal(of: operation, life: $0.life), $0.life) }
    if let refusal { throw refusal.error }
    return life
  }

  /// Counts an operation on an open file of `life`.
  func admit(_ operation: FileOperation, life: Int) throws(PersistenceError) {
    if let refusal = refusal(of: operation, life: life) { throw refusal.error }
  }

  /// Waits while the disk stalls, and counts a flush of an open file of `life`.
  func admitFlush(ofFileAt path: String, life: Int) throws(PersistenceError) {
    diskStall.wait()
    try admit(.synchronize(path: path), life: life)
  }

  func refusal(of operation: FileOperation, life: Int) -> FaultPlan.Refusal? {
    plan.withLock { $0.refusal(of: operation, life: life) }
  }

  /// Closes the file of a handle, unless a crash has left it open or a restart has closed it.
  func close(_ handle: Int) throws(PersistenceError) {
    try plan.withLock { $0.takeFile(handle) }?.close()
  }

  func release(_ handle: Int) {
    plan.withLock { $0.takeLock(handle) }?.release()
  }
}

// MARK: FaultInjectingFiles

/// A file that is read through a ``FaultInjectingFileSystem``.
struct FaultInjectingReadableFile: ReadableFile {
  let base: any ReadableFile
  let owner: FaultInjectingFileSystem
  let life: Int

  var path: String { base.path }

  func status() throws(PersistenceError) -> FileStatus {
    try owner.admit(.status(path: path), life: life)
    return try base.status()
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(PersistenceError) -> Int {
    try owner.admit(.read(path: path, offset: offset, count: buffer.count), life: life)
    return try base.read(into: buffer, at: offset)
  }

  func mapped() throws(PersistenceError) -> FileBytes {
    try owner.admit(.map(path: path), life: life)
    return try base.mapped()
  }

  /// Is not counted, because callers continue without a path.
  func currentPath() throws(PersistenceError) -> String? { try base.currentPath() }
}

/// A file that is written through a ``FaultInjectingFileSystem``.
struct FaultInjectingWritableFile: WritableFile {
  let base: any WritableFile
  let owner: FaultInjectingFileSystem
  let life: Int
  let handle: Int

  var path: String { base.path }

  func write(_ bytes: UnsafeRawBufferPointer) throws(PersistenceError) {
    guard let refusal = owner.refusal(of: .write(path: path, count: bytes.count), life: life) else {
      return try base.write(bytes)
    }
    try base.write(UnsafeRawBufferPointer(rebasing: bytes.prefix(refusal.appliedByteCount)))
    throw refusal.error
  }

  func synchronize() throws(PersistenceError) {
    try owner.admitFlush(ofFileAt: path, life: life)
    try base.synchronize()
  }

  /// Closes the file even if an error is reported, as the system does, but not after a crash.
  func close() throws(PersistenceError) {
    let refusal = owner.refusal(of: .close(path: path), life: life)
    try owner.close(handle)
    if let refusal { throw refusal.error }
  }
}

/// A file that is overwritten in parts through a ``FaultInjectingFileSystem``.
struct FaultInjectingPatchableFile: PatchableFile {
  let base: any PatchableFile
  let owner: FaultInjectingFileSystem
  let life: Int

  var path: String { base.path }

  func write(_ bytes: [UInt8], at offset: Int) throws(PersistenceError) {
    let operation = FileOperation.patch(path: path, offset: offset, count: bytes.count)
    guard let refusal = owner.refusal(of: operation, life: life) else { return try base.write(bytes, at: offset) }
    if refusal.appliedByteCount > 0 { try base.write(Array(bytes.prefix(refusal.appliedByteCount)), at: offset) }
    throw refusal.error
  }

  func truncate(to length: Int) throws(PersistenceError) {
    if let refusal = owner.refusal(of: .truncate(path: path, length: length), life: life) { throw refusal.error }
    try base.truncate(to: length)
  }

  func synchronize() throws(PersistenceError) {
    try owner.admitFlush(ofFileAt: path, life: life)
    try base.synchronize()
  }
}

/// A lock that is held through a ``FaultInjectingFileSystem``.
struct FaultInjectingLock: FileLock {
  let owner: FaultInjectingFileSystem
  let handle: Int

  func release() {
    owner.release(handle)
  }
}

// MARK: DiskStall

/// Makes flushes wait.
final class DiskStall: Sendable {
  private struct State {
    /// The group that flushes wait for; nil while the disk does not stall.
    var end: DispatchGroup?
    var waitingCount = 0
  }

  private let state = Mutex(State())

  init() {}

  /// The number of waiting flushes.
  var waitingCount: Int { state.withLock { $0.waitingCount } }

  func begin() {
    state.withLock { state in
      guard state.end == nil else { return }
      let end = DispatchGroup()
      end.enter()
      state.end = end
    }
  }

  func end() {
    let end = state.withLock { $0.end.take() }
    end?.leave()
  }

  /// Waits while the disk stalls.
  func wait() {
    let end = state.withLock { state in
      if state.end != nil { state.waitingCount += 1 }
      return state.end
    }
    guard let end else { return }
    end.wait()
    state.withLock { $0.waitingCount -= 1 }
  }
}
