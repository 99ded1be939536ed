public import HeartwoodModel

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// One save of one store, as its history keeps it.
///
/// The changes stay as they lie in the history until they are asked for, so holding transactions costs little.
public struct PersistentHistoryTransaction: Sendable {
  private let entry: HistoryEntry
  private let runs: [Run]
  /// The identifier of the store that was saved.
  public let storeID: UUID

  private struct Run: Sendable {
    let records: HistoryRun
    let scope: ObjectIDScope
    /// The changes of the transaction before the first of the run.
    let changesBefore: Int64
  }

  /// - Parameter isIncluded: whether changes of an entity belong to what was asked for.
  /// - Throws: ``PersistenceError/Code/modelIncompatible`` where the model lacks an entity of the history.
  init(
    _ entry: HistoryEntry,
    storeID: UUID,
    scopes: HistoryScopes,
    isIncluded: (EntityDescription) -> Bool
  ) throws(PersistenceError) {
    self.entry = entry
    self.storeID = storeID
    var runs: [Run] = []
    var changesBefore: Int64 = 0
    for records in entry.runs {
      let scope = try scopes.scope(ofEntity: records.entityName)
      if isIncluded(scope.entity) { runs.append(Run(records: records, scope: scope, changesBefore: changesBefore)) }
      changesBefore += Int64(records.count)
    }
    self.runs = runs
  }
}

extension PersistentHistoryTransaction {
  /// The number of the transaction in its store: the first is 1, and each has one more than that before it. No number is given twice,
  /// whatever is purged.
  public var transactionNumber: Int64 { entry.number }

  /// When the store was saved.
  public var timestamp: Date { Date(timeIntervalSinceReferenceDate: entry.seconds) }

  /// Who saved: the author of the context's transactions, or nil where it had none.
  public var author: String? { entry.author }

  /// The name of the context that saved, or nil where it had none.
  public var contextName: String? { entry.contextName }

  /// The point behind this transaction.
  public var token: PersistentHistoryToken { PersistentHistoryToken([storeID: transactionNumber]) }

  /// How many changes there are. O(entities that were changed).
  public var changeCount: Int { runs.reduce(0) { $0 + $1.records.count } }

  /// How many changes of a kind there are. O(entities that were changed).
  public func changeCount(of type: PersistentHistoryChange.ChangeType) -> Int {
    runs.reduce(0) { $1.records.kind == type ? $0 + $1.records.count : $0 }
  }

  /// The changes: insertions, then updates, then deletions. Each call reads them anew, which is O(changes).
  public var changes: [PersistentHistoryChange] {
    var changes: [PersistentHistoryChange] = []
    changes.reserveCapacity(changeCount)
    for run in runs {
      var number = run.changesBefore
      run.records.forEachRecord { reference, tombstone in
        number += 1
        changes.append(
          PersistentHistoryChange(
            changeID: number,
            changedObjectID: ManagedObjectID(scope: run.scope, reference: reference),
            changeType: run.records.kind,
            updatedProperties: run.records.kind == .update ? run.records.propertyNames : [],
            tombstone: tombstone
          )
        )
      }
    }
    return changes
  }

  /// The ids of the records that were inserted, updated or deleted. O(changes).
  public func objectIDs(of type: PersistentHistoryChange.ChangeType) -> [ManagedObjectID] {
    var ids: [ManagedObjectID] = []
    for run in runs where run.records.kind == type {
      ids.reserveCapacity(ids.count + run.records.count)
      run.records.forEachRecord { reference, _ in ids.append(ManagedObjectID(scope: run.scope, reference: reference)) }
    }
    return ids
  }
}
