import HeartwoodModel
import HeartwoodStore
import Synchronization

extension ManagedObjectContext {
  /// Makes all unsaved changes visible to children.
  ///
  /// Children of the same isolation see the newest changes without it, those of a ``BackgroundContext`` after each of
  /// its `perform`s, and those of a ``ViewContext`` when it fetches. A save publishes changes too.
  ///
  /// New objects get permanent ids, since children must be able to refer to them; see ``obtainPermanentIDs(for:)``. New
  /// objects that no open store can keep are left out, and so are values out of range that no store can keep: children
  /// see the last saved ones. Nothing is validated and nothing is written. O(objects with changes), if there are new
  /// changes.
  public func publishChanges() {
    // Objects keep their ids during their validation. Changes that are being saved are published when the save is known
    // to have succeeded.
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

  /// Throws the reason why the context cannot see all changes of its parent.
  func checkParentIsPublished() throws(PersistenceError) {
    if let error = parent?.children.publishingFailure { throw error }
  }

  /// Publishes the results of a fetch to children that cannot look themselves.
  func publishForFetch() {
    if children.needFetchesPublished, mayBeDisturbed { publishChanges() }
  }

  /// Obtains ids for new objects. If stores cannot provide them, this is noted, and children of the same isolation
  /// throw it when they fetch.
  private func obtainIDsForChildren() {
    // try?: without an open store to keep it, an object is not visible, as documented, and the save throws.
    let objects = pending.inserted.objects.filter { $0.objectID.isTemporaryID && (try? storeForNewObject($0)) != nil }
    do throws(PersistenceError) {
      try obtainPermanentIDs(for: objects)
    } catch {
      children.notePublishingFailure(error)
      noteReadFailure(error)
    }
  }

  /// Returns the changes that a save would make, by store and entity ordinal.
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

  /// Returns the value of a property that children can see, or could if all changes were published.
  func valueForChildren(_ object: ManagedObject, _ ordinal: Int) -> PropertyValue {
    guard object.isInserted || object.isUnsettled(ordinal) else { return object.committedValue(at: ordinal) }
    let value = valueToSave(object, ordinal)
    return value.canBeKept(as: object.binding.traits[ordinal]) ? value : object.committedValue(at: ordinal)
  }

  /// Returns values without references to new objects that no store keeps, and without values that no store can keep.
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

/// The records that the children of a context read and save. It is shared with them whatever their isolation.
final class StagingArea: Sendable {
  let persistentStoreCoordinator: PersistentStoreCoordinator
  /// The area from which the context itself reads; nil if it reads from the stores.
  private let upstream: StagingArea?
  private let stores = Mutex<[StagedStore]>([])
  private let distantChildren = Atomic<Bool>(false)
  /// Notifies the context that a child has saved.
  let childSaves = ChildSaveSignal()
  /// Reports the saves to the context, and by it.
  let saveBroadcast = ChangeBroadcast()

  init(_ persistentStoreCoordinator: PersistentStoreCoordinator, upstream: StagingArea?) {
    self.persistentStoreCoordinator = persistentStoreCoordinator
    self.upstream = upstream
  }
}

extension StagingArea {
  /// Whether there has been a child of another isolation, which cannot make the context publish.
  var hasDistantChildren: Bool { distantChildren.load(ordering: .acquiring) }

  func noteDistantChild() { distantChildren.store(true, ordering: .releasing) }

  /// Returns the source that represents `store`.
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

  /// The sources that represent the stores that children have asked for.
  var stagedStores: [StagedStore] { stores.withLock { $0 } }

  /// Removes stores that are no longer open.
  func forgetClosedStores() {
    let open = Set(persistentStoreCoordinator.persistentStores.map { ObjectIdentifier($0) })
    stores.withLock { stores in stores.removeAll { !open.contains(ObjectIdentifier($0.store)) } }
  }
}

// MARK: PendingRecords

/// The changes of the records of one entity that a save of a context would make.
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
  /// The records that are inserted, changed or deleted.
  var references: [ReferenceID] { inserted.map(\.reference) + updated.map(\.reference) + deleted }

  /// Returns the records with changed properties of `ordinals`, and the deleted ones.
  func references(changingAt ordinals: Set<Int>) -> [ReferenceID] {
    deleted + updated.filter { $0.values.contains { ordinals.contains($0.ordinal) } }.map(\.reference)
  }

  /// Applies the changes to `table`, as far as it does not contain them yet: the store may have been saved a moment
  /// ago, by the same context or by another. Changed records get a version that no others have.
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

/// The versions of unsaved records: each change in a process gets another one, and no store reaches them.
///
/// Records with the same version have the same values, so a version determines whether a record is unchanged since it
/// was read. The reverse does not hold: a record gets another version when it is assembled again.
enum StagedVersion {
  private static let last = Atomic<UInt64>(1 << 63)

  static func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}
