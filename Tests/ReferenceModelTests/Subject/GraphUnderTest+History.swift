import HeartwoodGraph
import HeartwoodModel
import HeartwoodStore

extension GraphUnderTest {
  func history(_ request: HistoryRequest) throws -> Outcome {
    let token = request.number.map { PersistentHistoryToken([store.identifier: Int64($0)]) }
    var fetch = PersistentHistoryChangeRequest.fetchHistory(after: token)
    fetch.authors = request.author.map { [$0] }
    fetch.entityName = request.entity
    do {
      let transactions = try coordinator.execute(fetch)
      try require(try coordinator.count(for: fetch), equals: transactions.count, "the count of transactions")
      return .history(try transactions.map(transaction))
    } catch let error as PersistenceError {
      return .refused(error.code)
    }
  }

  func lastTransactionNumber() throws -> Int? {
    try coordinator.currentPersistentHistoryToken()?
      .transactionNumber(forStoreWithIdentifier: store.identifier)
      .map(Int.init(clamping:))
  }

  func purgeHistory(through number: Int) throws {
    try coordinator.deleteHistory(before: PersistentHistoryToken([store.identifier: Int64(number)]))
  }

  private func transaction(_ transaction: PersistentHistoryTransaction) throws -> ReferenceTransaction {
    var changes: [Key: ReferenceChange] = [:]
    for change in transaction.changes {
      guard let key = key(of: change.changedObjectID) else { throw Mismatch("the history has what nobody has saved") }
      guard changes.updateValue(self.change(change), forKey: key) == nil else {
        throw Mismatch("transaction \(transaction.transactionNumber) has #\(key) twice")
      }
    }
    return ReferenceTransaction(
      number: Int(transaction.transactionNumber),
      author: transaction.author ?? "",
      changes: changes
    )
  }

  private func change(_ change: PersistentHistoryChange) -> ReferenceChange {
    switch change.changeType {
    case .insert: .insert
    case .update: .update(Set(change.updatedProperties))
    case .delete: .delete(change.tombstone.mapValues(ReferenceValue.attribute))
    }
  }
}
