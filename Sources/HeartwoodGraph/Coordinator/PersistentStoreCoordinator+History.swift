public import HeartwoodFoundation
import HeartwoodModel
public import HeartwoodStore

// MARK: Reading

extension PersistentStoreCoordinator {
  /// The transactions that `request` asks for: those of each store in their order, and those of several stores by their dates.
  ///
  /// It reads the parts of the histories that the transactions lie in; changes are read when a transaction is asked for them.
  ///
  /// - Parameter stores: the stores whose histories are read; nil means all open ones that keep one.
  /// - Throws: ``PersistenceError/Code/historyTokenExpired`` where transactions after the request's token were purged;
  ///   ``PersistenceError/Code/capabilityMissing`` and ``PersistenceError/Code/historyNotTracked`` where a store that was given, or
  ///   every open one, keeps no history.
  public func execute(
    _ request: PersistentHistoryChangeRequest,
    in stores: [PersistentStore]? = nil
  ) throws -> [PersistentHistoryTransaction] {
    try checkEntity(of: request)
    let lists = try readers(of: stores).map { try $0.reader.transactions(request) }
    return lists.dropFirst().reduce(lists.first ?? []) { $0.merged(byDateWith: $1) }
  }

  /// How many transactions `request` asks for. Where it asks for all after a token, nothing is read for it.
  ///
  /// - Parameter stores: the stores whose histories are read; nil means all open ones that keep one.
  /// - Throws: what ``execute(_:in:)`` throws.
  public func count(for request: PersistentHistoryChangeRequest, in stores: [PersistentStore]? = nil) throws -> Int {
    try checkEntity(of: request)
    return try readers(of: stores).reduce(0) { $0 + (try $1.reader.count(request)) }
  }

  /// The point behind the newest transactions of the stores; nil where none of them keeps its history. It reads nothing.
  ///
  /// - Parameter stores: nil means all open ones.
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

  /// The stores, and readers of their histories.
  private func readers(
    of stores: [PersistentStore]?
  ) throws -> [(store: PersistentStore, reader: HistoryReader)] {
    if let stores { return try stores.map { ($0, try requiredReader(of: $0)) } }
    let candidates = persistentStores
    let found = try candidates.compactMap { store in try store.historyReader().map { (store, $0) } }
    guard found.isEmpty else { return found }
    // Of several that keep none, one that could has the more helpful error.
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
  /// Forgets the transactions that `token` stands behind, durably: an atomic store's file is written. Fetching after the token goes
  /// on working, fetching after an earlier one fails.
  ///
  /// Stores about which the token says nothing keep all their transactions.
  ///
  /// - Parameter stores: the stores whose histories are purged; nil means all open ones that keep one.
  /// - Throws: ``PersistenceError/Code/capabilityMissing``, ``PersistenceError/Code/historyNotTracked``,
  ///   ``PersistenceError/Code/storeReadOnly``, and what writing a file can throw. The file is whole then; see
  ///   ``ManagedObjectContext/save()``.
  public func deleteHistory(before token: PersistentHistoryToken, in stores: [PersistentStore]? = nil) throws {
    for (store, _) in try readers(of: stores) {
      let number = token.transactionNumber(forStoreWithIdentifier: store.identifier) ?? 0
      try store.engine.deleteHistory { _ in number }
    }
  }

  /// Forgets the transactions of the same store that came before one. That one stays.
  public func deleteHistory(before transaction: PersistentHistoryTransaction) throws {
    guard let store = persistentStore(withIdentifier: transaction.storeID) else { throw Self.notOpen(nil) }
    _ = try store.requiredHistoryReader()
    try store.engine.deleteHistory { _ in transaction.transactionNumber - 1 }
  }

  /// Forgets the transactions that were saved before a date, up to the first that was not: where clocks have differed, one that says
  /// it is older than the one before it stays with it.
  ///
  /// - Parameter stores: the stores whose histories are purged; nil means all open ones that keep one.
  public func deleteHistory(before date: Date, in stores: [PersistentStore]? = nil) throws {
    for (store, _) in try readers(of: stores) { try store.engine.deleteHistory(before: date) }
  }
}

extension [PersistentHistoryTransaction] {
  /// Both lists in one, the earlier date first; each keeps its order.
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
  package var saveOrigin: SaveOrigin { SaveOrigin(author: transactionAuthor, contextName: name) }
}
