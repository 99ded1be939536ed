extension AtomicFile {
  /// Writes over parts of the file where it stands, each on the disk before the next is begun. That the file is whole after every
  /// part of them, and after half of one, is the matter of whoever has made the patches.
  ///
  /// - Parameter identity: the file that the patches were made for.
  /// - Returns: False where this file cannot be written over; then nothing has been written.
  func patch(_ patches: [FilePatch], expecting identity: FileIdentity) throws(PersistenceError) -> Bool {
    let target = try fileSystem.resolvingSymbolicLinks(inPath: path)
    let lock = try fileSystem.lockFile(atPath: target)
    defer { lock?.release() }
    let size = try check(.unchanged(identity), at: target)?.size ?? 0
    guard patches.allSatisfy({ $0.fits(in: size) }) else {
      throw PersistenceError(
        .fileWriteFailed,
        "The store wants to write over bytes that lie outside of its file; nothing was written.",
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

extension FilePatch {
  fileprivate func fits(in size: Int) -> Bool {
    offset >= 0 && offset <= size && bytes.count <= size - offset
  }
}
