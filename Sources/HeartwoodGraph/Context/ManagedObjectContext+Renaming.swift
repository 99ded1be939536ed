import HeartwoodModel
import HeartwoodStore

extension ManagedObjectContext {
  /// Lets all that the context has name records by the names that they have now.
  func takeNames(of records: RenamedRecords, _ bindings: [EntityBinding]) {
    for binding in bindings { takeNames(of: records, binding) }
    let newID = { (id: ManagedObjectID) in records.newID(id) ?? id }
    for object in inserted.objects {
      guard case .changed(let changes) = object.content else { continue }
      takeNames(of: records, changes, object)
      changes.newID = changes.newID.map(newID)
    }
    inserted.replaceIDs(newID)
    lostIDs = Set(lostIDs.map(newID))
    recorder?.takeNames(in: self, newID)
    renamePostponedChanges(newID)
    changeNumber &+= 1
    if !liveResults.isEmpty { liveResults.objectsWereRenamed(registeredObjects) }
  }

  /// What has been read and not changed is read anew, in its new names.
  private func takeNames(of records: RenamedRecords, _ binding: EntityBinding) {
    do {
      try binding.synchronize()
    } catch {
      noteReadFailure(.unreadable([], in: binding.entity, error))
    }
    binding.takeNamesOfLostObjects(records)
    binding.recoverLostObjects()
    for object in binding.registeredObjects {
      switch object.content {
      case .fault: break
      case .read(let group):
        let isNewest = object.isDeleted && binding.isNewest(object.rowID, of: group, records)
        object.content = isNewest ? binding.liveGroup(of: object.rowID).map(ObjectContent.read) ?? .read(group) : .fault
      case .changed(let changes):
        takeNames(of: records, changes, object)
        object.rebase(changes, on: records)
      }
    }
  }

  private func takeNames(of records: RenamedRecords, _ changes: ObjectChanges, _ object: ManagedObject) {
    var ids: [ManagedObjectID: ManagedObjectID] = [:]
    changes.forEachUnsettled { _, value in
      for id in value.objectIDs { ids[id] = records.newID(id) }
    }
    changes.replaceIDs(ids, relationships: object.entity.relationshipTargets)
  }
}

extension ManagedObject {
  /// Lets changes stay on top of the same record with other names.
  final func rebase(_ changes: ObjectChanges, on records: RenamedRecords) {
    guard let group = changes.group, let newest = binding.liveGroup(of: rowID) else { return }
    if !binding.isNewest(rowID, of: group, records) {
      let row = rowID.row
      let others = binding.ordinalsOfOtherValues(row, of: group, row, of: newest, renamed: records.newID)
      noteOutdated(changes, by: others)
    }
    changes.group = newest
  }
}

extension EntityBinding {
  /// Whether the newest version of a record, which has other names than `group`, is the same for the rest.
  fileprivate func isNewest(_ row: RowID, of group: RowGroup, _ records: RenamedRecords) -> Bool {
    guard let newest = liveGroup(of: row) else { return false }
    return group.versions[row.row] == newest.versions[row.row]
      || rowsMayMove && hasSameValues(row.row, of: group, row.row, of: newest, renamed: records.newID)
  }
}
