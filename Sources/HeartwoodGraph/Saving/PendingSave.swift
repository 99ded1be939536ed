import HeartwoodModel
import HeartwoodStore

/// The changes of one save in one store.
struct PendingSave {
  let store: PersistentStore
  let source: any RecordSource
  /// The new objects of each entity.
  var inserted: [PendingInsertion] = []
  /// Changed objects; those of one entity are consecutive, in the order of their rows.
  var updated: [ManagedObject] = []
  var deleted: [ManagedObject] = []
  /// The permanent ids of the new objects.
  var permanentIDs: PermanentIDs?
  /// The changes in the form that a store takes.
  var changes = ChangeSet()

  init(store: PersistentStore, source: any RecordSource) {
    self.store = store
    self.source = source
  }

  /// How many objects are new, changed and deleted.
  struct Counts: Sendable {
    let inserted: Int
    let updated: Int
    let deleted: Int
  }

  var insertedCount: Int { inserted.reduce(0) { $0 + $1.objects.count } }
  var counts: Counts { Counts(inserted: insertedCount, updated: updated.count, deleted: deleted.count) }

  /// The permanent ids of the new objects, by their temporary ones.
  var successors: [ManagedObjectID: ManagedObjectID] {
    var successors: [ManagedObjectID: ManagedObjectID] = [:]
    for id in inserted.lazy.flatMap(\.objects).map(\.objectID) where id.isTemporaryID {
      successors[id] = permanentIDs?[id]
    }
    return successors
  }
}

extension PersistentStoreCoordinator {
  /// Writes the changes of one store, or passes them to a parent, while no save runs exclusively.
  func write(
    _ changes: ChangeSet,
    of counts: PendingSave.Counts,
    to source: any RecordSource,
    origin: SaveOrigin
  ) throws -> StoreCommit {
    try logging(.saved, storeType: source.store.type) { log in
      let commit = try saveTurns.together { try source.save(changes, origin: origin) }
      log?.tell(counts, source)
      return commit
    }
  }
}

/// New objects of one entity that are saved together.
struct PendingInsertion {
  let entity: EntityDescription
  var objects: ContiguousArray<ManagedObject> = []
  /// The references of their records, in the same order.
  var references: ReferenceColumn?

  init(entity: EntityDescription) {
    self.entity = entity
  }
}

// MARK: ObjectColumns

/// Writes the values of objects to columns.
struct ObjectColumns {
  let permanentIDs: PermanentIDs
  /// The first failure; then the columns are invalid.
  private(set) var failure: PersistenceError?
  /// The number of links that were left out so far since their destinations are new objects that are gone.
  private(set) var lostLinkCount = 0

  init(_ permanentIDs: PermanentIDs) {
    self.permanentIDs = permanentIDs
  }

  /// Appends the value of a property of `entity`.
  @inline(__always)
  mutating func append(_ value: PropertyValue, at ordinal: Int, of entity: EntityDescription, to column: ColumnBuilder)
  {
    switch value {
    case .toOne(let id): append(id, at: ordinal, of: entity, to: column)
    case .toMany(let ids): append(ids, at: ordinal, of: entity, to: column)
    default: column.append(value)
    }
  }

  private mutating func append(
    _ id: ManagedObjectID,
    at ordinal: Int,
    of entity: EntityDescription,
    to column: ColumnBuilder
  ) {
    if let reference = reference(id, ordinal, entity) {
      column.append(toOne: reference, entityOrdinal: id.entity.ordinal)
    } else {
      column.appendNull()
    }
  }

  private mutating func append(
    _ ids: [ManagedObjectID],
    at ordinal: Int,
    of entity: EntityDescription,
    to column: ColumnBuilder
  ) {
    var objects: [(reference: ReferenceID, entityOrdinal: Int)] = []
    objects.reserveCapacity(ids.count)
    for id in ids {
      if let reference = reference(id, ordinal, entity) { objects.append((reference, id.entity.ordinal)) }
    }
    column.append(toMany: objects)
  }

  private mutating func reference(_ id: ManagedObjectID, _ ordinal: Int, _ entity: EntityDescription) -> ReferenceID? {
    do throws(PersistenceError) {
      let reference = try permanentIDs.reference(id) {
        .init(entity: entity.name, property: entity.properties[ordinal].name, objectIDs: [id])
      }
      if reference == nil { lostLinkCount += 1 }
      return reference
    } catch {
      failure = failure ?? error
      return nil
    }
  }
}

// MARK: WrittenChanges

/// The changes of objects at the time a save was written, to distinguish them from those that are made before the
/// context learns of its end.
struct WrittenChanges {
  /// The properties with new values of each object.
  private let ordinals: [ObjectIdentifier: [Int]]
  /// Whether anything has changed since.
  private let isDisturbed: Bool

  init(_ saves: [PendingSave]) {
    var ordinals: [ObjectIdentifier: [Int]] = [:]
    for object in saves.lazy.flatMap(\.updated) { ordinals[ObjectIdentifier(object)] = object.persistentChanges }
    self.init(ordinals, isDisturbed: false)
  }

  private init(_ ordinals: [ObjectIdentifier: [Int]], isDisturbed: Bool) {
    self.ordinals = ordinals
    self.isDisturbed = isDisturbed
  }

  /// Returns the same changes, with the information whether anything has changed since.
  func disturbed(_ isDisturbed: Bool) -> WrittenChanges { WrittenChanges(ordinals, isDisturbed: isDisturbed) }

  /// Returns whether values of an object with a record in a store were written.
  func hasValues(of object: ManagedObject) -> Bool { ordinals[ObjectIdentifier(object)]?.isEmpty == false }

  /// Makes an object read from `group`, which contains the written changes. Values that differ from it now have changed
  /// since, and stay changes.
  func endSave(of object: ManagedObject, in group: RowGroup?) {
    guard isDisturbed, let group else { return object.endSave(in: group, nil) }
    object.endSave(in: group, keepingChangesOf: ordinals[ObjectIdentifier(object)] ?? object.persistentOrdinals)
  }

  /// Marks a new object that was deleted while it was written as one whose record the next save deletes.
  ///
  /// - Precondition: It has the row of its record.
  func restoreDeletion(of object: ManagedObject, in context: ManagedObjectContext) {
    guard object.state.contains(.detached) else { return }
    context.pending.delete(object)
  }
}

extension ManagedObject {
  /// The properties that stores keep.
  fileprivate final var persistentOrdinals: [Int] {
    binding.traits.indices.filter { !binding.traits[$0].isTransient }
  }

  /// The properties that have new values for the next save.
  fileprivate final var persistentChanges: [Int] {
    guard case .changed(let changes) = content else { return [] }
    return changes.unsettledOrdinals.filter { !binding.traits[$0].isTransient }
  }

  /// - Parameter written: the properties whose values in `group` differ from those that the object was read with.
  fileprivate final func endSave(in group: RowGroup, keepingChangesOf written: [Int]) {
    if isFault { return }
    let values = Set(written + persistentChanges).sorted().map { ($0, value(at: $0)) }
    if case .changed = content { endSave(in: group, nil) } else { content = .read(group) }
    let rest = values.filter { !binding.traits[$0.0].areSame($0.1, committedValue(at: $0.0)) }
    if rest.isEmpty { return }
    let changes = if case .changed(let changes) = content { changes } else { makeChanges(group: group) }
    content = .changed(changes)
    for (ordinal, value) in rest {
      if binding.traits[ordinal].isToMany {
        changes.setLinks(ObjectIDList(value.objectIDs), at: ordinal)
      } else {
        changes.setValue(value, at: ordinal)
      }
    }
    if !state.contains(.deleted) { managedObjectContext?.note(self, hasChanges: true) }
  }
}
