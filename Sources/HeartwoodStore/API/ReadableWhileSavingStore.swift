/// A store that others can read from while a save is on its way to the disk.
package protocol ReadableWhileSavingStore: IncrementalStore {
  /// Saves as ``IncrementalStore/saving(_:)`` does, and lets others read while it waits for the disk: they see all as it was before the save.
  ///
  /// A call that would see the save throws ``SaveIsVisible`` until this one has returned.
  ///
  /// - Parameters:
  ///   - release: called once `body` is done, where the store can be read from then on. Only reading methods and
  ///     ``IncrementalStore/changeMark()`` are called by others, one at a time.
  ///   - retake: called when the save is on the disk or has failed, where `release` was. When it returns, others call nothing any more.
  func saving<Result>(_ body: () throws -> Result, release: () -> Void, retake: () -> Void) throws -> Result
}

/// What would be read has a save in it that the framework has not taken note of yet.
package struct SaveIsVisible: Error {
  package init() {}
}
