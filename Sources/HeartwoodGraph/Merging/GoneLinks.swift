import HeartwoodModel
import HeartwoodStore

/// The links that changes of a context would add to records which are gone.
///
/// Where another save has deleted a record, a policy drops what the context has changed of it, and with that one end of its new links. The
/// other end is on objects that may be in no conflict, and leads to nothing.
struct GoneLinks {
  private let context: ManagedObjectContext

  init(_ context: ManagedObjectContext) {
    self.context = context
  }

  /// Takes the links back. Those of relationships without an inverse stay, as they do where they were saved before the deletion.
  func drop() {
    for object in context.inserted.objects + context.updated.objects where object.isPresent { drop(from: object) }
  }

  private func drop(from object: ManagedObject) {
    guard case .changed(let changes) = object.content else { return }
    for ordinal in changes.unsettledOrdinals {
      let trait = object.binding.traits[ordinal]
      if trait.inverseOrdinal == nil || trait.isTransient { continue }
      let former = ObjectIDList(object.committedValue(at: ordinal).objectIDs)
      for id in object.value(at: ordinal).objectIDs where !former.contains(id) && hasNoRecord(id) {
        object.unlink(ordinal, from: id)
      }
    }
  }

  /// Whether another save has deleted the record.
  private func hasNoRecord(_ id: ManagedObjectID) -> Bool {
    do {
      guard let object = try context.find(id) else { return true }
      return !object.isInserted && object.binding.liveGroup(of: object.rowID) == nil
    } catch {
      // Nobody knows whether it is there.
      return false
    }
  }
}
