import HeartwoodModel
import HeartwoodStore
import Synchronization

extension ManagedObjectContext {
  /// Replaces the references of records in everything that the context has by their new ones.
  func takeNames(of records: RenamedRecords, _ bindings: [EntityBinding]) {
    for binding in bindings { takeNames(of: records, binding) }
    let newID = { (id: ManagedObjectID) in records.newID(id) ?? id }
    for object in pending.inserted.objects {
      guard case .changed(let changes) = object.content else { continue }
      takeNames(of: records, changes, object)
      changes.newID = changes.newID.map(newID)
    }
    pending.replaceIDs(newID)
    saveProgress.replaceIDs(newID)
    recorder?.takeNames(in: self, newID)
    postponed.replaceIDs(newID)
    notes.noteChange()
    if !notifier.liveResults.isEmpty { notifier.liveResults.objectsWereRenamed(registeredObjects) }
  }

  /// Reads unchanged values again, with the new references.
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
  /// Rebases changes on the same record under its new reference.
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
  /// Returns whether the newest version of a record equals `group` apart from the new references.
  fileprivate func isNewest(_ row: RowID, of group: RowGroup, _ records: RenamedRecords) -> Bool {
    guard let newest = liveGroup(of: row) else { return false }
    return group.versions[row.row] == newest.versions[row.row]
      || rowsMayMove && hasSameValues(row.row, of: group, row.row, of: newest, renamed: records.newID)
  }
}

// MARK: RenamedRecords

/// The records of two stores that are the same, in the same rows, under other references.
struct RenamedRecords: Sendable {
  private let former: PersistentStore
  private let successor: PersistentStore
  private let unsavedNames: UnsavedNames

  /// - Returns: nil if all records keep their references.
  init?(_ former: PersistentStore, _ successor: PersistentStore, _ unsavedNames: UnsavedNames) {
    let kinds = { (store: PersistentStore) in Set(store.typeDescription.capabilities.referenceKinds) }
    guard successor.engine.hasRenamedRecords || !kinds(successor).isSuperset(of: kinds(former)) else { return nil }
    self.former = former
    self.successor = successor
    self.unsavedNames = unsavedNames
  }

  func isSame(as other: RenamedRecords) -> Bool { former === other.former && successor === other.successor }

  /// Returns the new id of a record of the former store; nil if `id` is of another store.
  func newID(_ id: ManagedObjectID) -> ManagedObjectID? {
    guard id.storeIdentifier == former.identifier, !id.isTemporaryID else { return nil }
    guard let reference = savedName(id) else { return unsavedNames.newID(id, in: successor) }
    return ManagedObjectID(scope: successor.engine.scopes[id.entity.ordinal], reference: reference)
  }

  private func savedName(_ id: ManagedObjectID) -> ReferenceID? {
    // try?: the conversion has read both stores completely, and both stay readable.
    guard let table = try? former.engine.table(of: id.entity), let row = try? table.row(of: id.reference),
      let newest = try? successor.engine.table(of: id.entity), newest.isLive(row)
    else { return nil }
    return newest.reference(row)
  }
}

/// The references of unsaved records after the conversion of their store to one with other references: the same ones in
/// all contexts.
final class UnsavedNames: Sendable {
  private struct Key: Hashable {
    let id: ManagedObjectID
    let store: PersistentStoreKey
  }

  /// A store, which is retained so that no other gets its address.
  private struct PersistentStoreKey: Hashable {
    let store: PersistentStore

    static func == (left: Self, right: Self) -> Bool { left.store === right.store }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(store)) }
  }

  private struct Names {
    var names: [Key: ManagedObjectID] = [:]
    /// The first ids of the records that have got other ones.
    var origins: [ManagedObjectID: ManagedObjectID] = [:]
  }

  private let state = Mutex(Names())

  /// Returns the id of a record in `store`, and assigns one the first time; nil if it cannot.
  func newID(_ id: ManagedObjectID, in store: PersistentStore) -> ManagedObjectID? {
    state.withLock { state in
      let key = Key(id: state.origins[id] ?? id, store: PersistentStoreKey(store: store))
      if let name = state.names[key] { return name }
      // try?: a record without a new reference keeps the former one, which no store has: finding it, or saving a
      // reference to it, throws.
      guard let reference = try? store.newReferences(count: 1, for: id.entity)[0] else { return nil }
      let name = ManagedObjectID(scope: store.engine.scopes[id.entity.ordinal], reference: reference)
      state.names[key] = name
      state.origins[name] = key.id
      return name
    }
  }
}
