import HeartwoodModel
import HeartwoodStore

/// What one save does in one store.
struct PendingSave {
  let store: PersistentStore
  let source: any RecordSource
  /// The new objects of each entity.
  var inserted: [PendingInsertion] = []
  /// Changed objects; those of one entity follow each other in the order of their rows.
  var updated: [ManagedObject] = []
  var deleted: [ManagedObject] = []
  /// The ids that the new objects get.
  var permanentIDs: PermanentIDs?
  /// The same as a store takes it.
  var changes = ChangeSet()

  init(store: PersistentStore, source: any RecordSource) {
    self.store = store
    self.source = source
  }

  var insertedCount: Int { inserted.reduce(0) { $0 + $1.objects.count } }

  /// The permanent ids of the new objects, by their temporary ones.
  var successors: [ManagedObjectID: ManagedObjectID] {
    var successors: [ManagedObjectID: ManagedObjectID] = [:]
    for id in inserted.lazy.flatMap(\.objects).map(\.objectID) where id.isTemporaryID {
      successors[id] = permanentIDs?[id]
    }
    return successors
  }
}

/// New objects of one entity that are saved together.
struct PendingInsertion {
  let entity: EntityDescription
  var objects: ContiguousArray<ManagedObject> = []
  /// The references that their records get, in the same order.
  var references: ReferenceColumn?

  init(entity: EntityDescription) {
    self.entity = entity
  }
}
