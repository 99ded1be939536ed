import HeartwoodModel
import HeartwoodStore

/// What one save does in one store.
struct PendingSave {
  let store: PersistentStore
  let source: any RecordSource
  var changes = ChangeSet()
  var inserted: [ManagedObject] = []
  var updated: [ManagedObject] = []
  var deleted: [ManagedObject] = []

  init(store: PersistentStore, source: any RecordSource) {
    self.store = store
    self.source = source
  }
}
