public import HeartwoodFoundation
import HeartwoodModel
public import HeartwoodStore

// MARK: Reading

extension PersistentStoreCoordinator {
  /// Returns the transactions that match `request`: those of each store in their order, and those of several stores by
  /// date.
  ///
  /// It reads only the parts of the histories that contain the transactions; changes are read when a transaction is
  /// asked for them.
  ///
  /// - Parameter stores: the stores whose histories are read; nil stands for all open ones that keep one.
  /// - Throws: ``PersistenceError/Code/historyTokenExpired`` if transactions after the request's token were purged;
  ///   ``PersistenceError/Code/capabilityMissing`` and ``PersistenceError/Code/historyNotTracked`` if one of `stores`,
  ///   or every open store, keeps no history.
  public func execute(
    _ request: PersistentHistoryChangeRequest,
    in stores: [PersistentStore]? = nil
  ) throws -> [PersistentHistoryTransaction] {
    try checkEntity(of: request)
    let lists = try readers(of: stores).map { try $0.reader.transactions(request) }
    return lists.dropFirst().reduce(lists.first ?? []) { $0.merged(byDateWith: $1) }
  }

  /// Returns the number of transactions that match `request`. If it asks for all transactions after a token, this does
  /// no I/O.
  ///
  /// - Parameter stores: the stores whose histories are read; nil stands for all open ones that keep one.
  /// - Throws: the errors of ``execute(_:in:)``.
  public func count(for request: PersistentHistoryChangeRequest, in stores: [PersistentStore]? = nil) throws -> Int {
    try checkEntity(of: request)
    return try readers(of: stores).reduce(0) { $0 + (try $1.reader.count(request)) }
  }

  /// Returns the position after the newest transactions of the stores; nil if none of them keeps its history. It does
  /// no I/O.
  ///
  /// - Parameter stores: nil stands for all open ones.
  public func currentPersistentHistoryToken(
    fromStores stores: [PersistentStore]? = nil
  ) throws -> PersistentHistoryToken? {
    var numbers: [UUID: Int64] = [:]
    for store in stores ?? persistentStores {
      if let history = try store.engine.history() { numbers[store.identifier] = history.lastNumber }
    }
    return numbers.isEmpty ? nil : PersistentHistoryToken(numbers)
  }

  private func checkEntity(of request: PersistentHistoryChangeRequest) throws(PersistenceError) {
    if let name = request.entityName { _ = try managedObjectModel.knownEntity(named: name) }
  }

  /// Returns the stores, and readers of their histories.
  private func readers(
    of stores: [PersistentStore]?
  ) throws -> [(store: PersistentStore, reader: HistoryReader)] {
    if let stores { return try stores.map { ($0, try requiredReader(of: $0)) } }
    let candidates = persistentStores
    let found = try candidates.compactMap { store in try store.historyReader().map { (store, $0) } }
    guard found.isEmpty else { return found }
    // If none of several stores keeps a history, the error of one that could is more helpful.
    let helpful = candidates.first { $0.capabilities.supports(.history) } ?? candidates.first
    _ = try helpful?.requiredHistoryReader()
    return []
  }

  private func requiredReader(of store: PersistentStore) throws -> HistoryReader {
    guard isOpen(store) else { throw Self.notOpen(store) }
    return try store.requiredHistoryReader()
  }
}

// MARK: Purging

extension PersistentStoreCoordinator {
  /// Deletes the transactions up to `token` permanently: the file of an atomic store is written. Fetching after the
  /// token still works, fetching after an earlier one fails.
  ///
  /// Stores that the token does not mention keep all their transactions.
  ///
  /// - Parameter stores: the stores whose histories are purged; nil stands for all open ones that keep one.
  /// - Throws: ``PersistenceError/Code/capabilityMissing``, ``PersistenceError/Code/historyNotTracked``,
  ///   ``PersistenceError/Code/storeReadOnly``, and the errors of writing a file. The file is intact then; see
  ///   ``ManagedObjectContext/save()``.
  public func deleteHistory(before token: PersistentHistoryToken, in stores: [PersistentStore]? = nil) throws {
    for (store, _) in try readers(of: stores) {
      let number = token.transactionNumber(forStoreWithIdentifier: store.identifier) ?? 0
      try store.engine.deleteHistory { _ in number }
    }
  }

  /// Deletes the transactions of the same store before `transaction`, which stays.
  public func deleteHistory(before transaction: PersistentHistoryTransaction) throws {
    guard let store = persistentStore(withIdentifier: transaction.storeID) else { throw Self.notOpen(nil) }
    _ = try store.requiredHistoryReader()
    try store.engine.deleteHistory { _ in transaction.transactionNumber - 1 }
  }

  /// Deletes the transactions that were saved before a date, up to the first that was not: if clocks have differed, a
  /// transaction with an earlier date than its predecessor stays with it.
  ///
  /// - Parameter stores: the stores whose histories are purged; nil stands for all open ones that keep one.
  public func deleteHistory(before date: Date, in stores: [PersistentStore]? = nil) throws {
    for (store, _) in try readers(of: stores) { try store.engine.deleteHistory(before: date) }
  }
}

extension [PersistentHistoryTransaction] {
  /// Returns both lists merged by date; each keeps its order.
  fileprivate func merged(byDateWith other: [PersistentHistoryTransaction]) -> [PersistentHistoryTransaction] {
    var merged: [PersistentHistoryTransaction] = []
    merged.reserveCapacity(count + other.count)
    var rest = other[...]
    for transaction in self {
      while let next = rest.first, next.timestamp < transaction.timestamp {
        merged.append(next)
        rest = rest.dropFirst()
      }
      merged.append(transaction)
    }
    return merged + rest
  }
}

// MARK: ManagedObjectContext: history

// MARK: History of the stores

extension ManagedObjectContext {
  /// Returns the transactions that match `request` in all stores of the coordinator that keep their history; see
  /// ``PersistentStoreCoordinator/execute(_:in:)``.
  public func execute(_ request: PersistentHistoryChangeRequest) throws -> [PersistentHistoryTransaction] {
    try persistentStoreCoordinator.execute(request)
  }

  /// Returns the number of transactions that match `request`; see ``PersistentStoreCoordinator/count(for:in:)``.
  public func count(for request: PersistentHistoryChangeRequest) throws -> Int {
    try persistentStoreCoordinator.count(for: request)
  }

  /// The author and the context name of saves, for the persistent history.
  package var saveOrigin: SaveOrigin { SaveOrigin(author: transactionAuthor, contextName: name) }
}
