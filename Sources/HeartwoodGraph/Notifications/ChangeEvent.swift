import HeartwoodModel
import HeartwoodStore

/// The objects that have changed since listeners were last told.
struct ChangeEvent {
  private var touched = ObjectList()
  /// Those of them that are new.
  private var inserted: Set<ObjectIdentifier> = []

  var isEmpty: Bool { touched.isEmpty }
  var objects: [ManagedObject] { touched.objects }

  mutating func note(_ object: ManagedObject) {
    touched.append(object)
  }

  /// Takes out objects that have been told of.
  mutating func forget(_ objects: some Sequence<ManagedObject>) {
    if isEmpty { return }
    for object in objects { touched.remove(object) }
  }

  mutating func noteInsertion(of object: ManagedObject) {
    touched.append(object)
    inserted.insert(ObjectIdentifier(object))
  }

  /// What became of the objects, added to `changes`.
  func told(in changes: ContextChanges) -> ContextChanges {
    var changes = changes
    for object in touched.objects {
      let isNew = inserted.contains(ObjectIdentifier(object))
      let isGone = object.isDeleted || object.managedObjectContext == nil
      switch (isNew, isGone) {
      case (true, true): break
      case (true, false): changes.records.inserted.insert(object.objectID)
      case (false, true): changes.records.deleted.insert(object.objectID)
      case (false, false): changes.records.updated.insert(object.objectID)
      }
    }
    return changes
  }
}
