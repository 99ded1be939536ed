import HeartwoodModel
import HeartwoodStore

/// The changes of a store record by record.
extension SaveBuilder {
  mutating func changesByRecord(_ save: PendingSave) -> ChangeSet {
    var changes = ChangeSet()
    changes.inserted = save.inserted.flatMap(\.objects).map { object in
      let values = context.valuesToSave(object)
      validation.check(values, of: object)
      validation.checkByOwnRules(object)
      return ObjectSnapshot(objectID: object.objectID, version: 0, values: values)
    }
    changes.updated = save.updated.compactMap { recordUpdate($0) }
    changes.deleted = save.deleted.map { RecordDeletion(objectID: $0.objectID, baseVersion: $0.baseVersion) }
    return changes
  }

  /// What of the changes has to be written; nil where only transient values have changed.
  private mutating func recordUpdate(_ object: ManagedObject) -> RecordUpdate? {
    let values = context.valuesToSave(object)
    // An object whose record is gone is a conflict, which the source tells.
    if object.group != nil {
      validation.check(values, of: object)
      validation.checkByOwnRules(object)
    }
    guard case .changed(let changes) = object.content else { return nil }
    let ordinals = changes.unsettledOrdinals.filter { !object.binding.traits[$0].isTransient }
    guard !ordinals.isEmpty else { return nil }
    return RecordUpdate(
      objectID: object.objectID,
      baseVersion: object.baseVersion,
      values: ordinals.map { (ordinal: $0, value: values[$0]) }
    )
  }
}
