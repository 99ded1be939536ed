import HeartwoodModel
import Synchronization

extension IncrementalStoreEngine {
  /// Nothing was done: the records go through memory.
  private struct Declined: Error {}

  package func execute(_ batch: RecordBatch) throws -> BatchedRecords? {
    guard let store = store as? any BatchingStore, canLeave(batch) else { return nil }
    try checkPlace()
    return try using {
      // The store may make another error of ours.
      var isDeclined = false
      do {
        let (done, tables, mark) = try store.saving {
          try renewIfNeeded()
          guard let done = try store.execute(batch) else {
            isDeclined = true
            throw Declined()
          }
          return (done, try knownTables(after: batch), try store.changeMark())
        }
        take(tables, mark)
        return done
      } catch let error {
        // Where nothing is to be changed, it does not matter that nothing can be.
        let isRefused = (error as? PersistenceError)?.code == .storeReadOnly
        guard isDeclined || isRefused else { throw error }
        return nil
      }
    }
  }

  private func take(_ tables: [NodeTable], _ mark: UInt64) {
    state.withLock { state in
      state.contents.tables = tables
      state.mark = mark
    }
    uniqueness.withLock { $0 = UniquenessCheck(setup.model) }
    saves.advance()
  }

  /// Whether a batch may be left to the store: the records have not all been read, for then it is quicker to write those that change, and nothing
  /// else is to be saved with them.
  private func canLeave(_ batch: RecordBatch) -> Bool {
    if setup.isReadOnly { return false }
    return state.withLock { state in
      !state.hasUnsavedMetadata && state.contents.metadata.hasVersions(of: setup.entities)
        && batch.records.allSatisfy { !state.whole.contains($0.entity.ordinal) }
    }
  }

  /// The known records as the store has them after a batch: those of its entities are read again, and those that their relationships lead to.
  private func knownTables(after batch: RecordBatch) throws -> [NodeTable] {
    var touched = Set(batch.records.map(\.entity.ordinal))
    if case .delete = batch.action {
      for target in batch.records.flatMap(\.entity.relationshipTargets).compactMap(\.self) {
        let destination = setup.model.entities[target.entityOrdinal]
        touched.formUnion(setup.model.concreteEntities(under: destination).map(\.ordinal))
      }
    }
    return try renewedTables(state.withLock { $0 }, of: setup.entities.filter { touched.contains($0.ordinal) }).tables
  }
}
