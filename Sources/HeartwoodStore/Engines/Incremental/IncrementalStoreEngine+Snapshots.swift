import HeartwoodModel
import Synchronization

// A context that stays at a version of the records reads it from a snapshot, if the store can keep one: a store of its
// own, with tables of its own, in which records have rows of their own. Only the records that are used are read from
// it.

extension IncrementalStoreEngine {
  package func snapshot() throws -> PersistentStore? {
    guard !isWhollyKnown else { return nil }
    return try withStoreErrors(.fileReadFailed, "The store cannot keep a snapshot of its records.") {
      try usingForReading {
        guard let snapshot = try store.snapshot() else { return nil }
        return try snapshotEngine(snapshot)
      }
    }
  }

  /// Whether all records are in memory.
  private var isWhollyKnown: Bool { state.withLock { $0.whole.count == setup.model.entities.count } }

  private func snapshotEngine(_ snapshot: any IncrementalStore) throws -> PersistentStore {
    do {
      let engine = try IncrementalStoreEngine(
        store: snapshot,
        typeDescription: typeDescription,
        setup: setup,
        fileSystem: fileSystem,
        contents: StoreContents(model: setup.model, entities: setup.entities, metadata: metadata),
        mark: try snapshot.dataVersion(),
        isWhole: false
      )
      snapshots.withLock { snapshots in
        snapshots.removeAll { $0.engine == nil }
        snapshots.append(WeakSnapshot(engine: engine))
      }
      return PersistentStore(engine: engine, setup: setup, typeDescription: typeDescription)
    } catch {
      // No other code disconnects the store of the snapshot.
      snapshot.disconnect()
      throw error
    }
  }

  /// Closes the file: code that has a snapshot can then use only the records that are already known.
  func closeSnapshots() {
    let engines = snapshots.withLock { snapshots in
      defer { snapshots = [] }
      return snapshots.compactMap(\.engine)
    }
    for engine in engines { _ = engine.close(unlessSavedSince: nil) }
  }
}

/// A weak reference to a snapshot.
struct WeakSnapshot: Sendable {
  private(set) weak var engine: IncrementalStoreEngine?
}
