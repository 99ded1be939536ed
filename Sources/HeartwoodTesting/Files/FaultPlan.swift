import Heartwood

/// What a ``FaultInjectingFileSystem`` has seen and what it will refuse.
struct FaultPlan: Sendable {
  /// Why an operation does not take place.
  struct Refusal {
    let error: PersistenceError
    /// How many bytes of a write reach the file all the same.
    let appliedByteCount: Int
  }

  /// Files and locks that are open, by the number of their handle, to be closed when the process "dies".
  private var openFiles: [Int: any WritableFile] = [:]
  private var heldLocks: [Int: any FileLock] = [:]
  private var lastHandle = 0

  private(set) var operations: [FileOperation] = []
  /// Raised by each restart: handles of an earlier life are dead.
  private(set) var life = 0
  private(set) var hasCrashed = false
  var failures: [Int: PersistenceError] = [:]
  var crashPoint: Int?
  var bytesLeft: Int?

  /// Counts an operation; returns why it must not take place, or nil where it may.
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

  /// Ends the life of every handle. Returns what the system closes when a process dies.
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

  /// The file of a handle, to be closed; nil where a crash keeps it open or has closed it.
  mutating func takeFile(_ handle: Int) -> (any WritableFile)? {
    hasCrashed ? nil : openFiles.removeValue(forKey: handle)
  }

  /// The lock of a handle, to be released; nil where a crash keeps it or has released it.
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

  /// What the system says when a disk is full.
  static func fullDisk(_ path: String?) -> PersistenceError {
    PersistenceError(
      .fileWriteFailed,
      "The file cannot be written: no space left on device (as the test has it).",
      context: .init(path: path, systemError: noSpaceLeft)
    )
  }

  /// ENOSPC, which is the same number on Linux and on Apple's systems.
  private static let noSpaceLeft: Int32 = 28
}

// MARK: FileOperation

/// Something that was done to files through a ``FaultInjectingFileSystem``.
public enum FileOperation: Sendable, Hashable {
  /// Asking what is at a path, or what an open file is now.
  case status(path: String)
  /// Asking where a path leads.
  case resolveSymbolicLinks(path: String)
  /// Opening a file for reading.
  case open(path: String)
  /// Reading up to so many bytes of a file from an offset on.
  case read(path: String, offset: Int, count: Int)
  /// Mapping a whole file into memory.
  case map(path: String)
  /// Making a new file beside a path, or a folder at it.
  case createTemporaryFile(besidePath: String)
  /// Appending so many bytes to a new file.
  case write(path: String, count: Int)
  /// Opening a file for writing over parts of it.
  case openForPatching(path: String)
  /// Writing over so many bytes of a file from an offset on.
  case patch(path: String, offset: Int, count: Int)
  /// Making a file shorter.
  case truncate(path: String, length: Int)
  /// Waiting until a file's bytes are on the disk.
  case synchronize(path: String)
  /// Closing a new file.
  case close(path: String)
  /// Giving a file another path, in the place of what stood there unless `exclusively` is set.
  case move(source: String, destination: String, exclusively: Bool)
  /// Waiting until the names in the directory of a path are on the disk.
  case synchronizeDirectory(ofPath: String)
  /// Removing a file or an empty folder.
  case remove(path: String)
  /// Removing the temporary files beside a path whose writers have died.
  case removeAbandonedTemporaryFiles(besidePath: String)
  /// Waiting for a file's lock, and taking it.
  case lock(path: String)
}

extension FileOperation {
  /// The path that the operation is about; for a move, the new one.
  public var path: String {
    switch self {
    case .status(let path), .resolveSymbolicLinks(let path), .open(let path), .read(let path, _, _), .map(let path),
      .createTemporaryFile(let path), .write(let path, _), .openForPatching(let path), .patch(let path, _, _), .truncate(let path, _),
      .synchronize(let path), .close(let path),
      .move(_, let path, _), .synchronizeDirectory(let path), .remove(let path),
      .removeAbandonedTemporaryFiles(let path), .lock(let path):
      path
    }
  }

  /// Whether the operation leaves files and names as they are.
  public var isReading: Bool {
    switch self {
    case .status, .resolveSymbolicLinks, .open, .openForPatching, .read, .map, .lock: true
    default: false
    }
  }

  /// How many bytes the operation would write.
  var writtenByteCount: Int {
    switch self {
    case .write(_, let count), .patch(_, _, let count): count
    default: 0
    }
  }
}
