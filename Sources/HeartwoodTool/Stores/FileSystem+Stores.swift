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
    return status
  }

  /// How many bytes a store has: those of its file, and those of the folder beside it. What cannot be read there is not counted.
  func storeSize(atPath path: String, _ storeClass: any StoreClass.Type) throws(PersistenceError) -> Int {
    let folder = (storeClass as? any IncrementalStore.Type)?.supportFolder(ofStoreAt: path)
    return (try status(atPath: path)?.size ?? 0) + (folder.map(size(ofFolderAtPath:)) ?? 0)
  }

  private func size(ofFolderAtPath path: String) -> Int {
    ((try? entries(ofFolderAtPath: path)) ?? []).reduce(0) { size, entry in
      let path = PathParts.join(path, entry.name)
      switch entry.kind {
      case .file: return size + ((try? status(atPath: path))?.size ?? 0)
      case .folder: return size + self.size(ofFolderAtPath: path)
      case .other: return size
      }
    }
  }
}
