import Dispatch
public import Heartwood
import Synchronization

/// A file system that fails or "crashes" at any step that a test chooses.
///
/// It hands everything on to another file system and counts the steps, from 1. A test runs a save once to learn its steps, and
/// then once for each of them with a fault there:
///
///     let files = FaultInjectingFileSystem(wrapping: InMemoryFileSystem())
///     try save(files)
///     for step in 1...files.operations.count {
///       files.restart()
///       files.crash(atOperation: step)
///       _ = try? save(files)
///       files.restart()
///       // The old file stands, or the new one does.
///     }
public final class FaultInjectingFileSystem: FileSystem {
  private let base: any FileSystem
  private let plan = Mutex(FaultPlan())
  private let diskStall = DiskStall()

  /// A file system without faults so far, over `base`.
  public init(wrapping base: any FileSystem) {
    self.base = base
  }
}

// MARK: What a test does with it

extension FaultInjectingFileSystem {
  /// What was done since the beginning or the last ``restart()``, the operations that failed included.
  public var operations: [FileOperation] { plan.withLock { $0.operations } }

  /// Whether a crash has happened and no restart yet.
  public var hasCrashed: Bool { plan.withLock { $0.hasCrashed } }

  /// Makes one operation fail; those after it go on as usual. Of a write that fails, half of the bytes reach the file.
  ///
  /// - Parameters:
  ///   - number: which operation, counted from 1 since the beginning or the last ``restart()``.
  ///   - error: what it fails with; by default what the system says when the disk is full.
  public func failOperation(_ number: Int, with error: PersistenceError? = nil) {
    plan.withLock { $0.failures[number] = error ?? .fullDisk(nil) }
  }

  /// Makes an operation and every later one fail without effect until ``restart()``, as if the process had died there. Of a write
  /// at that point, half of the bytes reach the file.
  ///
  /// - Parameter number: which operation, counted from 1 since the beginning or the last ``restart()``.
  public func crash(atOperation number: Int) {
    plan.withLock { $0.crashPoint = number }
  }

  /// Lets `count` more bytes be written; then the disk is full.
  public func limitWrites(toByteCount count: Int) {
    plan.withLock { $0.bytesLeft = count }
  }

  /// Makes those who flush files or folders wait until ``endStall()``, as a disk does that others keep busy.
  ///
  /// A test that stalls the disk ends it again whatever happens: who waits cannot be cancelled.
  public func stall() { diskStall.begin() }

  /// Lets those go on who wait for a flush.
  public func endStall() { diskStall.end() }

  /// How many wait for a flush.
  public var stalledCount: Int { diskStall.waitingCount }

  /// Begins a new life without faults: forgets the operations, and closes the files and releases the locks that were left
  /// behind, as the system does for a process that died. What was opened before stays dead.
  public func restart() {
    let orphans = plan.withLock { $0.restart() }
    for file in orphans.files { try? file.close() }
    for lock in orphans.locks { lock.release() }
  }
}

// MARK: What stores do with it

extension FaultInjectingFileSystem {
  /// What is at a path, unless the plan says that it fails.
  public func status(atPath path: String) throws(PersistenceError) -> FileStatus? {
    try admit(.status(path: path))
    return try base.status(atPath: path)
  }

  /// A path with its symbolic links followed, unless the plan says that it fails.
  public func resolvingSymbolicLinks(inPath path: String) throws(PersistenceError) -> String {
    try admit(.resolveSymbolicLinks(path: path))
    return try base.resolvingSymbolicLinks(inPath: path)
  }

  /// Opens a file for reading, unless the plan says that it fails.
  public func openFile(atPath path: String) throws(PersistenceError) -> any ReadableFile {
    let life = try admit(.open(path: path))
    return FaultInjectingReadableFile(base: try base.openFile(atPath: path), owner: self, life: life)
  }

  /// Makes an empty file with a name that nobody else has, unless the plan says that it fails.
  public func createTemporaryFile(
    besidePath path: String,
    permissions: UInt32?
  ) throws(PersistenceError) -> any WritableFile {
    let life = try admit(.createTemporaryFile(besidePath: path))
    let file = try base.createTemporaryFile(besidePath: path, permissions: permissions)
    let handle = plan.withLock { $0.note(file) }
    return FaultInjectingWritableFile(base: file, owner: self, life: life, handle: handle)
  }

  /// Opens a file for writing over parts of it, unless the plan says that it fails.
  public func openFileForPatching(atPath path: String) throws(PersistenceError) -> (any PatchableFile)? {
    let life = try admit(.openForPatching(path: path))
    return try base.openFileForPatching(atPath: path).map {
      FaultInjectingPatchableFile(base: $0, owner: self, life: life)
    }
  }

  /// Removes what dead writers left beside a path, unless the plan says that it fails.
  public func removeAbandonedTemporaryFiles(besidePath path: String) throws(PersistenceError) {
    try admit(.removeAbandonedTemporaryFiles(besidePath: path))
    try base.removeAbandonedTemporaryFiles(besidePath: path)
  }

  /// Gives a file another name in one step, unless the plan says that it fails.
  public func moveFile(
    atPath source: String,
    toPath destination: String,
    exclusively: Bool
  ) throws(PersistenceError) {
    try admit(.move(source: source, destination: destination, exclusively: exclusively))
    try base.moveFile(atPath: source, toPath: destination, exclusively: exclusively)
  }

  /// Waits until the names in a directory are on the disk, unless the plan says that it fails.
  public func synchronizeDirectory(ofPath path: String) throws(PersistenceError) {
    diskStall.wait()
    try admit(.synchronizeDirectory(ofPath: path))
    try base.synchronizeDirectory(ofPath: path)
  }

  /// Removes a file, unless the plan says that it fails.
  public func removeFile(atPath path: String) throws(PersistenceError) {
    try admit(.remove(path: path))
    try base.removeFile(atPath: path)
  }

  /// Waits for the lock of a file and takes it, unless the plan says that it fails.
  public func lockFile(atPath path: String) throws(PersistenceError) -> (any FileLock)? {
    try admit(.lock(path: path))
    guard let lock = try base.lockFile(atPath: path) else { return nil }
    return FaultInjectingLock(owner: self, handle: plan.withLock { $0.note(lock) })
  }

  /// What is in a folder, unless the plan says that asking for its status fails.
  public func entries(ofFolderAtPath path: String) throws(PersistenceError) -> [FolderEntry] {
    try admit(.status(path: path))
    return try base.entries(ofFolderAtPath: path)
  }

  /// Makes a folder, unless the plan says that making a file there fails.
  public func createFolder(atPath path: String) throws(PersistenceError) {
    try admit(.createTemporaryFile(besidePath: path))
    try base.createFolder(atPath: path)
  }

  /// Removes an empty folder, unless the plan says that removing it fails.
  public func removeFolder(atPath path: String) throws(PersistenceError) {
    try admit(.remove(path: path))
    try base.removeFolder(atPath: path)
  }

  /// Gives a file the permissions of another one.
  public func copyPermissions(ofFileAtPath source: String, toPath destination: String) throws(PersistenceError) {
    try base.copyPermissions(ofFileAtPath: source, toPath: destination)
  }

  /// Asks the other file system.
  public func isWritableFile(atPath path: String) -> Bool { base.isWritableFile(atPath: path) }
}

// MARK: What open files do with it

extension FaultInjectingFileSystem {
  /// Counts an operation on paths, and returns the life that what it opens belongs to.
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

  /// Closes the file of a handle, unless a crash keeps it open or has closed it.
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

  /// Not counted: whoever asks goes on without an answer.
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

  /// The system closes a file also when it reports a failure, but nobody closes anything in a process that died.
  func close() throws(PersistenceError) {
    let refusal = owner.refusal(of: .close(path: path), life: life)
    try owner.close(handle)
    if let refusal { throw refusal.error }
  }
}

/// A file that is written over through a ``FaultInjectingFileSystem``.
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

/// Lets those who flush files wait.
final class DiskStall: Sendable {
  private struct State {
    /// What those wait for who flush; nil while the disk goes on.
    var end: DispatchGroup?
    var waitingCount = 0
  }

  private let state = Mutex(State())

  init() {}

  /// How many wait.
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

  /// Waits until the disk goes on.
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
