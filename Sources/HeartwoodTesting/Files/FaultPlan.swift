import Heartwood

/// The operations that a ``FaultInjectingFileSystem`` has counted, and its planned faults.
struct FaultPlan: Sendable {
  /// The error of an operation that does not take place.
  struct Refusal {
    let error: PersistenceError
    /// The number of bytes of a write that reach the file nevertheless.
    let appliedByteCount: Int
  }

  /// Open files and held locks, by the numbers of their handles, to be closed after a crash.
  private var openFiles: [Int: any WritableFile] = [:]
  private var heldLocks: [Int: any FileLock] = [:]
  private var lastHandle = 0

  private(set) var operations: [FileOperation] = []
  /// The number of restarts. Handles with a smaller number can no longer be used.
  private(set) var life = 0
  private(set) var hasCrashed = false
  var failures: [Int: PersistenceError] = [:]
  var crashPoint: Int?
  var bytesLeft: Int?

  /// Counts an operation. Returns the error that it has to throw, or nil if it may take place.
  mutating func refusal(of operation: FileOperation, life: Int) -> Refusal? {
    guard !hasCrashed, life == self.life else { return Refusal(error: .crashed(operation), appliedByteCount: 0) }
    operations.append(operation)
    if operations.count == crashPoint {
      hasCrashed = true
      return Refusal(error: .crashed(operation), appliedByteCount: operation.writtenByteCount / 2)
    }
    if let error = failures[operations.count] {
      return Refusal(error: error, appliedByteCount: operation.writtenByteCount / 2)
    }
    return fullDisk(operation)
  }

  private mutating func fullDisk(_ operation: FileOperation) -> Refusal? {
    guard case .write(let path, let count) = operation, let left = bytesLeft else { return nil }
    bytesLeft = max(0, left - count)
    return count > left ? Refusal(error: .fullDisk(path), appliedByteCount: left) : nil
  }

  /// Invalidates all handles. Returns the files and locks that the system closes when a process ends.
  mutating func restart() -> (files: [any WritableFile], locks: [any FileLock]) {
    let orphans = (Array(openFiles.values), Array(heldLocks.values))
    let (nextLife, handle) = (life + 1, lastHandle)
    self = FaultPlan()
    life = nextLife
    lastHandle = handle
    return orphans
  }

  mutating func note(_ file: any WritableFile) -> Int {
    lastHandle += 1
    openFiles[lastHandle] = file
    return lastHandle
  }

  mutating func note(_ lock: any FileLock) -> Int {
    lastHandle += 1
    heldLocks[lastHandle] = lock
    return lastHandle
  }

  /// Returns the file of a handle, to be closed; nil if a crash has left it open or a restart has closed it.
  mutating func takeFile(_ handle: Int) -> (any WritableFile)? {
    hasCrashed ? nil : openFiles.removeValue(forKey: handle)
  }

  /// Returns the lock of a handle, to be released; nil if a crash keeps it or a restart has released it.
  mutating func takeLock(_ handle: Int) -> (any FileLock)? {
    hasCrashed ? nil : heldLocks.removeValue(forKey: handle)
  }
}

extension PersistenceError {
  fileprivate static func crashed(_ operation: FileOperation) -> PersistenceError {
    PersistenceError(
      operation.isReading ? .fileReadFailed : .fileWriteFailed,
      "The test has stopped the process here.",
      context: .init(path: operation.path)
    )
  }

  /// Returns the error of the system for a full disk.
  static func fullDisk(_ path: String?) -> PersistenceError {
    PersistenceError(
      .fileWriteFailed,
      "The file cannot be written: no space left on device (as the test has it).",
      context: .init(path: path, systemError: noSpaceLeft)
    )
  }

  /// ENOSPC, which has the same number on Linux and on Apple platforms.
  private static let noSpaceLeft: Int32 = 28
}

// MARK: FileOperation

/// An operation on files through a ``FaultInjectingFileSystem``.
public enum FileOperation: Sendable, Hashable {
  /// A request for the status of a path or of an open file, or for the contents of a folder.
  case status(path: String)
  /// The resolution of the symbolic links in a path.
  case resolveSymbolicLinks(path: String)
  /// The opening of a file for reading.
  case open(path: String)
  /// A read of up to `count` bytes of a file, starting at `offset`.
  case read(path: String, offset: Int, count: Int)
  /// The mapping of a whole file into memory.
  case map(path: String)
  /// The creation of a new file beside a path, or of a folder at the path.
  case createTemporaryFile(besidePath: String)
  /// A write of `count` bytes at the end of a new file.
  case write(path: String, count: Int)
  /// The opening of a file to overwrite parts of it.
  case openForPatching(path: String)
  /// A write of `count` bytes over those of a file, starting at `offset`.
  case patch(path: String, offset: Int, count: Int)
  /// A cut of a file to a shorter length.
  case truncate(path: String, length: Int)
  /// A flush: waiting until the bytes of a file are on the disk.
  case synchronize(path: String)
  /// The closing of a new file.
  case close(path: String)
  /// The renaming of a file. It replaces a file at the destination unless `exclusively` is true.
  case move(source: String, destination: String, exclusively: Bool)
  /// A flush of a directory: waiting until the names in the directory of a path are on the disk.
  case synchronizeDirectory(ofPath: String)
  /// The removal of a file or an empty folder.
  case remove(path: String)
  /// The removal of the temporary files that ended processes have left beside a path.
  case removeAbandonedTemporaryFiles(besidePath: String)
  /// Waiting for the lock of a file, and taking it.
  case lock(path: String)
}

extension FileOperation {
  /// The path of the operation. For a move, it is the destination.
  public var path: String {
    switch self {
    case .status(let path), .resolveSymbolicLinks(let path), .open(let path), .read(let path, _, _), .map(let path),
      .createTemporaryFile(let path), .write(let path, _), .openForPatching(let path), .patch(let path, _, _),
      .truncate(let path, _),
      .synchronize(let path), .close(let path),
      .move(_, let path, _), .synchronizeDirectory(let path), .remove(let path),
      .removeAbandonedTemporaryFiles(let path), .lock(let path):
      path
    }
  }

  /// Whether the operation does not change files or names.
  public var isReading: Bool {
    switch self {
    case .status, .resolveSymbolicLinks, .open, .openForPatching, .read, .map, .lock: true
    default: false
    }
  }

  /// The number of bytes that the operation would write.
  var writtenByteCount: Int {
    switch self {
    case .write(_, let count), .patch(_, _, let count): count
    default: 0
    }
  }
}
