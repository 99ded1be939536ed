import HeartwoodStore

extension FileSystem {
  /// What a store's file is. One without a byte would be a new store, and there is nothing to read in one.
  func storeStatus(atPath path: String) throws(PersistenceError) -> FileStatus {
    guard let status = try status(atPath: path) else {
      throw PersistenceError(.fileNotFound, "There is no such file.", context: .init(path: path))
    }
    guard status.isRegularFile else {
      throw PersistenceError(.fileReadFailed, "It is not a file.", context: .init(path: path))
    }
    guard status.size > 0 else {
      throw PersistenceError(.fileMalformed, "The file is empty; there is no store in it.", context: .init(path: path))
    }
    try StoreInput(try openFile(atPath: path)).checkIsPlain()
    return status
  }

  /// How many bytes a store has: those of its file, those of the log beside it that are still to go there, and those of the folder beside it. What
  /// cannot be read there is not counted.
  func storeSize(atPath path: String, _ storeClass: any StoreClass.Type) throws(PersistenceError) -> Int {
    let size = try status(atPath: path)?.size ?? 0
    guard let storeClass = storeClass as? any IncrementalStore.Type else { return size }
    let logs = storeClass.sideFiles(ofStoreAt: path).filter { $0.hasSuffix(Self.logSuffix) }
    let folder = storeClass.supportFolder(ofStoreAt: path)
    return logs.reduce(size) { $0 + fileSize(atPath: $1) } + (folder.map(self.size(ofFolderAtPath:)) ?? 0)
  }

  /// SQLite's write-ahead log. The other files that it makes have nothing of the store.
  private static var logSuffix: String { "-wal" }

  private func fileSize(atPath path: String) -> Int { (try? status(atPath: path))?.size ?? 0 }

  private func size(ofFolderAtPath path: String) -> Int {
    ((try? entries(ofFolderAtPath: path)) ?? []).reduce(0) { size, entry in
      let path = PathParts.join(path, entry.name)
      switch entry.kind {
      case .file: return size + fileSize(atPath: path)
      case .folder: return size + self.size(ofFolderAtPath: path)
      case .other: return size
      }
    }
  }
}
