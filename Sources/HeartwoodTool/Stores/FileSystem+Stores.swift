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
}
