import HeartwoodModel
import HeartwoodStore

/// What one save does in one store.
struct PendingSave {
  let store: PersistentStore
  var changes = ChangeSet()
  var inserted: [ManagedObject] = []
  var updated: [ManagedObject] = []
  var deleted: [ManagedObject] = []

  init(store: PersistentStore) {
    self.store = store
  }
}
