import HeartwoodModel
import HeartwoodStore

/// Two stores with the same records in the same rows, under other references.
struct RenamedRecords {
  private let former: PersistentStore
  private let successor: PersistentStore

  init(_ former: PersistentStore, _ successor: PersistentStore) {
    self.former = former
    self.successor = successor
  }

  func isSame(as other: RenamedRecords) -> Bool { former === other.former && successor === other.successor }

  /// What a record is called now; nil for one that is none of the former store's.
  func newID(_ id: ManagedObjectID) -> ManagedObjectID? {
    guard id.storeIdentifier == former.identifier, !id.isTemporaryID,
      let table = try? former.engine.table(of: id.entity), let row = try? table.row(of: id.reference),
      let newest = try? successor.engine.table(of: id.entity), newest.isLive(row)
    else { return nil }
    return ManagedObjectID(scope: successor.engine.scopes[id.entity.ordinal], reference: newest.reference(row))
  }
}

extension ManagedObjectContext {
  /// Lets the objects of a binding, which have read records by their old names, name them by the new ones. What has not been changed is
  /// read anew.
  func takeNames(of records: RenamedRecords, _ binding: EntityBinding) {
    try? binding.synchronize()
    for object in binding.registeredObjects {
      switch object.content {
      case .fault: break
      case .read: object.becomeFault()
      case .changed(let changes): takeNames(of: records, changes, object)
      }
    }
  }

  /// Lets the new objects name records of a store by the new names.
  func takeNamesOfInserted(_ records: RenamedRecords) {
    for object in inserted.objects {
      if case .changed(let changes) = object.content { takeNames(of: records, changes, object) }
    }
  }

  private func takeNames(of records: RenamedRecords, _ changes: ObjectChanges, _ object: ManagedObject) {
    var ids: [ManagedObjectID: ManagedObjectID] = [:]
    changes.forEachUnsettled { _, value in
      for id in value.objectIDs { ids[id] = records.newID(id) }
    }
    changes.replaceIDs(ids, relationships: object.entity.relationshipTargets)
    let row = object.rowID
    guard let group = changes.group, let newest = object.binding.liveGroup(of: row) else { return }
    if group.versions[row.row] != newest.versions[row.row] { changes.isOutdated = true }
    changes.group = newest
  }
}
