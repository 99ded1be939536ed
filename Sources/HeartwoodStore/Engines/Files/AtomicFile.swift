/// The commit protocol of files that are saved as a whole: after a crash at any moment, the file is the old one or the
/// new one, never a mixture.
///
/// A temporary file beside the target is written and flushed to the disk, renamed over the target, and the directory is
/// flushed. The permissions of the old file are kept and symbolic links are followed. On failure the old file stays in
/// place and the temporary one is removed; one that a killed process left is removed by the next save. A failure to
/// flush the directory comes after that, when the new file is in place.
package struct AtomicFile {
  /// The file that must be at the path for the save to go ahead.
  package enum Expectation: Sendable {
    /// No file.
    case nothing
    /// The file that was loaded, unchanged.
    case unchanged(FileIdentity)
    /// Any file, or none.
    case anything
  }

  let fileSystem: any FileSystem
  let path: String

  package init(path: String, fileSystem: any FileSystem) {
    self.path = path
    self.fileSystem = fileSystem
  }

  /// The result of a save.
  package struct Replacement: Sendable {
    /// The new file, open for reading. As long as it is open, no other file can be taken for it.
    package let file: StoreInput
    /// The reason why the new name may not survive a power cut; nil if it will.
    package let flushFailure: PersistenceError?
  }

  /// Replaces the file with the bytes that `body` writes.
  ///
  /// - Parameter permissions: the permissions of the file if there is no old one; nil means those that a new file gets.
  /// - Throws: an error only if the old file is still in place.
  package func replace(
    expecting expectation: Expectation,
    permissions: UInt32? = nil,
    _ body: (StoreOutput) throws -> Void
  ) throws -> Replacement {
    let target = try fileSystem.resolvingSymbolicLinks(inPath: path)
    // The lock is on the file that will be replaced: a process that waited for it sees another identity afterwards.
    let lock = try fileSystem.lockFile(atPath: target)
    defer { lock?.release() }
    let old = try check(expectation, at: target)
    // try?: leftovers of dead processes do no harm.
    try? fileSystem.removeAbandonedTemporaryFiles(besidePath: target)
    let permissions = old?.permissions ?? permissions
    let temporary = try fileSystem.createTemporaryFile(besidePath: target, permissions: permissions)
    // try?: it is flushed and has nothing left to fail at. Closed before the move, it would be taken for abandoned.
    defer { try? temporary.close() }
    let file: StoreInput
    do {
      try write(temporary, body)
      // It is opened by its temporary name, which no other process knows: after the move another saver's file may be at
      // the path.
      file = try opened(temporary.path)
      _ = try check(expectation, at: target)
      try fileSystem.moveFile(atPath: temporary.path, toPath: target, exclusively: old == nil)
    } catch {
      // try?: the error because of which it is not needed is thrown.
      try? fileSystem.removeFile(atPath: temporary.path)
      throw error
    }
    return Replacement(file: file, flushFailure: flushFailure(at: target))
  }

  /// Replaces the file with a copy of another.
  ///
  /// - Parameter permissions: the permissions of the file if there is no old one; nil means those that a new file gets.
  /// - Throws: an error also if the new name may not survive a power cut.
  func copy(_ input: StoreInput, expecting expectation: Expectation, permissions: UInt32? = nil) throws {
    let replacement = try replace(expecting: expectation, permissions: permissions) { output in
      try output.write(contentsOf: input)
    }
    if let failure = replacement.flushFailure { throw failure }
  }

  /// Opens the new file before it has its final name. It has the permissions of the old file; if these forbid reading,
  /// the error names the old file.
  private func opened(_ temporaryPath: String) throws(PersistenceError) -> StoreInput {
    do throws(PersistenceError) {
      return try StoreInput(try fileSystem.openFile(atPath: temporaryPath), path: path)
    } catch {
      var located = error
      located.context.path = path
      throw located
    }
  }

  private func write(_ file: any WritableFile, _ body: (StoreOutput) throws -> Void) throws {
    let output = StoreOutput(file)
    try body(output)
    try output.flush()
    try file.synchronize()
  }

  private func flushFailure(at target: String) -> PersistenceError? {
    do throws(PersistenceError) {
      try fileSystem.synchronizeDirectory(ofPath: target)
      return nil
    } catch {
      return error
    }
  }

  func check(_ expectation: Expectation, at target: String) throws(PersistenceError) -> FileStatus? {
    let found = try fileSystem.status(atPath: target)
    if let found, !found.isRegularFile {
      throw PersistenceError(.fileWriteFailed, "It is not a regular file.", context: .init(path: path))
    }
    switch expectation {
    case .anything: break
    case .nothing:
      // An empty file is a request for a new store.
      guard let found, found.size > 0 else { break }
      throw PersistenceError(
        .fileExists,
        "There is a file already.",
        recovery: .replaceFile,
        context: .init(path: path)
      )
    case .unchanged(let identity):
      guard found?.identity != identity else { break }
      throw PersistenceError(
        .fileChangedOnDisk,
        found == nil
          ? "The file was removed or renamed since it was opened."
          : "Another process has written the file since it was opened; it was not overwritten.",
        recovery: found == nil
          ? "Save under another name to keep the changes."
          : "Open it again, make the changes again and save.",
        context: .init(path: path)
      )
    }
    return found
  }
}

// MARK: Patching

extension AtomicFile {
  /// Overwrites parts of the file in place; each patch is on the disk before the next one is begun. The author of the
  /// patches is responsible for a file that is valid after every patch, and after half of one.
  ///
  /// - Parameter identity: the file that the patches were made for.
  /// - Returns: false if this file cannot be overwritten in place; then nothing has been written.
  func patch(_ patches: [FilePatch], expecting identity: FileIdentity) throws(PersistenceError) -> Bool {
    try withLockedFile(expecting: identity) { target, size throws(PersistenceError) in
      guard patches.allSatisfy({ $0.fits(in: size) }) else {
        throw PersistenceError(
          .fileWriteFailed,
          "The store asked to overwrite bytes outside of its file; nothing was written.",
          context: .init(path: path)
        )
      }
      guard let file = try fileSystem.openFileForPatching(atPath: target) else { return false }
      for patch in patches {
        try file.write(patch.bytes, at: patch.offset)
        try file.synchronize()
      }
      return true
    }
  }

  /// Calls `body` with the file's path, symbolic links followed, and its length, while no other process writes to it.
  ///
  /// - Parameter identity: the file that must be there.
  private func withLockedFile<Result>(
    expecting identity: FileIdentity,
    _ body: (_ target: String, _ size: Int) throws(PersistenceError) -> Result
  ) throws(PersistenceError) -> Result {
    let target = try fileSystem.resolvingSymbolicLinks(inPath: path)
    let lock = try fileSystem.lockFile(atPath: target)
    defer { lock?.release() }
    return try body(target, try check(.unchanged(identity), at: target)?.size ?? 0)
  }
}

// MARK: Appending

/// Bytes that an ``AppendingStore`` adds to the end of its file.
public struct FileAppendix: Sendable {
  /// The end of what is valid in the file. Bytes after it are what an interrupted save has left, and are cut off.
  public let start: Int
  /// The bytes to add.
  public let bytes: [UInt8]
  /// Bytes before ``start`` that name the new end of the file; nil if a reader finds the end by itself. They are
  /// written when the added bytes are on the disk, and the save does not wait for them: the file must be valid without
  /// them, and with a part of them.
  public let seal: FilePatch?

  /// Creates what is added to a file from `start` on. If the file is shorter than that, or the seal does not lie before
  /// `start`, the file is written as a whole.
  public init(start: Int, bytes: [UInt8], seal: FilePatch? = nil) {
    self.start = start
    self.bytes = bytes
    self.seal = seal
  }
}

extension AtomicFile {
  /// The result of appending.
  struct Extension {
    /// The file in its new state.
    let file: StoreInput
    /// The reason why the appended bytes do not count; nil if they do.
    let failure: PersistenceError?
    /// Whether it is unknown what is on the disk, so that the file should be replaced by the next save.
    let isDoubtful: Bool
  }

  /// Adds bytes to the end of the file. They count once they are on the disk; before that, a crash leaves the file as
  /// it was, with a part of them behind its end.
  ///
  /// - Parameters:
  ///   - file: the file that they were made for, in its present state.
  ///   - isFirst: whether to remove what a killed process has left beside the file.
  /// - Returns: nil if nothing can be added to this file; then it is unchanged.
  /// - Throws: an error if the file is unchanged, or if its state cannot be read afterwards.
  func append(
    _ appendix: FileAppendix,
    to file: StoreInput,
    isFirst: Bool
  ) throws(PersistenceError) -> Extension? {
    try withLockedFile(expecting: file.status.identity) { target, size throws(PersistenceError) in
      // try?: leftovers of dead processes do no harm.
      if isFirst { try? fileSystem.removeAbandonedTemporaryFiles(besidePath: target) }
      guard appendix.start >= 0, appendix.start <= size, appendix.seal?.fits(in: appendix.start) ?? true,
        let handle = try fileSystem.openFileForPatching(atPath: target)
      else { return nil }
      if appendix.start < size {
        try handle.truncate(to: appendix.start)
        try handle.synchronize()
      }
      if let (failure, isDoubtful) = write(appendix, to: handle) {
        return Extension(file: try renewed(file, at: target), failure: failure, isDoubtful: isDoubtful)
      }
      let isSealed = seal(appendix.seal, handle)
      return Extension(file: try renewed(file, at: target), failure: nil, isDoubtful: !isSealed)
    }
  }

  /// Returns the file in the state that it has now, which no other process changes as long as the lock is held.
  private func renewed(_ file: StoreInput, at target: String) throws(PersistenceError) -> StoreInput {
    do throws(PersistenceError) {
      return try StoreInput(file.file, path: path)
    } catch {
      return try StoreInput(try fileSystem.openFile(atPath: target), path: path)
    }
  }

  /// Returns the failure, after which the file is cut to its old length if that is possible; nil if the bytes are on
  /// the disk.
  private func write(_ appendix: FileAppendix, to handle: any PatchableFile) -> (PersistenceError, isDoubtful: Bool)? {
    var isWritten = false
    do throws(PersistenceError) {
      try handle.write(appendix.bytes, at: appendix.start)
      isWritten = true
      try handle.synchronize()
      return nil
    } catch {
      do throws(PersistenceError) {
        try handle.truncate(to: appendix.start)
        try handle.synchronize()
      } catch {
        isWritten = true
      }
      // After a failed flush, the system may report success for later ones without having written everything.
      return (error, isDoubtful: isWritten)
    }
  }

  /// Returns whether the seal is written. The file is valid without it, so a failure is none of the save.
  private func seal(_ seal: FilePatch?, _ handle: any PatchableFile) -> Bool {
    guard let seal else { return true }
    do throws(PersistenceError) {
      try handle.write(seal.bytes, at: seal.offset)
      return true
    } catch {
      return false
    }
  }
}

extension FilePatch {
  fileprivate func fits(in size: Int) -> Bool {
    offset >= 0 && offset <= size && bytes.count <= size - offset
  }
}

// MARK: FilePatch

/// Bytes that overwrite part of a file in place.
public struct FilePatch: Sendable, Hashable {
  /// The offset of the first byte; the last must lie within the file.
  public let offset: Int
  /// The bytes to write.
  public let bytes: [UInt8]

  /// Makes a patch that writes `bytes` from `offset` on.
  public init(offset: Int, bytes: [UInt8]) {
    self.offset = offset
    self.bytes = bytes
  }
}

// MARK: TemporaryName

/// The temporary names of files until they are complete: `.todo.csv.3k9x1q.heartwood-tmp`.
package struct TemporaryName: Sendable {
  /// The names of files that are renamed to the final name in the end.
  package static let file = TemporaryName(suffix: ".heartwood-tmp")

  /// How many bytes of the final name are kept: systems accept names of 255 bytes at most.
  private static let stemLimit = 200

  private let suffix: String

  package init(suffix: String) {
    self.suffix = suffix
  }

  package func make(for name: String) -> String {
    "\(Self.prefix(for: name))\(String(UInt64.random(in: .min ... .max), radix: 36))\(suffix)"
  }

  private static func prefix(for name: String) -> String {
    ".\(String(decoding: name.utf8.prefix(stemLimit), as: UTF8.self))."
  }

  /// Returns whether `candidate` is a temporary name that was made for `name`.
  package func belongs(_ candidate: String, to name: String) -> Bool {
    let prefix = Self.prefix(for: name)
    guard candidate.hasPrefix(prefix), candidate.hasSuffix(suffix) else { return false }
    return !candidate.dropFirst(prefix.count).dropLast(suffix.count).contains(".")
  }
}
