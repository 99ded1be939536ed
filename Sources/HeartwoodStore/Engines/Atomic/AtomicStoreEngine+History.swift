import HeartwoodModel

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// MARK: Recording

extension AtomicStoreEngine {
  private var tracksHistory: Bool { setup.options[.tracksPersistentHistory] ?? false }

  /// Adds a transaction with what a save did to the history of `after`, where one is kept.
  ///
  /// - Throws: ``PersistenceError/Code/storeReadOnly`` where the store has a history that would miss this save.
  func record(
    _ changes: ChangeSet,
    _ insertedRows: [Int: RowRuns],
    _ origin: SaveOrigin,
    before: StoreContents,
    in after: inout StoreContents
  ) throws(PersistenceError) {
    guard tracksHistory else { return try checkNotMissed(after.history) }
    let transaction = try HistoryRecorder(before: before, after: after).transaction(
      changes,
      insertedRows: insertedRows,
      date: Date(),
      origin: origin
    )
    guard let transaction else { return }
    var history = after.history ?? StoreHistory()
    try history.append(transaction)
    after.history = history
  }

  private func checkNotMissed(_ history: StoreHistory?) throws(PersistenceError) {
    guard history != nil else { return }
    throw PersistenceError(
      .storeReadOnly,
      "The store keeps its history, which would miss this save.",
      recovery: .custom(
        "Open it with the option tracksPersistentHistory; or convert it with that option set to false, which "
          + "leaves the history out."
      ),
      context: .init(path: path, storeType: typeDescription.type)
    )
  }

  /// The history that a new store with `contents` has.
  static func keptHistory(
    _ contents: StoreContents,
    _ storeClass: any AtomicStore.Type,
    _ setup: StoreSetup
  ) -> StoreHistory? {
    let isKept = storeClass.typeDescription.capabilities.supportsHistory
    return isKept && setup.options[.tracksPersistentHistory] ?? true ? contents.history : nil
  }
}

// MARK: Reading and purging

extension AtomicStoreEngine {
  package func history() throws -> StoreHistory? {
    currentHistory ?? (tracksHistory ? StoreHistory() : nil)
  }

  package func deleteHistory(through number: (StoreHistory) throws -> Int64) throws {
    try rewrite { contents in
      guard var history = contents.history else { return false }
      try history.verify()
      history.removeTransactions(through: try number(history))
      guard history.purgedNumber != contents.history?.purgedNumber else { return false }
      contents.history = history
      return true
    }
  }
}
