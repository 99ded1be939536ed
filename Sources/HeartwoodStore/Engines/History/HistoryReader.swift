package import HeartwoodModel

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Finds the transactions in the history of one store that a request asks for.
package struct HistoryReader: Sendable {
  package let history: StoreHistory
  private let storeID: UUID
  private let scopes: HistoryScopes
  private let path: String?

  /// - Parameter scopes: those of the store, one for each entity.
  package init(_ history: StoreHistory, storeID: UUID, scopes: [ObjectIDScope], path: String?) {
    self.history = history
    self.storeID = storeID
    self.scopes = HistoryScopes(scopes, path: path)
    self.path = path
  }
}

extension HistoryReader {
  /// The transactions that `request` asks for, in order.
  ///
  /// - Throws: ``PersistenceError/Code/historyTokenExpired``, ``PersistenceError/Code/fileCorrupt``,
  ///   ``PersistenceError/Code/modelIncompatible``.
  package func transactions(
    _ request: PersistentHistoryChangeRequest
  ) throws(PersistenceError) -> [PersistentHistoryTransaction] {
    var transactions: [PersistentHistoryTransaction] = []
    for entry in try history.entries(after: try startNumber(of: request)) where request.includes(entry) {
      let transaction = try PersistentHistoryTransaction(
        entry,
        storeID: storeID,
        scopes: scopes,
        isIncluded: request.includes
      )
      if transaction.changeCount > 0 { transactions.append(transaction) }
    }
    return transactions
  }

  /// How many transactions `request` asks for. Where it asks for all after a token, nothing is read for it.
  package func count(_ request: PersistentHistoryChangeRequest) throws(PersistenceError) -> Int {
    guard request.isUnfiltered else { return try transactions(request).count }
    return Int(history.lastNumber - (try startNumber(of: request)))
  }

  /// The number of the transaction behind which `request` begins.
  private func startNumber(of request: PersistentHistoryChangeRequest) throws(PersistenceError) -> Int64 {
    guard case .token(let token) = request.start,
      let number = token.transactionNumber(forStoreWithIdentifier: storeID)
    else { return history.purgedNumber }
    if number < history.purgedNumber {
      throw expired("the transactions up to \(history.purgedNumber) were purged", number)
    }
    if number > history.lastNumber {
      throw expired("the store has had \(history.lastNumber): its file is an older one", number)
    }
    return number
  }

  private func expired(_ reason: String, _ number: Int64) -> PersistenceError {
    PersistenceError(
      .historyTokenExpired,
      "The transactions after number \(number) were asked for, but \(reason).",
      recovery: .restartHistory,
      context: .init(path: path)
    )
  }
}

// MARK: The history of an open store

extension PersistentStore {
  /// A reader of the store's history, or nil where it keeps none.
  package func historyReader() throws -> HistoryReader? {
    try engine.history().map { HistoryReader($0, storeID: identifier, scopes: engine.scopes, path: path) }
  }

  /// A reader of the store's history.
  ///
  /// - Throws: ``PersistenceError/Code/capabilityMissing`` where the type of store keeps none,
  ///   ``PersistenceError/Code/historyNotTracked`` where this one does not.
  package func requiredHistoryReader() throws -> HistoryReader {
    if let reader = try historyReader() { return reader }
    try CapabilityCheck(typeDescription).checkHistory(path: path, recovery: "Convert it to a type that does.")
    throw PersistenceError(
      .historyNotTracked,
      "The store keeps no history.",
      recovery: .trackHistory,
      context: .init(path: path, storeType: type)
    )
  }
}

extension StoreEngine {
  /// Forgets the transactions that were saved before a date, up to the first that was not.
  package func deleteHistory(before date: Date) throws {
    try deleteHistory { try $0.lastNumber(beforeDate: date.timeIntervalSinceReferenceDate) }
  }
}
