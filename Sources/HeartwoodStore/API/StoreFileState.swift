/// What has become of a store's file since the store was opened or last saved: ``PersistentStore/fileState()``.
public enum StoreFileState: Sendable, Hashable {
  /// There is no file yet: the first save makes it. Stores without files are always so.
  case absent
  /// The file is as it was.
  case unchanged
  /// Somebody else has written the file, or another file stands in its place. Saving throws
  /// ``PersistenceError/Code/fileChangedOnDisk``: open it again, or save somewhere else.
  case changed
  /// The file has another name now. Saving throws ``PersistenceError/Code/fileChangedOnDisk`` until the store is told the new place,
  /// as `PersistentStoreCoordinator.setURL(_:for:)` does.
  case moved(path: String)
  /// The file is gone. Saving throws ``PersistenceError/Code/fileChangedOnDisk``: it does not come back by itself.
  case removed
}
