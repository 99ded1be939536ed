public import HeartwoodStore

// MARK: History of the stores

extension ManagedObjectContext {
  /// The transactions that `request` asks for, of all stores of the coordinator that keep their history:
  /// ``PersistentStoreCoordinator/execute(_:in:)``.
  public func execute(_ request: PersistentHistoryChangeRequest) throws -> [PersistentHistoryTransaction] {
    try persistentStoreCoordinator.execute(request)
  }

  /// How many transactions `request` asks for: ``PersistentStoreCoordinator/count(for:in:)``.
  public func count(for request: PersistentHistoryChangeRequest) throws -> Int {
    try persistentStoreCoordinator.count(for: request)
  }

  /// Who saves, for the history of the stores.
  var saveOrigin: SaveOrigin { SaveOrigin(author: transactionAuthor, contextName: name) }
}
