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
