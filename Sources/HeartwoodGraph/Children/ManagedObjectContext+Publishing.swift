import HeartwoodModel
import HeartwoodStore
import Synchronization

extension ManagedObjectContext {
  /// Lets children see all changes that have not been saved.
  ///
  /// Children of the same isolation see the newest without it, those of a ``BackgroundContext`` after each of its `perform`s, and those
  /// of a ``ViewContext`` when it fetches. A save lets them see it too.
  /// New objects get permanent ids, since children must be able to name them; see ``obtainPermanentIDs(for:)``. New objects that no
  /// open store can keep are left out, and so are values that no store can keep, as they are out of range: children see what was saved last. Nothing is checked and nothing is written. O(objects with changes), where there is
  /// something new to see.
  public func publishChanges() {
    // Objects that are validated keep their names. What is being saved is published when it is known to be saved.
    guard let stagingArea = children.stagingArea, !notes.isValidating, saveProgress.underWay == nil else { return }
    followStores()
    takeWaitingChildSaves()
    if children.haveSeen(notes.changeNumber) { return }
    children.beginPublishing()
    obtainIDsForChildren()
    let records = pendingRecords()
    stagingArea.forgetClosedStores()
    for store in persistentStoreCoordinator.persistentStores {
      stagingArea.source(for: store).publish(records[ObjectIdentifier(store)] ?? [:], over: sources.source(for: store))
    }
    children.endPublishing(at: notes.changeNumber)
  }

  /// Throws why the context cannot see all that its parent has changed.
  func checkParentIsPublished() throws(PersistenceError) {
    if let error = parent?.children.publishingFailure { throw error }
  }

  /// Lets children see what a fetch finds, where they do not look themselves.
  func publishForFetch() {
    if children.needFetchesPublished, mayBeDisturbed { publishChanges() }
  }

  /// If stores give no names for new objects, this is noted, and children of the same isolation throw it when they fetch.
  private func obtainIDsForChildren() {
    // try?: without an open store to keep it, an object is not shown, as documented, and the save throws.
    let objects = pending.inserted.objects.filter { $0.objectID.isTemporaryID && (try? storeForNewObject($0)) != nil }
    do throws(PersistenceError) {
      try obtainPermanentIDs(for: objects)
    } catch {
      children.notePublishingFailure(error)
      noteReadFailure(error)
    }
  }

  /// What a save would do, by store and entity ordinal.
  private func pendingRecords() -> [ObjectIdentifier: [Int: PendingRecords]] {
    var result: [ObjectIdentifier: [Int: PendingRecords]] = [:]
    func change(_ object: ManagedObject, _ store: PersistentStore?, _ body: (inout PendingRecords) -> Void) {
      guard let store else { return }
      body(&result[ObjectIdentifier(store), default: [:]][object.entity.ordinal, default: PendingRecords()])
    }
    for object in pending.inserted.objects where !object.objectID.isTemporaryID {
      // try?: its store was removed, and the save throws.
      change(object, try? storeForNewObject(object)) { records in
        records.inserted.append(.init(reference: object.objectID.reference, values: valuesForChildren(object)))
      }
    }
    for object in pending.updated.objects {
      guard let update = pendingUpdate(object) else { continue }
      change(object, object.binding.store) { $0.updated.append(update) }
    }
    for object in pending.deleted.objects {
      change(object, object.binding.store) { $0.deleted.append(object.objectID.reference) }
    }
    return result
  }

  private func pendingUpdate(_ object: ManagedObject) -> PendingRecords.Update? {
    guard case .changed(let changes) = object.content else { return nil }
    let ordinals = changes.unsettledOrdinals.filter { ordinal in
      let trait = object.binding.traits[ordinal]
      return !trait.isTransient && object.value(at: ordinal).canBeKept(as: trait)
    }
    guard !ordinals.isEmpty else { return nil }
    let values = valuesForChildren(object)
    return .init(reference: object.objectID.reference, values: ordinals.map { (ordinal: $0, value: values[$0]) })
  }

  /// What children can see of a property, or could if all were published.
  func valueForChildren(_ object: ManagedObject, _ ordinal: Int) -> PropertyValue {
    guard object.isInserted || object.isUnsettled(ordinal) else { return object.committedValue(at: ordinal) }
    let value = valueToSave(object, ordinal)
    return value.canBeKept(as: object.binding.traits[ordinal]) ? value : object.committedValue(at: ordinal)
  }

  /// Relationships to new objects that no store keeps are left out, and so are values that none can keep.
  private func valuesForChildren(_ object: ManagedObject) -> [PropertyValue] {
    zip(valuesToSave(object), object.binding.traits).map { value, trait in
      switch value {
      case _ where !value.canBeKept(as: trait): trait.emptyValue
      case .toOne(let id) where id.isTemporaryID: .null
      case .toMany(let ids): .toMany(ids.filter { !$0.isTemporaryID })
      default: value
      }
    }
  }
}

// MARK: StagingArea

/// What the children of a context read from and save to. It is shared with them whatever their isolation.
final class StagingArea: Sendable {
  let persistentStoreCoordinator: PersistentStoreCoordinator
  /// What the context itself reads from; nil where that is the stores.
  private let upstream: StagingArea?
  private let stores = Mutex<[StagedStore]>([])
  private let distantChildren = Atomic<Bool>(false)
  /// Tells the context that a child has saved.
  let childSaves = ChildSaveSignal()
  /// What is saved to the context, and by it.
  let saveBroadcast = ChangeBroadcast()

  init(_ persistentStoreCoordinator: PersistentStoreCoordinator, upstream: StagingArea?) {
    self.persistentStoreCoordinator = persistentStoreCoordinator
    self.upstream = upstream
  }
}

extension StagingArea {
  /// Whether there has been a child of another isolation, which cannot let the context publish.
  var hasDistantChildren: Bool { distantChildren.load(ordering: .acquiring) }

  func noteDistantChild() { distantChildren.store(true, ordering: .releasing) }

  /// What stands for `store`.
  func source(for store: PersistentStore) -> StagedStore {
    stores.withLock { stores in
      if let staged = stores.first(where: { $0.store === store }) { return staged }
      let base: any RecordSource = upstream?.source(for: store) ?? store
      let model = persistentStoreCoordinator.managedObjectModel
      let staged = StagedStore(base: base, model: model, childSaves: childSaves)
      stores.append(staged)
      return staged
    }
  }

  /// What stands for the stores that children have asked for.
  var stagedStores: [StagedStore] { stores.withLock { $0 } }

  /// Forgets stores that are open no longer.
  func forgetClosedStores() {
    let open = Set(persistentStoreCoordinator.persistentStores.map { ObjectIdentifier($0) })
    stores.withLock { stores in stores.removeAll { !open.contains(ObjectIdentifier($0.store)) } }
  }
}

// MARK: PendingRecords

/// What a context would do to the records of one entity, had it been saved.
struct PendingRecords: Sendable {
  /// New values of a record, by property ordinal.
  struct Update: Sendable {
    let reference: ReferenceID
    let values: [(ordinal: Int, value: PropertyValue)]
  }

  /// The new records, with values for all properties.
  var inserted: [NodeTable.NewRow] = []
  var updated: [Update] = []
  var deleted: [ReferenceID] = []
}

extension PendingRecords {
  /// The records that are new, change or go.
  var references: [ReferenceID] { inserted.map(\.reference) + updated.map(\.reference) + deleted }

  /// The records that change values of properties of `ordinals`, or go.
  func references(changingAt ordinals: Set<Int>) -> [ReferenceID] {
    deleted + updated.filter { $0.values.contains { ordinals.contains($0.ordinal) } }.map(\.reference)
  }

  /// Makes the changes in `table`, as far as that does not have them yet: the store may have been saved a moment ago, by the same
  /// context or by another. The records that change get a version that no others have.
  func apply(to table: inout NodeTable, version: UInt64) throws(PersistenceError) {
    var updates: [NodeTable.RowUpdate] = []
    var insertions: [NodeTable.NewRow] = []
    for new in inserted {
      if let row = try table.row(of: new.reference) {
        updates.append(.init(row: row, values: persistentValues(new.values, of: table.entity)))
      } else {
        insertions.append(new)
      }
    }
    for update in updated {
      if let row = try table.row(of: update.reference) { updates.append(.init(row: row, values: update.values)) }
    }
    var deletions: [RowID] = []
    for reference in deleted {
      if let row = try table.row(of: reference) { deletions.append(row) }
    }
    table.update(updates)
    table.delete(deletions)
    let rows = updates.map(\.row) + Array(table.insertUnsaved(insertions))
    table.setVersion(version, of: rows)
  }

  private func persistentValues(
    _ values: [PropertyValue],
    of entity: EntityDescription
  ) -> [(ordinal: Int, value: PropertyValue)] {
    values.enumerated().compactMap { ordinal, value in
      entity.traits[ordinal].isTransient ? nil : (ordinal, value)
    }
  }
}

/// The versions of records that no store has: no two changes in a process get the same, and no store reaches them.
///
/// Records with the same version have the same values, so a version tells whether a record is as it was read. The reverse does not
/// hold: a record gets another version when it is put together anew.
enum StagedVersion {
  private static let last = Atomic<UInt64>(1 << 63)

  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
