import HeartwoodModel

extension StoreSetup {
  /// Whether the store is opened for reading only.
  var isReadOnly: Bool { options[.isReadOnly] ?? false }

  /// The error of a store that is to be read where there is none.
  func absent() -> PersistenceError {
    PersistenceError(
      .fileNotFound,
      "There is no file, and the store is to be opened for reading only.",
      context: .init(path: path)
    )
  }

  /// Makes sure that a store with this setup leaves out none of the records of `contents`.
  func checkKeeps(_ contents: StoreContents) throws(PersistenceError) {
    let kept = Set(entities.map(\.ordinal))
    for table in contents.tables where table.count > 0 && !kept.contains(table.entity.ordinal) {
      throw PersistenceError(
        .entityUnknown,
        "There are \(table.count) records of an entity that the new store would not keep.",
        recovery: "Give it a configuration that has the entity.",
        context: .init(path: path, entity: table.entity.name)
      )
    }
  }
}

extension StoreEngine {
  /// Makes sure that the store may be changed.
  func checkWritable(_ setup: StoreSetup, _ type: StoreType) throws(PersistenceError) {
    guard setup.isReadOnly else { return }
    throw PersistenceError(
      .storeReadOnly,
      "The store was opened for reading only.",
      recovery: .openForWriting,
      context: .init(path: path, storeType: type)
    )
  }

  /// Makes sure that the store is still a coordinator's.
  func checkNotClosed(_ isClosed: Bool, _ type: StoreType) throws(PersistenceError) {
    guard isClosed else { return }
    throw PersistenceError(
      .storeNotOpen,
      "The store was removed from its coordinator.",
      recovery: "Add it again, and read and change the objects anew.",
      context: .init(path: path, storeType: type)
    )
  }
}
