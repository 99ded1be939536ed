import HeartwoodStore

/// Where a context reads records from and saves them to: an open store, or a store as a parent context would leave it.
protocol RecordSource: RecordReading, AnyObject, Sendable {
  /// The open store whose records these are in the end.
  var store: PersistentStore { get }
  /// Grows with each change of the records. Read it first and a table after it: that is as this change left it, or newer.
  var changeNumber: UInt64 { get }

  /// Takes all changes or none. The number of the commit is the ``changeNumber`` that it led to.
  ///
  /// - Parameter origin: who saves. What goes to a parent is told as the parent's own, when that is saved.
  func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoreCommit
}

extension PersistentStore: RecordSource {
  var store: PersistentStore { self }
  var changeNumber: UInt64 { engine.saves.current }

  func save(_ changes: ChangeSet, origin: SaveOrigin) throws -> StoreCommit {
    try engine.save(changes, origin: origin)
  }
}
