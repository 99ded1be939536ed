/// A store that has no place for some of what its model allows, and can tell that from the records.
package protocol CheckingStore: IncrementalStore {
  /// Refuses `contents` where a new store of `setup` would lose some of it. Nothing has been written yet, and the records have the references
  /// that they had in the store that they come from.
  static func check(_ contents: StoreContents, for setup: StoreSetup) throws
}
