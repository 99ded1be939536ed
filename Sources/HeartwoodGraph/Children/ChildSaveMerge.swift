import HeartwoodModel
import HeartwoodStore
import Synchronization

/// Merges one save of a child into the context of its parent.
///
/// The child has changed both ends of relationships, so inverses are not updated. If the context has a value that the
/// child could not see, that value stays, and the child's links to this end are removed; to-many relationships are
/// combined link by link.
struct ChildSaveMerge {
  /// The destinations that the child has set for a relationship, and the context has not accepted.
  private struct Refusal {
    let id: ManagedObjectID
    let ordinal: Int
    let inverse: Int
    let links: [ManagedObjectID]
  }

  private let context: ManagedObjectContext
  private let childSave: StagedStore.ChildSave
  private let names: ChildSaveNames
  private let entities: [EntityDescription]
  private var refusals: [Refusal] = []
  /// The child's changes of relationships.
  private var linkChanges: [RelationshipUpkeep.LinkChange] = []
  /// The objects that the child has deleted and the context keeps.
  private var kept: [ManagedObject] = []
  /// The objects that have read the version which the child saw. The links that they must not have are known when all
  /// changes have been merged.
  private var advanced = ObjectList()
  /// The objects that the child has changed or deleted and that exist.
  private var found: [ManagedObjectID: ManagedObject] = [:]

  /// Checks that the records can be read that the child has changed.
  ///
  /// - Throws: the errors of reading them. Then nothing has been merged.
  init(
    _ context: ManagedObjectContext,
    _ childSave: StagedStore.ChildSave,
    _ names: ChildSaveNames
  ) throws(PersistenceError) {
    self.context = context
    self.childSave = childSave
    self.names = names
    entities = context.persistentStoreCoordinator.managedObjectModel.entities
    for (ordinal, records) in childSave.records {
      for reference in records.updated.map(\.reference) + records.deleted {
        try find(names.id(reference, of: entities[ordinal]))
      }
    }
  }

  private mutating func find(_ id: ManagedObjectID) throws(PersistenceError) {
    do throws(PersistenceError) {
      found[id] = try context.find(id)
    } catch {
      // The records of a removed store are gone with it, and the save throws.
      if error.code != .storeNotOpen { throw .unreadable([id], error) }
    }
  }
}

extension ChildSaveMerge {
  mutating func run() {
    // Relationships may refer to new objects.
    for (ordinal, records) in childSave.records { insert(records.inserted, of: entities[ordinal]) }
    for (ordinal, records) in childSave.records {
      for row in records.inserted { fill(row, of: entities[ordinal]) }
      for update in records.updated { take(update, of: entities[ordinal]) }
      for reference in records.deleted { takeDeletion(of: reference, entities[ordinal]) }
    }
    let upkeep = RelationshipUpkeep(context)
    upkeep.endChildSave(of: changedObjects, linkChanges, keeping: kept, advanced: advanced.objects) {
      for refusal in refusals { settle(refusal) }
    }
  }

  /// The objects that the child has inserted, changed or deleted and that exist.
  private var changedObjects: [ManagedObject] {
    let inserted = childSave.records.flatMap { ordinal, records in
      records.inserted.compactMap { context.pending.inserted[names.id($0.reference, of: entities[ordinal])] }
    }
    return inserted + found.values
  }

  /// Returns the object of a record, with its values, if it still exists.
  private mutating func object(_ id: ManagedObjectID) -> ManagedObject? {
    guard let object = found[id] ?? context.pending.inserted[id], !object.isDeleted else { return nil }
    // Saves of others after the child's are conflicts. If records have other ids, the context reads the newest values
    // by those.
    if !names.areOld, object.read(childSave.bases[id.entity.ordinal]) { advanced.append(object) }
    if object.isFault { object.fireFault() }
    return object.isDeleted ? nil : object
  }
}

// MARK: New objects

extension ChildSaveMerge {
  private func insert(_ rows: [NodeTable.NewRow], of entity: EntityDescription) {
    if rows.isEmpty { return }
    // If the store is converted, the binding knows the former ids.
    _ = context.binding(for: entity, in: names.store)
    for row in rows {
      _ = context.makeNewObject(context.bindingForNewObjects(of: entity), names.id(row.reference, of: entity))
    }
  }

  private mutating func fill(_ row: NodeTable.NewRow, of entity: EntityDescription) {
    let id = names.id(row.reference, of: entity)
    guard let object = object(id) else { return context.children.noteConflict(id) }
    for (ordinal, value) in row.values.enumerated() where !entity.traits[ordinal].isTransient {
      let value = names.value(value)
      object.set(value, at: ordinal)
      note(value, since: nil, at: ordinal, of: object)
    }
  }

  /// Notes the child's change of a relationship.
  private mutating func note(
    _ value: PropertyValue,
    since former: PropertyValue?,
    at ordinal: Int,
    of object: ManagedObject
  ) {
    guard let inverse = object.binding.traits[ordinal].inverseOrdinal else { return }
    let end = RelationshipEnd(object: object, ordinal: ordinal)
    linkChanges.append(
      RelationshipUpkeep.LinkChange(
        end: end,
        inverse: inverse,
        from: former?.objectIDs ?? [],
        to: value.objectIDs
      )
    )
  }
}

// MARK: Changed objects

extension ChildSaveMerge {
  private mutating func take(_ update: PendingRecords.Update, of entity: EntityDescription) {
    let id = names.id(update.reference, of: entity)
    let seen = seen(update.reference, entity)
    let object = object(id)
    if object == nil { context.children.noteConflict(id) }
    for (ordinal, value) in update.values where !entity.traits[ordinal].isTransient {
      let value = names.value(value)
      if let object {
        take(value, at: ordinal, of: object, seen)
        note(value, since: seen.value(at: ordinal), at: ordinal, of: object)
      } else {
        refuse(value, at: ordinal, of: id, seen)
      }
    }
  }

  private mutating func take(_ value: PropertyValue, at ordinal: Int, of object: ManagedObject, _ seen: SeenRecord) {
    let trait = object.binding.traits[ordinal]
    if isAsSeen(ordinal, of: object, seen) {
      object.set(value, at: ordinal)
    } else if trait.isToMany {
      let former = seen.value(at: ordinal)?.objectIDs ?? []
      let isOlder = advanced.contains(object)
      object.changeLinks(ordinal) { list in
        list.follow(from: former, to: value.objectIDs)
        if !isOlder { return }
        // The newly read relationship of the context differs from the one that the child saw by what the child has read
        // already: the child's order is the newer.
        let taken = ObjectIDList(value.objectIDs)
        if list.count == taken.count, list.ids.allSatisfy(taken.contains) { list = taken }
      }
    } else if !trait.areSame(object.value(at: ordinal), value) {
      context.children.noteConflict(object.objectID)
      refuse(value, at: ordinal, of: object.objectID, seen)
    }
  }

  private func seen(_ reference: ReferenceID, _ entity: EntityDescription) -> SeenRecord {
    SeenRecord(reference, in: childSave.tables[entity.ordinal], names)
  }

  /// Returns whether the context has the value of a property that the child saw, or an older one of the store: the next
  /// save detects that.
  private func isAsSeen(_ ordinal: Int, of object: ManagedObject, _ seen: SeenRecord) -> Bool {
    let trait = object.binding.traits[ordinal]
    let own = context.valueForChildren(object, ordinal)
    // A new object to which the child has set a reference may have been deleted since.
    if let value = seen.value(at: ordinal), trait.areSame(own, context.withoutGone(value)) { return true }
    guard !object.isInserted, !object.isUnsettled(ordinal) else { return false }
    return object.newestValue(at: ordinal).map { !trait.areSame($0, own) } ?? true
  }
}

// MARK: Deleted objects

extension ChildSaveMerge {
  private mutating func takeDeletion(of reference: ReferenceID, _ entity: EntityDescription) {
    let id = names.id(reference, of: entity)
    guard let object = object(id) else { return }
    let seen = seen(reference, entity)
    if entity.traits.indices.allSatisfy({ entity.traits[$0].isTransient || isAsSeen($0, of: object, seen) }) {
      context.markDeleted(object)
    } else {
      context.children.noteConflict(id)
      kept.append(object)
    }
  }
}

// MARK: Refused links

extension ChildSaveMerge {
  private mutating func refuse(
    _ value: PropertyValue,
    at ordinal: Int,
    of id: ManagedObjectID,
    _ seen: SeenRecord
  ) {
    guard let inverse = id.entity.traits[ordinal].inverseOrdinal else { return }
    let former = Set(seen.value(at: ordinal)?.objectIDs ?? [])
    let links = value.objectIDs.filter { !former.contains($0) }
    refusals.append(Refusal(id: id, ordinal: ordinal, inverse: inverse, links: links))
  }

  /// Removes the child's links to an object, unless the object refers back.
  private func settle(_ refusal: Refusal) {
    let object = (found[refusal.id] ?? context.pending.inserted[refusal.id]).flatMap { $0.isPresent ? $0 : nil }
    for other in others(refusal, object) where other.isPresent {
      if let object, object.leads(refusal.ordinal, to: other.objectID) { continue }
      other.unlink(refusal.inverse, from: refusal.id)
    }
  }

  private func others(_ refusal: Refusal, _ object: ManagedObject?) -> [ManagedObject] {
    if let object { return context.present(refusal.links, from: object, refusal.ordinal) }
    // The child has changed them as well, or they were new there.
    return context.objects(refusal.links)
  }
}

/// A record as a child saw it before it saved changes of it.
private struct SeenRecord {
  private let table: NodeTable
  private let row: RowID?
  private let names: ChildSaveNames

  init(_ reference: ReferenceID, in table: NodeTable, _ names: ChildSaveNames) {
    self.table = table
    self.names = names
    // try?: the child has found the record in this table when it saved.
    row = try? table.row(of: reference)
  }

  func value(at ordinal: Int) -> PropertyValue? {
    guard let row else { return nil }
    let type = table.entity.traits[ordinal].attributeType
    let value = table.groups[row.group].value(row: row.row, ordinal: ordinal, type: type, scopes: names.scopes)
    return names.value(value)
  }
}

// MARK: ChildSaveNames

/// The present ids of the records of a child's save: their store may have been converted to one with other references
/// since.
struct ChildSaveNames {
  /// The store to which the child has saved, or its successor.
  let store: PersistentStore
  /// The scopes of the ids in the save, indexed by entity ordinal.
  let scopes: [ObjectIDScope]
  private let renamed: RenamedRecords?

  init(_ staged: StagedStore, _ unsavedNames: UnsavedNames) {
    store = staged.store.newest
    scopes = staged.scopes
    renamed = staged.store.newestSuccessor.flatMap { RenamedRecords(staged.store, $0, unsavedNames) }
  }
}

extension ChildSaveNames {
  /// Whether the records have other ids now.
  var areOld: Bool { renamed != nil }

  func id(_ reference: ReferenceID, of entity: EntityDescription) -> ManagedObjectID {
    newID(ManagedObjectID(scope: scopes[entity.ordinal], reference: reference))
  }

  func value(_ value: PropertyValue) -> PropertyValue { areOld ? value.map(newID) : value }

  private func newID(_ id: ManagedObjectID) -> ManagedObjectID { renamed?.newID(id) ?? id }
}

// MARK: ChildSaveSignal

/// Notifies a parent that a child has saved.
final class ChildSaveSignal: Sendable {
  private let childSaves = ChangeCounter()
  private let wake = Mutex<(@Sendable () -> Void)?>(nil)

  /// The number of saves.
  var count: UInt64 { childSaves.current }

  /// Sets a function that is called after each save, in the isolation of the child.
  func setWake(_ body: (@Sendable () -> Void)?) {
    wake.withLock { $0 = body }
  }

  func send() {
    childSaves.advance()
    wake.withLock { $0 }?()
  }
}
