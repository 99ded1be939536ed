import Heartwood

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
